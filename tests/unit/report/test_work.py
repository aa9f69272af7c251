from sandmill.check.suites import failed_suites
from sandmill.models.base import Band
from sandmill.models.reports import AttemptReport, SlotReport
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


def test_failed_suites_are_grouped_and_hold_counts_alone():
    row = {"table": "tasks", "expectation": "e", "columns": ["a"], "line": 3, "rows": 9, "secret": "x"}
    failing = {**row, "success": False, "failing_rows": 2, "failing_tasks": 1}
    sound = {**row, "success": True, "failing_rows": 0, "failing_tasks": 0}
    found = failed_suites([failing, sound, {**failing, "line": 4}, {**sound, "table": "answers"}])
    assert list(found) == ["tasks"]
    assert [one["line"] for one in found["tasks"]] == [3, 4]
    assert "secret" not in found["tasks"][0]


def _slot(number, wanted, reached=None, difficulty=0.4, attempts=8, round=0):
    last = AttemptReport(attempt=attempts, variant=0, hardness=0.5, difficulty=difficulty, outcome="verified")
    path = (last,) if reached else ()
    return SlotReport(slot=number, round=round, wanted=wanted, reached=reached, attempts=attempts, path=path)


def explain_missed_mix(slots):
    counts = MixCounts()
    for slot in slots:
        counts.add(slot)
    return counts.explain()


def test_a_mix_that_was_met_takes_no_line():
    assert explain_missed_mix([_slot(0, "easy", "easy"), _slot(1, "hard", "hard")]) == []


def test_bands_that_two_slots_swapped_are_met():
    assert explain_missed_mix([_slot(0, "easy", "hard"), _slot(1, "hard", "easy")]) == []


def test_a_missed_band_says_what_became_of_its_slots_and_why():
    slots = [_slot(0, "hard", "hard"), _slot(1, "hard", "medium", 0.49), _slot(2, "hard", "medium", 0.42, attempts=6)]
    slots += [_slot(3, "hard"), _slot(4, "easy", "easy")]
    assert explain_missed_mix(slots) == [
        "Asked for 4 hard tasks, got 1. 2 slots hold medium tasks instead: after 14 attempts no design came nearer. "
        "Their difficulties are 0.42, 0.49 (hard begins at 0.5). 1 slot stayed empty."
    ]


def test_a_slot_that_a_later_round_filled_counts_once():
    slots = [_slot(0, "hard"), _slot(0, "hard", "hard", round=1)]
    assert explain_missed_mix(slots) == []
    assert explain_missed_mix(reversed(slots)) == []


def test_many_missed_slots_take_no_more_room_than_a_few():
    (line,) = explain_missed_mix(_slot(n, "expert", "hard", 0.5 + n / 1000) for n in range(200))
    assert "200 slots hold hard tasks instead" in line
    assert "0.50, 0.50, 0.50, 0.50, 0.50, ... (expert begins at 0.75)." in line


def test_one_missed_slot_is_told_in_the_singular_and_its_difficulty_lies_outside_of_the_band():
    assert explain_missed_mix([_slot(0, "easy", "medium", 0.2515, attempts=9)]) == [
        "Asked for 1 easy task, got 0. 1 slot holds a medium task instead: after 9 attempts no design came nearer. "
        "Its difficulty is 0.2515 (easy ends at 0.25)."
    ]
