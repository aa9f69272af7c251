from sandmill.check.suites import failed_suites
from sandmill.models.base import Band, Stage
from sandmill.models.reports import AttemptReport, SlotReport
from sandmill.report.designers import DesignerRow
from sandmill.report.work import MixCounts, WorkCounts, costs_table, mix_table, yield_table


def make_report(slot: int, reached: Band | None = Band.HARD, *, round: int = 0, seconds: float = 1.0) -> SlotReport:
    return SlotReport(
        slot=slot,
        round=round,
        wanted=Band.HARD,
        reached=reached,
        task_ids=(f"task{slot}",) if reached else (),
        attempts=2,
        seconds={Stage.DESIGN: seconds / 4, Stage.CALIBRATE: 3 * seconds / 4},
    )


def count_work(*shards: list[SlotReport]) -> WorkCounts:
    work = WorkCounts({0: "table/binary/random", 1: "text/binary/random", 2: "table/binary/random"})
    for shard in shards:
        work.add(shard)
    return work


def rows_of(table):
    return [dict(zip(table.header, row, strict=True)) for row in table.rows]


def test_a_slot_that_needed_two_rounds_counts_once_with_all_its_work():
    work = count_work([make_report(0), make_report(1, None, seconds=8.0)], [make_report(1, round=1, seconds=2.0)])
    text, table = rows_of(yield_table(work, "grammar"))
    assert text["structure"] == "text/binary/random", "what cost most stands first"
    assert [text[name] for name in ("slots", "filled", "attempts", "yield", "seconds a task")] == (
        ["1", "1", "4", "25%", "10.0"]
    )
    assert (table["slots"], table["seconds"], table["designer"]) == ("1", "1.0", "grammar")


def test_costs_add_up_over_stages_and_over_verified_and_rejected_designs():
    row = DesignerRow(
        designer="llm",
        attempts=4,
        designs=2,
        yield_share=0.5,
        difficulty=0.5,
        difficulty_spread=0.1,
        domains=2,
        variety=0.5,
        requests=8,
        tokens=100,
        usd=0.5,
        usd_a_design=0.25,
    )
    found = {
        one["what"]: one for one in rows_of(costs_table(count_work([make_report(0, seconds=4.0)]), [row], 0.1, 0.7))
    }
    assert found["stage calibrate"]["seconds"] == "3.0"
    assert found["stage calibrate"]["share"] == "75%"
    assert found["all stages"]["seconds"] == "4.0"
    money = {what.removeprefix("language models, "): one["USD"] for what, one in found.items() if one["USD"] != "-"}
    assert money == {
        "verified designs": "0.4000",
        "rejected drafts": "0.1000",
        "a verified design": "0.2500",
        "paid by this build": "0.7000",
    }


def test_the_mix_shows_what_was_asked_what_was_reached_and_what_stayed_empty():
    mix = MixCounts()
    for report in (make_report(0), make_report(1, Band.MEDIUM), make_report(2, None)):
        mix.add(report)
    medium, hard = rows_of(mix_table(mix))
    assert list(medium.values()) == ["medium", "0", "1", "0", "0", "0"]
    assert list(hard.values()) == ["hard", "3", "1", "1", "1", "1"]


def test_a_build_without_any_slot_has_tables():
    work = count_work()
    assert rows_of(yield_table(work, "grammar")) == rows_of(mix_table(MixCounts())) == []
    assert rows_of(costs_table(work, [], 0.0, 0.0))[0]["what"] == "all stages"


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
