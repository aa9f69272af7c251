from sandmill.models.base import Band
from sandmill.models.reports import SlotReport
from sandmill.report.work import MixCounts, mix_table


def make_report(slot: int, reached: Band | None = Band.HARD) -> SlotReport:
    task_ids = (f"task{slot}",) if reached else ()
    return SlotReport(slot=slot, round=0, wanted=Band.HARD, reached=reached, task_ids=task_ids, attempts=2, seconds={})


def rows_of(table):
    return [dict(zip(table.header, row, strict=True)) for row in table.rows]


def test_the_mix_shows_what_was_asked_what_was_reached_and_what_stayed_empty():
    mix = MixCounts()
    for report in (make_report(0), make_report(1, Band.MEDIUM), make_report(2, None)):
        mix.add(report)
    medium, hard = rows_of(mix_table(mix))
    assert list(medium.values()) == ["medium", "0", "1", "0", "0", "0"]
    assert list(hard.values()) == ["hard", "3", "1", "1", "1", "1"]


def explain_missed_mix(*ends):
    counts = MixCounts()
    for slot, wanted, reached in ends:
        counts.add(SlotReport(slot=slot, round=0, wanted=wanted, reached=reached, attempts=1))
    return counts.explain()


def test_a_mix_that_was_met_takes_no_line():
    assert explain_missed_mix((0, "easy", "hard"), (1, "hard", "easy")) == []


def test_a_missed_band_says_what_became_of_its_slots():
    slots = [(0, "hard", "hard"), (1, "hard", "medium"), (2, "hard", "medium"), (3, "hard", None), (4, "easy", "easy")]
    assert explain_missed_mix(*slots) == [
        "Asked for 4 hard tasks, got 1: of these slots 2 hold tasks of another band, since no design came nearer, and "
        "1 stayed empty."
    ]


def test_a_slot_that_another_round_filled_counts_once_in_any_order():
    slots = [(0, "hard", None), (0, "hard", "hard")]
    assert explain_missed_mix(*slots) == explain_missed_mix(*reversed(slots)) == []
