"""How hard a task is and how sure we are of it, by bootstraps that give every solver the same resampled rows."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from sandmill.calibrate.board import LEAST_STEP
from sandmill.calibrate.milestones import require_room
from sandmill.errors import ItemRejected
from sandmill.models.base import Band, Stage
from sandmill.models.calibration import (
    BAND_FLOORS,
    Calibration,
    Difficulty,
    MilestoneEntry,
    ScriptScore,
    Thresholds,
    Tier,
)
from sandmill.scoring import Metric
from sandmill.scoring.base import Array, Floats, rounded
from sandmill.scoring.gap import gap_closed

RESAMPLES = 200
STANDARD_ERRORS = 5.0
"""Least distance of oracle and trivial; nearer than that a design has no signal to learn."""

TYPICAL_DRAW_SD, TYPICAL_WEIGHT = 0.05, 4.0
"""Standard deviation of difficulty over training draws (root mean square of 45 designs), and its weight in draws beside
those that were measured."""
Z_OF_INTERVAL = 1.645
"""Standard deviations from the middle to the ends of a 90 % interval."""


def draw_counts(rows: int, rng: np.random.Generator, resamples: int = RESAMPLES) -> Floats:
    """Draw bootstraps of a test set. Returns how often each one holds each item, shape (resamples, items)."""
    counts = np.empty((resamples, rows))
    for drawn in counts:  # one by one: rows drawn and counted take a tenth of the time of a multinomial
        drawn[:] = np.bincount(rng.integers(rows, size=rows), minlength=rows)
    return counts


def remembering(metric: Metric) -> Metric:
    """The same metric, which scores and bootstraps equal arrays once: several measures ask for the same predictions."""
    known: dict[tuple[int, int, int], tuple[tuple[Array, Array, Floats | None], Floats]] = {}

    def resample(truth: Array, prediction: Array, counts: Floats) -> Floats:
        is_score = len(counts) == 1 and bool((counts == 1).all())
        drawn = None if is_score else counts
        key = id(truth), id(prediction), id(drawn)
        if key not in known:
            # The arrays are kept, so that no other array gets their id.
            known[key] = (truth, prediction, drawn), metric.resample(truth, prediction, counts)
        return known[key][1]

    return replace(metric, resample=resample)


def band_of(difficulty: float) -> Band:
    """Name a difficulty in 0..1."""
    return max((floor, band) for band, floor in BAND_FLOORS.items() if difficulty >= floor)[1]


def difficulty(
    truth: Array,
    competent: Sequence[Array],
    trivial: Array,
    oracle: Array,
    metric: Metric,
    counts: Floats,
) -> Difficulty:
    """Measure what the median competent default leaves of the gap: 1 - clip(gap closed, 0, 1).

    Raises:
        DegenerateTask: if trivial and oracle score the same.
    """
    middle = float(np.median([metric.score(truth, prediction) for prediction in competent]))
    value = _left_open(gap_closed(middle, metric.score(truth, trivial), metric.score(truth, oracle)))
    middles = np.median([metric.resample(truth, prediction, counts) for prediction in competent], axis=0)
    zeros, ones = (metric.resample(truth, prediction, counts) for prediction in (trivial, oracle))
    with np.errstate(invalid="ignore", divide="ignore"):
        shares = (middles - zeros) / (ones - zeros)
    low, high = np.quantile([_left_open(float(share)) for share in shares if np.isfinite(share)], [0.05, 0.95])
    return Difficulty(
        value=round(value, 6),
        low=round(min(float(low), value), 6),
        high=round(max(float(high), value), 6),
        band=band_of(round(value, 6)),
    )


def over_draws(measured: Difficulty, entries: Sequence[MilestoneEntry]) -> Difficulty:
    """Widen the interval of a difficulty so that it holds for other training draws and other test rows.

    Three draws tell little about their spread, so their variance is averaged with a typical one.
    """
    usual = [entry.shares for entry in entries if entry.tier is Tier.COMPETENT]
    found = np.array([_left_open(share) for share in np.median(usual, axis=0)])
    draws = len(found)
    spread = float(found.var(ddof=1)) if draws > 1 else 0.0
    variance = ((draws - 1) * spread + TYPICAL_WEIGHT * TYPICAL_DRAW_SD**2) / (draws - 1 + TYPICAL_WEIGHT)
    rows = ((measured.high - measured.low) / (2 * Z_OF_INTERVAL)) ** 2
    # Both the task and its replicate have test rows of their own.
    half = Z_OF_INTERVAL * math.sqrt(variance * (1 + 1 / draws) + 2 * rows)
    middle = measured.value + float(found.mean() - found[0])
    low, high = max(min(middle - half, measured.value), 0.0), min(max(middle + half, measured.value), 1.0)
    return measured.model_copy(update={"low": round(low, 6), "high": round(high, 6), "interval": "replicates"})


def _left_open(share: float) -> float:
    return 1 - min(max(share, 0.0), 1.0)


def signal_check(truth: Array, trivial: Array, oracle: Array, metric: Metric, counts: Floats) -> None:
    """Reject a design whose oracle scores hardly better than a constant.

    Raises:
        ItemRejected: `no_signal`, if oracle - trivial is under 5 paired-bootstrap standard errors.
    """
    sign = -1 if metric.is_lower_better else 1
    gap = sign * (metric.score(truth, oracle) - metric.score(truth, trivial))
    gaps = metric.resample(truth, oracle, counts) - metric.resample(truth, trivial, counts)
    error = float(np.nanstd(gaps, ddof=1))
    if not gap > STANDARD_ERRORS * error:
        detail = (
            f"oracle beats trivial by {gap:.5f}, standard error {error:.5f}; wanted over {STANDARD_ERRORS:g} of them"
        )
        raise ItemRejected(Stage.CALIBRATE, "no_signal", detail)


def require_trivial_loses(trivial: float, bars: Thresholds, oracle: float) -> None:
    """Reject a task on which a constant answer would earn a medal.

    Raises:
        ItemRejected: `trivial_medal`, if bronze is not clearly above trivial.
    """
    bronze = gap_closed(bars.bronze, trivial, oracle)
    if bronze < LEAST_STEP:
        detail = f"bronze closes {bronze:.3f} of the gap; a constant closes none and must stay {LEAST_STEP:g} below it"
        raise ItemRejected(Stage.CALIBRATE, "trivial_medal", detail)


def require_columns_lose(
    answers: Iterable[Array], truth: Array, rows: NDArray[np.bool_], metric: Metric, measured: Calibration
) -> None:
    """Reject a task on which one column, as it stands in the files, earns a medal without a model.

    Raises:
        ItemRejected: `column_medal`.
    """
    sign, bronze = (-1 if metric.is_lower_better else 1), measured.thresholds.bronze
    for answer in answers:
        if metric.is_nonnegative and (answer < 0).any():
            continue
        with np.errstate(all="ignore"):
            score = rounded(metric.score(truth[rows], answer[rows]))
        if sign * score >= sign * bronze:
            detail = f"a single column, used as the prediction without a model, scores {score}; bronze is {bronze}"
            raise ItemRejected(Stage.CALIBRATE, "column_medal", detail)


def require_gold_in_reach(measured: Calibration, informed: float) -> None:
    """Refuse a task whose gold is above the scores of the informed solver and of all readers.

    Raises:
        ItemRejected: `no_room`.
    """
    ends = measured.trivial, measured.oracle
    scores = [informed, *(entry.final for entry in measured.board if entry.tier is Tier.READER)]
    require_room(max(gap_closed(one, *ends) for one in scores), gap_closed(measured.thresholds.gold, *ends))


def with_scripts(measured: Calibration, scores: Sequence[ScriptScore]) -> Calibration:
    """Record what the scripts of a task score, the reference first.

    Raises:
        ItemRejected: `reference_below_gold`, if the reference, chosen on the feedback part, is not gold.
    """
    bars, lower, reference = measured.thresholds, measured.is_lower_better, scores[0]
    if reference.final > bars.gold if lower else reference.final < bars.gold:
        detail = f"the script that is best on feedback scores {reference.final} on final; gold is {bars.gold}"
        raise ItemRejected(Stage.CALIBRATE, "reference_below_gold", detail)
    losses = [score.final if lower else -score.final for score in scores]
    rises = all(better < worse for better, worse in pairwise(losses))
    found = {"reference": reference.approach, "scripts": tuple(scores), "scripts_rise": rises}
    return measured.model_copy(update=found)
