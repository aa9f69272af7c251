"""Whether thresholds come out the same: bootstraps of the test rows, distances of runs over training draws."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sandmill.calibrate.board import median_rows
from sandmill.calibrate.milestones import MilestoneRule
from sandmill.errors import ItemRejected
from sandmill.models.base import Stage
from sandmill.models.calibration import Interval, Sizing, Steadiness
from sandmill.scoring import Metric
from sandmill.scoring.base import Array, Floats

LEAST_HELD = 0.95
"""Share of bootstraps in which the order of thresholds must hold on the published rows."""
FORETOLD = 0.98
"""The same on the pilot, at the size that it asks for."""
LEAST_FORETOLD = 0.6
"""A largest test that is foretold to hold its order less often is not even drawn. Low forecasts are too low: of the
designs foretold at 80 to 95 % all were found to hold in over 96 %, for other entries set their thresholds there."""
COUNTED_STEP = 0.03
"""Wider steps of the pilot count as so much of the gap: on other rows other entries may set the thresholds."""
STEPS_OF_FEWEST = 3
"""Sizes grow by the smallest final part divided by this."""


@dataclass(frozen=True)
class ThresholdScores:
    """Scores of the entries that set gold, silver, bronze and median, greater is better."""

    point: Floats
    """On the rows as they are, shape (4,)."""
    resampled: Floats
    """On bootstraps of them, shape (4, R)."""
    counted_step: float = COUNTED_STEP
    """Widest step that a forecast counts, as a share of the gap."""

    @property
    def order_held(self) -> float:
        """Share of bootstraps in which no entry overtakes the one above it."""
        return _order_held(self.resampled)

    def order_at(self, rows: int, wanted: int, gap: float) -> float:
        """Predict how often the order holds on another number of rows: deviations shrink with its square root.

        The gap is oracle less trivial on these rows, greater than 0; wide steps count as a small share of it only.
        """
        deviations = (self.resampled - self.point[:, None]) * np.sqrt(rows / wanted)
        falls = np.clip(-np.diff(self.point), 0, self.counted_step * gap)
        return _order_held(-np.cumsum([0, *falls])[:, None] + deviations)


def size_test(pilot: ThresholdScores, pilot_rows: int, gap: float, fewest: int, most: int) -> Sizing:
    """Settle the size of the final part, once: as many rows as the pilot says that the order of thresholds needs."""
    sizes = [*range(fewest, most, fewest // STEPS_OF_FEWEST), most]
    enough = next((size for size in sizes if pilot.order_at(pilot_rows, size, gap) >= FORETOLD), most)
    return Sizing(
        pilot_rows=pilot_rows,
        final_rows=enough,
        order_foretold=round(pilot.order_at(pilot_rows, enough, gap), 4),
    )


def require_promise(sizing: Sizing) -> None:
    """Refuse early a design whose pilot says that no test that may be had would be steady.

    Raises:
        ItemRejected: `unsteady_order`, if the order is foretold to hold in under 60 % of bootstraps.
    """
    if sizing.order_foretold < LEAST_FORETOLD:
        detail = (
            f"the pilot foretells that the order of thresholds holds in {sizing.order_foretold:.1%} of bootstraps of "
            f"{sizing.final_rows} rows, the most that a test may have; wanted {LEAST_HELD:.0%}"
        )
        raise ItemRejected(Stage.CALIBRATE, "unsteady_order", detail)


def steadiness(ladder: ThresholdScores, metric: Metric) -> Steadiness:
    """Record how sure thresholds are on the rows that are published."""
    sign = -1 if metric.is_lower_better else 1
    gold, silver, bronze, middle = (_interval(sign * drawn) for drawn in ladder.resampled)
    return Steadiness(gold=gold, silver=silver, bronze=bronze, median=middle, order_held=round(ladder.order_held, 4))


def require_order(measured: Steadiness, sizing: Sizing) -> None:
    """Refuse thresholds whose order is a matter of which rows were drawn.

    Raises:
        ItemRejected: `unsteady_order`, if it holds in under 95 % of bootstraps of the published rows.
    """
    if measured.order_held < LEAST_HELD:
        detail = (
            f"the order of thresholds holds in {measured.order_held:.1%} of bootstraps of {sizing.final_rows} rows, "
            f"foretold {sizing.order_foretold:.1%}; wanted {LEAST_HELD:.0%}"
        )
        raise ItemRejected(Stage.CALIBRATE, "unsteady_order", detail)


def _order_held(ladder: Floats) -> float:
    return float(np.mean((np.diff(ladder, axis=0) <= 0).all(axis=0)))


def _interval(drawn: Floats) -> Interval:
    low, high = np.nanquantile(drawn, [0.05, 0.95])
    return round(float(low), 5), round(float(high), 5)


COUNTED_MILESTONE_STEP = 0.1
"""Widest step of a pilot that a forecast counts. Milestones are medians over many runs, and their bootstraps choose the
best run anew, so that a step may count for more than one between two single runs."""


def resample_milestones(
    truth: Array,
    predictions: Mapping[str, Array],
    ends: tuple[Array, Array],
    board: Sequence[str],
    rule: MilestoneRule,
    metric: Metric,
    counts: Floats,
) -> ThresholdScores:
    """Apply the rule to some rows and to bootstraps of them."""
    sign = -1 if metric.is_lower_better else 1

    def score(prediction: Array) -> Floats:
        """Return the score on the rows, and after it those on the bootstraps."""
        point = metric.score(truth, prediction)
        return sign * np.append(point, metric.resample(truth, prediction, counts))

    trivial, oracle = (score(prediction) for prediction in ends)
    with np.errstate(invalid="ignore", divide="ignore"):
        places = rule.places(
            {name: (score(predictions[name]) - trivial) / (oracle - trivial) for name in rule.corrections}
        )
    bars = [trivial + place * (oracle - trivial) for place in (places.gold, places.silver, places.bronze)]
    ranked = sorted(board, key=lambda name: -sign * metric.score(truth, predictions[name]))
    middle = np.mean([score(predictions[ranked[row - 1]]) for row in median_rows(len(ranked))], axis=0)
    below = trivial + (places.bronze - rule.least_distance) * (oracle - trivial)
    scores = np.array([*bars, np.minimum(middle, below)])
    return ThresholdScores(point=scores[:, 0], resampled=scores[:, 1:], counted_step=COUNTED_MILESTONE_STEP)
