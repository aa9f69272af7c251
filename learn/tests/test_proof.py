"""The proof: units that resume, settings that spend equally, and tables of what was found."""

import pytest

from learn.tests.arms import scored_rows
from sandmill_learn.proof.arms import Counts, UnitResult, run_unit
from sandmill_learn.proof.report import ProofReport
from sandmill_learn.proof.settings import ProofSettings
from sandmill_learn.records import CurveRow


class Work:
    """A unit that counts how often it is done."""

    def __init__(self, arm="gap", fails=False):
        self.arm, self.fails, self.done = arm, fails, 0

    def __call__(self, folder):
        self.done += 1
        (folder / "training").mkdir(parents=True, exist_ok=True)
        if self.fails:
            raise RuntimeError("killed")
        curve = [CurveRow(stage="grpo", update=1, reward=0.5, greedy_gap=0.4, requested=8)]
        return scored_rows(self.arm, {"x": 0.5, "y": 0.6}), curve, Counts(requested=8, executed=5)


def test_a_complete_unit_is_read_and_not_done_again(tmp_path):
    work = Work()
    first = run_unit(tmp_path, "gap", 0, {"updates": 3}, work)
    assert run_unit(tmp_path, "gap", 0, {"updates": 3}, work) == first
    assert work.done == 1
    assert (first.counts.requested, len(first.rows), first.curve[0].greedy_gap) == (8, 2, 0.4)


def test_a_killed_unit_keeps_its_checkpoints_and_other_settings_do_not(tmp_path):
    with pytest.raises(RuntimeError):
        run_unit(tmp_path, "gap", 0, {"updates": 3}, Work(fails=True))
    checkpoint = tmp_path / "gap-seed0" / "training" / "checkpoint-1"
    checkpoint.mkdir()
    again = Work()
    run_unit(tmp_path, "gap", 0, {"updates": 3}, again)
    assert again.done == 1
    assert checkpoint.exists()
    run_unit(tmp_path, "gap", 0, {"updates": 4}, again)
    assert again.done == 2
    assert not checkpoint.exists()


def test_seeds_have_units_of_their_own(tmp_path):
    work = Work()
    for seed in range(2):
        run_unit(tmp_path, "gap", seed, {}, work)
    assert work.done == 2


@pytest.mark.parametrize(
    "changes", [{}, {"updates": 40, "group": 4}, {"updates": 64}, {"updates": 9, "batch_tasks": 8}, {"smoke": True}]
)
def test_rejection_spends_as_much_as_grpo_and_never_more(changes):
    settings = ProofSettings(**changes).effective
    for variant in settings.rejection_variants():
        spent = variant.rounds * variant.tasks * variant.samples
        assert 0.95 * settings.executions <= spent <= settings.executions
    assert settings.baseline_budget == settings.executions or changes == {"smoke": True}


def test_sft_is_always_an_arm():
    settings = ProofSettings(arms=("gap", "baselines"))
    assert settings.arms == ("sft", "gap", "baselines")
    assert settings.rewards == ("gap",)


def unit(arm, gap, seed=0):
    rows = scored_rows(arm, dict.fromkeys("abc", gap), seed=seed, source="development")
    rows += scored_rows(arm, {"x": gap, "y": gap + 0.1, "z": gap - 0.1}, seed=seed)
    curve = (CurveRow(stage="grpo", update=1, greedy_gap=gap, requested=100),)
    return UnitResult(arm=arm, seed=seed, seconds=3, counts=Counts(requested=100), rows=tuple(rows), curve=curve)


def test_the_report_has_a_row_for_each_arm_in_the_same_bytes_each_time(tmp_path):
    singles = unit("best-single", 0.6).model_copy(update={"arm": "baselines"})
    units = [unit("grpo-gap", 0.8), unit("grpo-gap", 0.7, seed=1), unit("rejection", 0.5), singles]
    report = ProofReport(units, {"best-single": 90})
    final = report.tables()[0]
    assert [row[0] for row in final.rows] == ["grpo-gap", "rejection", "best-single"]
    assert [row[-1] for row in final.rows] == ["100", "100", "90"]
    report.write(tmp_path)
    first = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert {"results.parquet", "table.md"} == set(first)
    report.write(tmp_path)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == first
