"""A small rendered task with a short board of cheap solvers, for which all truths hold."""

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from sandmill.calibrate.board import gap_steps, leaderboard, thresholds
from sandmill.calibrate.measure import difficulty, draw_counts, with_scripts
from sandmill.calibrate.panel import TRIVIAL, Panel, run_panel
from sandmill.calibrate.rungs import GradedTest, ScoredScript
from sandmill.calibrate.scripts.choose import write_ladder
from sandmill.calibrate.stage import Calibrated
from sandmill.draw import Rendered, render
from sandmill.models.base import Band
from sandmill.models.calibration import BoardEntry, Calibration, Tier
from sandmill.models.plan import Attempt, Slot
from sandmill.models.release import TaskRecord, VerifiedTask
from sandmill.models.spec import Sizes
from sandmill.scoring import get_metric
from sandmill.verify.records import make_task
from sandmill.verify.verify import trusting_backend, verify_task
from tests.designs import SECRET, TASKS, make_seed, make_spec
from tests.factories import STEADY, make_shard_plan

CHEAP = (
    TRIVIAL,
    *("stump", "small_tree", "coarse_tree", "half_of_columns", "one_column", "few_rows"),
    *("numbers_only", "nearest_by_numbers"),
    *("linear", "neighbours", "bayes"),
)
SIZES = Sizes(train=150, feedback=1500, final=900)


@cache
def rendered() -> Rendered:
    """Files and oracle."""
    return render(make_spec(*TASKS[0], slot=7).model_copy(update={"sizes": SIZES}), SECRET)


@cache
def calibrated() -> Calibration:
    """A board of what the cheap solvers really score."""
    package, answers = rendered().package, rendered().answers
    metric, final = get_metric(package.facts.metric), answers.is_final
    with TemporaryDirectory() as folder:
        for name, content in package.public.items():
            (Path(folder) / name).write_bytes(content)
        runs = {run.name: run for run in run_panel(Path(folder), package.facts, CHEAP)}
    truth = answers.truth[final]
    board = leaderboard(
        [
            BoardEntry(
                solver=run.name,
                tier=run.tier,
                final=metric.rounded(truth, run.prediction[final]),
                feedback=metric.rounded(answers.truth[~final], run.prediction[~final]),
            )
            for run in runs.values()
        ],
        metric.is_lower_better,
    )
    bars = thresholds([entry.final for entry in board], metric.is_lower_better)
    oracle, trivial = rendered().oracle[final], runs[TRIVIAL].prediction[final]
    ends = metric.rounded(truth, trivial), metric.rounded(truth, oracle)
    competent = [run.prediction[final] for run in runs.values() if run.tier is Tier.COMPETENT]
    feedback = thresholds([entry.feedback for entry in board], metric.is_lower_better)
    measured = Calibration(
        is_lower_better=metric.is_lower_better,
        trivial=ends[0],
        oracle=ends[1],
        oracle_is_exact=metric.decision == "exact",
        board=board,
        thresholds=bars,
        **(STEADY | {"feedback_thresholds": feedback, "steps": gap_steps(bars, *ends)}),
        difficulty=difficulty(
            truth, competent, trivial, oracle, metric, draw_counts(len(truth), np.random.default_rng(0))
        ),
    )
    return with_scripts(measured, [script.score for script in scripts()])


@cache
def scripts() -> tuple[ScoredScript, ...]:
    """Scripts that solve the task."""
    package, answers = rendered().package, rendered().answers
    with TemporaryDirectory() as folder:
        for name, content in package.public.items():
            (Path(folder) / name).write_bytes(content)
        test = GradedTest(answers.truth, answers.is_final, get_metric(package.facts.metric))
        return write_ladder(Panel(Path(folder), package.facts).table, Path(folder), test)


@cache
def proved() -> VerifiedTask:
    """The task as it would be published."""
    package, calibration = rendered().package, calibrated()
    sources = {script.score.file: script.source for script in scripts()}
    verification, _ = verify_task(package, calibration, sources, package, trusting_backend())
    attempt = Attempt(Slot(number=0, seed=make_seed(*TASKS[0]), band=Band.MEDIUM), 0, 1, 0, 0.4)
    plan = make_shard_plan("micro", range(1))
    made = Calibrated(package, calibration, sources, 1.0)
    return make_task(made, attempt, verification, plan, "0.1.0", SECRET)


def recalibrated(**update: object) -> TaskRecord:
    """The record with other measures."""
    record = proved().record
    return record.model_copy(update={"calibration": record.calibration.model_copy(update=update)})


def rescored(calibration: Calibration, solver: str, **update: object) -> tuple[BoardEntry, ...]:
    """The board with another line for one solver."""
    return tuple(entry.model_copy(update=update) if entry.solver == solver else entry for entry in calibration.board)
