"""What a report says in words, and its leaderboards."""

from sandmill.models.calibration import MilestoneEntry, Milestones, Rung, ScriptScore, Tier
from sandmill.report.digest import board_rows, headline
from tests.factories import CALIBRATION
from tests.report_records import RECORDS, make_counts


def test_the_headline_counts_kinds_and_the_seeds_that_tasks_were_made_from():
    said = " ".join(make_counts(RECORDS).headline())
    assert "4 tasks of 1 kind, made from 1 seed." in said
    assert "3 of 4 lie in the difficulty band that was asked for" in said
    assert "on 4 of 4 a reference solution" in said
    assert "Gold is reached on 100% of the tasks by the solver that wins most from the data alone." in said


def test_a_release_of_older_code_has_a_headline_without_seeds_and_shares():
    assert headline(1, 1, 2, {}) == ["1 task of 1 kind."]


def test_gold_of_readers_is_counted_where_gold_follows_from_readers():
    gold = CALIBRATION.thresholds.gold
    entry = MilestoneEntry(solver="r", tier=Tier.READER, final=gold, feedback=gold, shares=(0.5,))
    counts = make_counts([])
    for rule in ("readers", "margin"):
        found = Milestones(gold=rule, feedback_oracle=gold, entries=(entry,))
        counts.add(RECORDS[0].model_copy(update={"calibration": CALIBRATION.model_copy(update={"milestones": found})}))
    assert counts.rate("reader_gold") == (1, 1)


def test_a_leaderboard_holds_thresholds_and_scripts_in_the_order_of_their_scores():
    script = ScriptScore(
        rung=Rung.REFERENCE,
        file="solution.py",
        approach="a linear model",
        feedback=0.5,
        final=CALIBRATION.thresholds.gold,
    )
    rows = board_rows(CALIBRATION.model_copy(update={"scripts": (script,)}))
    names = [row[0] for row in rows]
    assert names.index("solution.py") < names.index("gold") < names.index("silver") < names.index("bronze")
    assert {entry.solver for entry in CALIBRATION.board} <= set(names)
    gaps = [row[-1] for row in rows]
    assert gaps == sorted(gaps, reverse=True)
    assert {row[1] for row in rows} >= {"threshold", "script: a linear model"}
