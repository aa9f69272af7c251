"""Metrics that are not averages over rows: of the order of predictions, of correlation and of spread.

One sort serves all bootstrap samples; ties count one half.
"""

import numpy as np
from numpy.typing import NDArray

from sandmill.scoring.base import Array, Floats, Resample, divide

_CONSTANT = 1e-24
"""Ratio of variance to mean square below which values count as constant."""


def roc_auc(truth: Array, prediction: Array, counts: Floats) -> Floats:
    """Return ROC AUC, the chance that a positive is ranked above a negative; NaN where a class is absent."""
    positive, negative = _by_value(truth, prediction, counts)
    upto = np.cumsum(negative, axis=1)
    below = np.einsum("sv,sv->s", positive, upto) - 0.5 * np.einsum("sv,sv->s", positive, negative)
    return divide(below, positive.sum(axis=1) * upto[:, -1], np.nan)


def average_precision(truth: Array, prediction: Array, counts: Floats) -> Floats:
    """Return average precision: the precision at every value, weighted by its positives; NaN without positives."""
    positive, negative = (side[:, ::-1] for side in _by_value(truth, prediction, counts))
    found = np.cumsum(positive, axis=1)
    named = found + np.cumsum(negative, axis=1)
    return divide((positive * divide(found, named)).sum(axis=1), found[:, -1], np.nan)


def by_column(resample: Resample) -> Resample:
    """Make the column-wise mean of a metric. All columns use the same bootstrap rows."""

    def columns(truth: Array, prediction: Array, counts: Floats) -> Floats:
        scores = [resample(truth[:, column], prediction[:, column], counts) for column in range(truth.shape[1])]
        return np.asarray(np.mean(scores, axis=0), dtype=np.float64)

    return columns


def over_pairs(resample: Resample) -> Resample:
    """Make a metric over all pairs of row and label. Bootstraps draw rows."""

    def pairs(truth: Array, prediction: Array, counts: Floats) -> Floats:
        width = truth.shape[1] if truth.ndim == 2 else 1
        return resample(truth.ravel(), prediction.ravel(), np.repeat(counts, width, axis=1))

    return pairs


def label_precision(truth: Array, prediction: Array) -> tuple[Floats, Floats]:
    """Return, for each row, the sum of the precisions at the ranks of its true labels, and the number of true labels.

    A label's rank counts all labels with at least its probability. The ratio of the sums over rows is label-weighted
    label-ranking average precision.
    """
    reaches = prediction[:, None, :] >= prediction[:, :, None]
    true = truth == 1
    precision = (reaches & true[:, None, :]).sum(axis=2) / reaches.sum(axis=2)
    return (true * precision).sum(axis=1), true.sum(axis=1).astype(np.float64)


def gini(truth: Array, prediction: Array, counts: Floats) -> Floats:
    """Return cov(truth, ranks of the prediction) / cov(truth, ranks of the truth); 1 is the best order."""
    predicted, best = (_rank_covariance(truth, order, counts) for order in (prediction, truth))
    return divide(predicted, best, np.nan)


def spearman(truth: Array, prediction: Array, counts: Floats) -> Floats:
    """Return the correlation of ranks, with mean ranks for ties; 0 where the prediction is constant."""
    return correlation(midranks(truth, counts), midranks(prediction, counts), counts)


def r_squared(truth: Array, prediction: Array, counts: Floats) -> Floats:
    """Return 1 - squared error / variance of the truth; NaN where the truth is constant."""
    centred = truth - truth.mean()
    spread = counts @ np.square(centred) - np.square(counts @ centred) / counts.sum(axis=1)
    left = counts @ np.square(truth - prediction)
    return 1 - divide(left, spread, np.nan)


def pearson(truth: Array, prediction: Array, counts: Floats) -> Floats:
    """Return the linear correlation; 0 where the prediction is constant."""
    return correlation(_scaled(truth), _scaled(prediction), counts)


