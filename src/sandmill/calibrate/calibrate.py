"""From the panel's runs to everything that is recorded of a task's measure."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sandmill.calibrate.board import leaderboard, thresholds
from sandmill.calibrate.measure import difficulty, draw_counts, order_held, signal_check
from sandmill.calibrate.panel import TRIVIAL, PanelRun
from sandmill.errors import ItemRejected
from sandmill.metrics import Metric
from sandmill.metrics.base import Array
from sandmill.models.base import Stage
from sandmill.models.calibration import BoardEntry, Calibration, Tier

LEAST_ENTRIES = 20
LEAST_COMPETENT = 5


def calibrate(
    runs: Sequence[PanelRun],
    truth: Array,
    is_final: NDArray[np.bool_],
    oracle: Array,
    metric: Metric,
    rng: np.random.Generator,
) -> Calibration:
    """Rank the panel's runs on a task and measure it.

    Args:
        runs: from `run_panel`; failed ones stay off the board.
        truth: answers in the order of test.csv, both parts.
        is_final: which of them are the final part; the rest is the feedback part.
        oracle: prediction of Bayes' rule with the metric's best decision, same rows.
        metric: the task's metric.
        rng: for the bootstraps.

    Raises:
        ItemRejected: `panel_failed` if too few solvers ran, `no_signal`, or `flat_board`.
    """
    ran = {run.name: run for run in runs if run.prediction is not None}
    _require_enough(runs, ran)
    entries = [_entry(run, truth, is_final, metric) for run in ran.values()]
    final = truth[is_final]
    predictions = {name: np.asarray(run.prediction)[is_final] for name, run in ran.items()}
    counts = draw_counts(len(final), rng)
    signal_check(final, predictions[TRIVIAL], oracle[is_final], metric, counts)
    board = leaderboard(entries, metric.is_lower_better)
    bars = thresholds(board, metric.is_lower_better)
    competent = [predictions[name] for name, run in ran.items() if run.tier is Tier.COMPETENT]
    sign = 1 if metric.is_lower_better else -1
    fair = (entry for entry in board if entry.tier is not Tier.TRIVIAL)
    return Calibration(
        is_lower_better=metric.is_lower_better,
        trivial=metric.rounded(final, predictions[TRIVIAL]),
        oracle=metric.rounded(final, oracle[is_final]),
        oracle_is_exact=metric.decision_is_exact,
        board=board,
        thresholds=bars,
        difficulty=difficulty(final, competent, predictions[TRIVIAL], oracle[is_final], metric, counts),
        reference=min(fair, key=lambda entry: (sign * entry.feedback, entry.solver)).solver,
        order_held=order_held(final, [predictions[entry.solver] for entry in board], metric, counts),
    )


def _entry(run: PanelRun, truth: Array, is_final: NDArray[np.bool_], metric: Metric) -> BoardEntry:
    """Score a run on both parts."""
    prediction = np.asarray(run.prediction)
    return BoardEntry(
        solver=run.name,
        tier=run.tier,
        final=metric.rounded(truth[is_final], prediction[is_final]),
        feedback=metric.rounded(truth[~is_final], prediction[~is_final]),
    )


def _require_enough(runs: Sequence[PanelRun], ran: dict[str, PanelRun]) -> None:
    """Refuse a board with so many failures that its ranks mean something else."""
    competent = sum(run.tier is Tier.COMPETENT for run in ran.values())
    if TRIVIAL in ran and len(ran) >= LEAST_ENTRIES and competent >= LEAST_COMPETENT:
        return
    failures = "; ".join(f"{run.name}: {run.failure}" for run in runs if run.failure)
    detail = f"{len(ran)} of {len(runs)} solvers gave a prediction ({competent} competent); {failures or 'too few ran'}"
    raise ItemRejected(Stage.CALIBRATE, "panel_failed", detail)
