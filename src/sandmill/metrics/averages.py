"""Metrics that are an average over rows: one loss a row, and every bootstrap is one matrix product."""

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from sandmill.metrics.base import Array, Floats, Resample

RowLoss: TypeAlias = Callable[[Array, Array], Floats]
"""Truth and prediction to losses, shape (rows,) or (rows, columns)."""

RATE_FLOOR = float(np.finfo(np.float64).eps)
"""Least rate that the Poisson deviance knows: each row's prediction is raised to it, whatever the other rows hold."""


def mean_of(loss: RowLoss, finish: Callable[[Floats], Floats] | None = None) -> Resample:
    """Make a metric of a loss by row: the mean, finished (a root, say), then averaged over columns if there are any."""

    def resample(truth: Array, prediction: Array, counts: Floats) -> Floats:
        losses = loss(truth, prediction)
        wide = losses.reshape(len(losses), -1)
        means = counts @ wide / counts.sum(axis=1, keepdims=True)
        finished = means if finish is None else finish(means)
        return np.asarray(finished.mean(axis=1), dtype=np.float64)

    return resample


def ratio_of(parts: Callable[[Array, Array], tuple[Floats, Floats]]) -> Resample:
    """Make a metric of two sums over rows; where the lower sum is 0 the score is 0."""

    def resample(truth: Array, prediction: Array, counts: Floats) -> Floats:
        upper, lower = (counts @ part for part in parts(truth, prediction))
        return np.divide(upper, lower, out=np.zeros(len(counts)), where=lower > 0)

    return resample


def misses(truth: Array, prediction: Array) -> Floats:
    """1 where the class is wrong."""
    return np.asarray(truth != prediction, dtype=np.float64)


def hits(truth: Array, prediction: Array) -> Floats:
    """1 where the class is right, or, for label sets, where the whole set is."""
    same = truth == prediction
    return np.asarray(same if same.ndim == 1 else same.all(axis=1), dtype=np.float64)


def log_losses(truth: Array, prediction: Array) -> Floats:
    """Negative log-probability of the true class, clipped at machine epsilon as scikit-learn does."""
    wide = np.asarray(prediction, dtype=np.float64)
    if wide.ndim == 1:
        wide = np.column_stack([1 - wide, wide])
    return _cost(wide[np.arange(len(truth)), truth.astype(np.intp)])


def label_log_losses(truth: Array, prediction: Array) -> Floats:
    """Binary log loss of every label, shape (rows, labels)."""
    return _cost(np.where(truth == 1, prediction, 1 - prediction))


def squared_misses(truth: Array, prediction: Array) -> Floats:
    """Squared distance of a probability from the 0 or 1 that came."""
    return np.square(np.asarray(prediction - truth, dtype=np.float64))


def different_labels(truth: Array, prediction: Array) -> Floats:
    """Share of the labels that are wrong."""
    return np.asarray((truth != prediction).mean(axis=1), dtype=np.float64)


def row_f1(truth: Array, prediction: Array) -> Floats:
    """F1 of one row's label set; 0 where both sets are empty, as scikit-learn counts it."""
    both = (truth * prediction).sum(axis=1)
    named = (truth + prediction).sum(axis=1)
    return np.asarray(np.divide(2.0 * both, named, out=np.zeros(len(truth)), where=named > 0), dtype=np.float64)


def shared_labels(truth: Array, prediction: Array) -> tuple[Floats, Floats]:
    """Twice what truth and prediction share, and what both hold: over rows, F1 over all pairs of row and label.

    Class codes are sets of one label.
    """
    if truth.ndim == 1 and prediction.dtype.kind == "i":
        return 2.0 * (truth == prediction), np.full(len(truth), 2.0)
    wide, said = truth.reshape(len(truth), -1), prediction.reshape(len(truth), -1)
    return 2.0 * (wide * said).sum(axis=1), np.asarray((wide + said).sum(axis=1), dtype=np.float64)


def precision_at_k(truth: Array, prediction: Array) -> Floats:
    """Average precision of one row's ranked list, whose width is k.

    Args:
        truth: class codes, shape (rows,), or 0/1 by label, shape (rows, labels).
        prediction: codes, best first, shape (rows, k); -1 where a list is shorter. A repeated code counts once.
    """
    rows, k = prediction.shape
    codes = np.where(prediction >= 0, prediction, 0)
    if truth.ndim == 1:
        relevant, total = truth[:, None] == prediction, np.ones(rows)
    else:
        relevant = np.take_along_axis(truth == 1, codes, axis=1) & (prediction >= 0)
        total = np.minimum((truth == 1).sum(axis=1), k).astype(np.float64)
    for place in range(1, k):
        relevant[:, place] &= (prediction[:, :place] != prediction[:, [place]]).all(axis=1)
    precision = relevant.cumsum(axis=1) / np.arange(1, k + 1)
    return np.asarray(
        np.divide((relevant * precision).sum(axis=1), total, out=np.zeros(rows), where=total > 0), dtype=np.float64
    )


def squared_errors(truth: Array, prediction: Array) -> Floats:
    """Squared error, by column if there are several."""
    return np.asarray(np.square(truth - prediction), dtype=np.float64)


def absolute_errors(truth: Array, prediction: Array) -> Floats:
    """Absolute error, by column if there are several."""
    return np.asarray(np.abs(truth - prediction), dtype=np.float64)


def squared_log_errors(truth: Array, prediction: Array) -> Floats:
    """Squared difference of log(1 + x), by column if there are several."""
    return np.asarray(np.square(np.log1p(truth) - np.log1p(prediction)), dtype=np.float64)


def relative_errors(truth: Array, prediction: Array) -> Floats:
    """Absolute error over the truth's size, machine epsilon in place of 0, as scikit-learn does."""
    return np.asarray(
        np.abs(truth - prediction) / np.maximum(np.abs(truth), np.finfo(np.float64).eps), dtype=np.float64
    )


def symmetric_errors(truth: Array, prediction: Array) -> Floats:
    """Absolute error in percent of the mean size of truth and prediction; 0 where both are 0."""
    size = np.abs(truth) + np.abs(prediction)
    return np.asarray(
        np.divide(200.0 * np.abs(truth - prediction), size, out=np.zeros(np.shape(size)), where=size > 0),
        dtype=np.float64,
    )


def poisson_deviances(truth: Array, prediction: Array) -> Floats:
    """Poisson deviance; a prediction below `RATE_FLOOR` is taken as that, so that it costs much but not infinity."""
    rate = np.maximum(prediction, RATE_FLOOR)
    ratio = np.where(truth > 0, truth / rate, 1.0)
    return np.asarray(2 * (truth * np.log(ratio) - truth + rate), dtype=np.float64)


def _cost(probability: Array) -> Floats:
    epsilon = np.finfo(np.float64).eps
    return np.asarray(-np.log(np.clip(probability, epsilon, 1 - epsilon)), dtype=np.float64)