def median_error(truth: Array, prediction: Array, counts: Floats) -> Floats:
    """Return the median of the absolute errors; for an even number of rows, the mean of the two in the middle."""
    errors = np.abs(truth - prediction)
    order = np.argsort(errors, kind="stable")
    below = np.cumsum(counts[:, order], axis=1)
    half = below[:, -1:] / 2
    lower, upper = (below >= half).argmax(axis=1), (below > half).argmax(axis=1)
    return np.asarray((errors[order][lower] + errors[order][upper]) / 2, dtype=np.float64)


def correlation(left: Floats, right: Floats, counts: Floats) -> Floats:
    """Return the correlation in each bootstrap sample; 0 where a side is constant.

    Both sides have shape (rows,) or (samples, rows).
    """
    left, right = (side - side[..., :1] for side in (left, right))
    spreads = []
    for side in (left, right):
        spread = _covariance(side, side, counts)
        is_constant = spread <= _CONSTANT * (counts * np.square(side)).sum(axis=1)
        spreads.append(np.where(is_constant, 0.0, spread))
    product = np.sqrt(spreads[0]) * np.sqrt(spreads[1])
    return divide(_covariance(left, right, counts), product)


def midranks(values: Floats, counts: Floats) -> Floats:
    """Return the rank of each row in each bootstrap sample, shape (samples, rows), with mean ranks for ties."""
    order, starts = _order(values)
    grouped = np.add.reduceat(counts[:, order], starts, axis=1)
    middle = np.cumsum(grouped, axis=1) - (grouped - 1) / 2
    group = np.empty(len(values), dtype=np.intp)
    group[order] = np.repeat(np.arange(len(starts)), np.diff(np.r_[starts, len(values)]))
    return np.asarray(middle[:, group], dtype=np.float64)


def _scaled(values: Floats) -> Floats:
    """Divide by a power of two above the largest absolute value. Squares cannot overflow, and the division is exact."""
    _, exponent = np.frexp(np.abs(values).max(initial=0.0))
    return np.asarray(np.ldexp(values, -exponent - 1), dtype=np.float64)


def _by_value(truth: Array, prediction: Array, counts: Floats) -> tuple[Floats, Floats]:
    """Return the numbers of positives and negatives at each distinct prediction, ascending."""
    order, starts = _order(prediction)
    drawn = counts.take(order, axis=1)
    positive = drawn * (truth[order] == 1)
    negative = drawn - positive
    if len(starts) == len(order):  # all predictions differ
        return positive, negative
    return np.add.reduceat(positive, starts, axis=1), np.add.reduceat(negative, starts, axis=1)


def _order(values: Array) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    order = np.argsort(values, kind="stable")
    ranked = values[order]
    return order, np.flatnonzero(np.r_[True, ranked[1:] != ranked[:-1]])


def _rank_covariance(values: Floats, ranked: Floats, counts: Floats) -> Floats:
    """Return the covariance of values with the mean ranks of `ranked`, summed over groups of equal rank."""
    order, starts = _order(ranked)
    drawn = counts.take(order, axis=1)
    weighted = drawn * (values - values.mean())[order]
    if len(starts) < len(order):
        drawn, weighted = (np.add.reduceat(side, starts, axis=1) for side in (drawn, weighted))
    ranks = np.cumsum(drawn, axis=1)
    middle = (ranks[:, -1] + 1) / 2
    ranks -= (drawn - 1) / 2
    return np.asarray(np.einsum("sv,sv->s", weighted, ranks) - weighted.sum(axis=1) * middle, dtype=np.float64)


def _covariance(left: Floats, right: Floats, counts: Floats) -> Floats:
    total = counts.sum(axis=1)
    centred = [side - ((counts * side).sum(axis=1) / total)[:, None] for side in (left, right)]
    return np.asarray((counts * centred[0] * centred[1]).sum(axis=1), dtype=np.float64)
