from sandmill.models.reports import SlotReport
from sandmill.report.work import MixCounts


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
