"""From the panel's runs to everything that is recorded of a task's measure."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sandmill.calibrate.board import gap_steps, leaderboard, thresholds
from sandmill.calibrate.measure import (
    difficulty,
    draw_counts,
    remembering,
    require_trivial_loses,
    signal_check,
)
from sandmill.calibrate.panel import TRIVIAL, PanelRun
from sandmill.calibrate.steadiness import require_order, resample_thresholds, steadiness
from sandmill.errors import ItemRejected
from sandmill.metrics import Metric
from sandmill.metrics.base import SCORE_DECIMALS, Array
from sandmill.models.base import Stage
from sandmill.models.calibration import BoardEntry, Calibration, Sizing, Tier

LEAST_ENTRIES = 25
FEEDBACK_RESAMPLES = 100
"""Fewer than on the final part: how steady feedback is gets recorded and decides nothing."""
LEAST_COMPETENT = 5


@dataclass(frozen=True)
class Graded:
    """What the panel is judged on: the rows of a test, in the order of test.csv."""

    truth: Array
    oracle: Array
    """Prediction of Bayes' rule with the metric's best decision."""
    is_final: NDArray[np.bool_]
    """Which rows are the final part; the rest is the feedback part."""
    items: NDArray[np.intp] | None = None
    """Item of each row; bootstraps draw items with all their rows. None: a row is an item."""

    def items_in(self, part: NDArray[np.bool_]) -> NDArray[np.intp] | None:
        """Items of the rows of a part."""
        return None if self.items is None else self.items[part]


def calibrate(
    runs: Sequence[PanelRun], rows: Graded, metric: Metric, sizing: Sizing, rng: np.random.Generator
) -> Calibration:
    """Rank the panel's runs on a task and measure it.

    Args:
        runs: from `Panel.run`; failed ones stay off the board.
        rows: which rows count.
        metric: the task's metric.
        sizing: how the final part got its size; recorded.
        rng: for the bootstraps.

    Raises:
        ItemRejected: `panel_failed` if too few solvers ran, `no_signal`, `flat_board`, `near_ties`, `trivial_medal`
            or `unsteady_order`.
    """
    ran, metric = require_enough(runs), remembering(metric)
    is_final, lower = rows.is_final, metric.is_lower_better
    final, feedback, oracle = rows.truth[is_final], rows.truth[~is_final], rows.oracle[is_final]
    on_test = {run.name: run.prediction for run in ran}
    on_final, on_feedback = ({name: answer[part] for name, answer in on_test.items()} for part in (is_final, ~is_final))
    counts = draw_counts(len(final), rng, items=rows.items_in(is_final))
    signal_check(final, on_final[TRIVIAL], oracle, metric, counts)
    entries = [
        BoardEntry(
            solver=run.name,
            tier=run.tier,
            final=_rounded(metric, final, on_final[run.name]),
            feedback=_rounded(metric, feedback, on_feedback[run.name]),
        )
        for run in ran
    ]
    board = leaderboard(entries, lower)
    bars = thresholds([entry.final for entry in board], lower)
    trivial, best = _rounded(metric, final, on_final[TRIVIAL]), _rounded(metric, final, oracle)
    steps = gap_steps(bars, trivial, best)
    require_trivial_loses(trivial, bars, best)
    ladder = resample_thresholds(final, list(on_final.values()), metric, counts)
    steady = steadiness(ladder, metric)
    require_order(steady, sizing)
    on_part = resample_thresholds(
        feedback,
        list(on_feedback.values()),
        metric,
        draw_counts(len(feedback), rng, FEEDBACK_RESAMPLES, rows.items_in(~is_final)),
    )
    competent = [on_final[run.name] for run in ran if run.tier is Tier.COMPETENT]
    return Calibration(
        is_lower_better=lower,
        trivial=trivial,
        oracle=best,
        oracle_is_exact=metric.decision == "exact",
        board=board,
        thresholds=bars,
        feedback_thresholds=thresholds([entry.feedback for entry in board], lower),
        steps=steps,
        steadiness=steady,
        feedback_steadiness=steadiness(on_part, metric),
        sizing=sizing,
        difficulty=difficulty(final, competent, on_final[TRIVIAL], oracle, metric, counts),
    )


def require_enough(runs: Sequence[PanelRun]) -> list[PanelRun]:
    """Refuse a board with so many failures that its ranks mean something else.

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


def _rounded(metric: Metric, truth: Array, prediction: Array) -> float:
    """Score as it is published, by the fast way: the same to 9 decimals as the library's, which grades."""
    return round(metric.own_score(truth, prediction), SCORE_DECIMALS)
