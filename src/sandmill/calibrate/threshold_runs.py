"""How steady milestones are: bootstraps of the test rows, and distances of runs over training draws."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sandmill.calibrate.board import median_rows
from sandmill.calibrate.distances import distance_sd, unrelated_sd
from sandmill.calibrate.milestones import Gold, MilestoneRule
from sandmill.calibrate.steadiness import ThresholdScores
from sandmill.models.calibration import MilestoneEntry, Steadiness, Tier
from sandmill.scoring import Metric
from sandmill.scoring.base import Array, Floats

Steps = tuple[float, float, float]

COUNTED_STEP = 0.1
"""Widest step of a pilot that a forecast counts. Milestones are medians over many runs, and their bootstraps choose the
best run anew, so that a step may count for more than one between two single runs by ranks."""


@dataclass(frozen=True)
class ThresholdRuns:
    """What further training draws say of the runs that decide milestones."""

    gold: Gold
    tiers: Mapping[str, Tier]
    shares: Mapping[str, tuple[float, ...]]
    """Gap closed on the pilot rows by each run, after training on the task's draw and on further ones."""
    off_board: frozenset[str] = frozenset()
    """Runs that are not on the leaderboard."""
    margin: float | None = None
    """Best reader less best blind run."""
    informed: float | None = None
    """Gap closed on the pilot rows by the informed solver, after training on the task's draw."""
    column: float | None = None
    """Gap closed on the pilot rows by the best single column without a model."""
    twins: Mapping[str, str] | None = None
    """Reader to the run with the same model without the stated facts."""

    def entries(self, final: Mapping[str, float], feedback: Mapping[str, float]) -> tuple[MilestoneEntry, ...]:
        """Return the deciding runs that have scores on both parts."""
        return tuple(
            MilestoneEntry(
                solver=name,
                tier=self.tiers[name],
                final=final[name],
                feedback=feedback[name],
                shares=shares,
                on_board=name not in self.off_board,
            )
            for name, shares in self.shares.items()
            if name in final
        )

    def on_pilot(self) -> tuple[MilestoneEntry, ...]:
        """Return the runs with their shares in place of scores, which a pilot does not publish."""
        own = {name: shares[0] for name, shares in self.shares.items()}
        return self.entries(own, own)


def resample_milestones(
    truth: Array,
    predictions: Mapping[str, Array],
    ends: tuple[Array, Array],
    board: Sequence[str],
    rule: MilestoneRule,
    metric: Metric,
    counts: Floats,
) -> ThresholdScores:
    """Apply the rule to some rows and to bootstraps of them.

    Args:
        truth: answers, shape (rows,).
        predictions: of all entries of the board and all deciding runs.
        ends: predictions of the trivial solver and of the oracle.
        board: names of the entries whose median is the lowest threshold.
        rule: of the task.
        metric: scores and resamples.
        counts: bootstraps from `draw_counts`, shared by all runs.
    """
    sign = -1 if metric.is_lower_better else 1

    def score(prediction: Array) -> Floats:
        """Return the score on the rows, and after it those on the bootstraps."""
        point = metric.own_score(truth, prediction)
        return sign * np.append(point, metric.resample(truth, prediction, counts))

    trivial, oracle = (score(prediction) for prediction in ends)
    with np.errstate(invalid="ignore", divide="ignore"):
        places = rule.places(
            {name: (score(predictions[name]) - trivial) / (oracle - trivial) for name in rule.corrections}
        )
    bars = [trivial + place * (oracle - trivial) for place in (places.gold, places.silver, places.bronze)]
    ranked = sorted(board, key=lambda name: -sign * metric.own_score(truth, predictions[name]))
    middle = np.mean([score(predictions[ranked[row - 1]]) for row in median_rows(len(ranked))], axis=0)
    below = trivial + (places.bronze - rule.fall) * (oracle - trivial)
    scores = np.array([*bars, np.minimum(middle, below)])
    return ThresholdScores(point=scores[:, 0], resampled=scores[:, 1:], counted_step=COUNTED_STEP)


def with_draws(
    measured: Steadiness, entries: Sequence[MilestoneEntry], steps: Steps, twins: Mapping[str, str] | None
) -> Steadiness:
    """Add how far apart thresholds are by the luck of training draws.

    Args:
        measured: what bootstraps of the test rows say.
        entries: the deciding runs.
        steps: distances of neighbouring thresholds, as shares of the gap.
        twins: reader to the run with the same model without the stated facts.
    """
    by_name = {entry.solver: entry.shares for entry in entries}
    related = [(by_name[one], by_name[other]) for one, other in (twins or {}).items() if {one, other} <= by_name.keys()]
    found: dict[str, float | Steps] = {}
    for name, deviation in (("pair", unrelated_sd(entries)), ("hint", distance_sd(related))):
        if deviation:
            ratios = (round(step / deviation, 3) for step in steps)
            found[f"{name}_sd"] = round(deviation, 6)
            found["steps_in_sd" if name == "pair" else "steps_in_hint_sd"] = tuple(ratios)  # type: ignore[assignment]
    return measured.model_copy(update=found)
