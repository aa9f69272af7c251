"""From the panel's runs to everything that is recorded of a task's measure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sandmill.calibrate.board import gap_steps, leaderboard, median_tiers
from sandmill.calibrate.measure import (
    RESAMPLES,
    difficulty,
    draw_counts,
    over_draws,
    remembering,
    require_trivial_loses,
    signal_check,
)
from sandmill.calibrate.milestones import MilestoneRule, least_step, milestone_thresholds
from sandmill.calibrate.panel import TRIVIAL, PanelRun
from sandmill.calibrate.rungs import GradedTest
from sandmill.calibrate.steadiness import require_order, resample_milestones, steadiness
from sandmill.errors import ItemRejected
from sandmill.models.base import Part, Stage
from sandmill.models.calibration import BoardEntry, Calibration, Milestones, Sizing, Tier
from sandmill.scoring import Metric
from sandmill.scoring.base import SCORE_DECIMALS, Array

LEAST_ENTRIES = 20
LEAST_COMPETENT = 5


@dataclass(frozen=True, repr=False)
class _PartOf:
    """What the runs say of one part."""

    truth: Array
    oracle: Array
    said: Mapping[str, Array]
    """Predictions by run."""
    metric: Metric

    def rounded(self, prediction: Array) -> float:
        """Score as it is published, by the fast way: the same to 9 decimals as the library's, which grades."""
        return round(self.metric.score(self.truth, prediction), SCORE_DECIMALS)

    def ends(self) -> tuple[float, float]:
        """Scores of the trivial solver and of the oracle."""
        return self.rounded(self.said[TRIVIAL]), self.rounded(self.oracle)


def calibrate(
    runs: Sequence[PanelRun],
    test: GradedTest,
    oracle: Array,
    sizing: Sizing,
    rng: np.random.Generator,
    deciding: Milestones,
    beside: Sequence[PanelRun] = (),
) -> Calibration:
    """Rank the runs on a task and measure it.

    Args:
        runs: of the leaderboard; failed ones stay off it.
        test: what they are judged on.
        oracle: prediction of Bayes' rule with the metric's best decision.
        sizing: how the final part got its size; recorded.
        rng: for the bootstraps.
        deciding: runs that decide milestones, with what several draws say of them on the pilot.
        beside: deciding runs that are not on the leaderboard.

    Raises:
        ItemRejected: `panel_failed` if too few solvers ran, `no_signal`, `flat_board`, `near_ties`, `trivial_medal`
            or `unsteady_order`.
    """
    ran, metric = require_enough(runs), remembering(test.metric)
    said = {run.name: run.prediction for run in (*ran, *(run for run in beside if run.has_run))}
    final, feedback = (
        _PartOf(test.truth[part], oracle[part], {name: answer[part] for name, answer in said.items()}, metric)
        for part in (test.is_final, test.is_feedback)
    )
    counts = draw_counts(len(final.truth), rng, RESAMPLES)
    signal_check(final.truth, final.said[TRIVIAL], final.oracle, metric, counts)
    scores = [{name: part.rounded(answer) for name, answer in part.said.items()} for part in (final, feedback)]
    board = leaderboard(
        [
            BoardEntry(solver=run.name, tier=run.tier, final=scores[0][run.name], feedback=scores[1][run.name])
            for run in ran
        ],
        metric.is_lower_better,
    )
    entries = tuple(
        one.model_copy(update={"final": scores[0][one.solver], "feedback": scores[1][one.solver]})
        for one in deciding.entries
        if one.solver in said
    )
    measured = {"step": least_step(entries), "feedback_oracle": feedback.ends()[1], "entries": entries}
    found = deciding.model_copy(update=measured)
    bars, on_feedback = (
        milestone_thresholds(found, board, part, *of.ends())
        for part, of in ((Part.FINAL, final), (Part.FEEDBACK, feedback))
    )
    trivial, best = final.ends()
    steps = gap_steps(bars, trivial, best)
    require_trivial_loses(trivial, bars, best)
    middle = [entry.solver for entry in board if entry.tier in median_tiers(found)]
    ends, rule = (final.said[TRIVIAL], final.oracle), MilestoneRule.of(found)
    steady = steadiness(resample_milestones(final.truth, final.said, ends, middle, rule, metric, counts), metric)
    require_order(steady, sizing)
    usual = [final.said[run.name] for run in ran if run.tier is Tier.COMPETENT]
    hardness = difficulty(final.truth, usual, final.said[TRIVIAL], final.oracle, metric, counts)
    return Calibration(
        is_lower_better=metric.is_lower_better,
        trivial=trivial,
        oracle=best,
        oracle_is_exact=metric.decision == "exact",
        board=board,
        rule="milestones",
        milestones=found,
        thresholds=bars,
        feedback_thresholds=on_feedback,
        steps=steps,
        steadiness=steady,
        sizing=sizing,
        difficulty=over_draws(hardness, entries),
    )


def require_enough(runs: Sequence[PanelRun]) -> list[PanelRun]:
    """Reject a task on which too many solvers failed: distances between the rest would say little.

    Returns:
        The runs that did not fail.

    Raises:
        ItemRejected: `panel_failed`.
    """
    ran = [run for run in runs if run.has_run]
    competent = sum(run.tier is Tier.COMPETENT for run in ran)
    if any(run.name == TRIVIAL for run in ran) and len(ran) >= LEAST_ENTRIES and competent >= LEAST_COMPETENT:
        return ran
    failures = "; ".join(f"{run.name}: {run.failure}" for run in runs if run.failure)
    detail = f"{len(ran)} of {len(runs)} solvers gave a prediction ({competent} competent); {failures or 'too few ran'}"
    raise ItemRejected(Stage.CALIBRATE, "panel_failed", detail)
