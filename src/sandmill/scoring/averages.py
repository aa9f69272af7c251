"""Metrics that are averages over rows. With one loss for each row, all bootstrap samples are one matrix product."""

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from sandmill.scoring.base import Array, Floats, Resample, divide

RowLoss: TypeAlias = Callable[[Array, Array], Floats]
"""Truth and prediction to losses, shape (rows,) or (rows, columns)."""

RATE_FLOOR = float(np.finfo(np.float64).eps)
"""Smallest rate of the Poisson deviance. Lower predictions are raised to it, each row separately."""

IOU_THRESHOLDS = np.arange(0.5, 1.0, 0.05)
"""Thresholds of `iou_thresholds`, with the rounding errors of the graders of the field."""


def mean_of(loss: RowLoss, finish: Callable[[Floats], Floats] | None = None) -> Resample:
    """Make a metric of row losses: their mean, transformed by `finish` (such as a root), then averaged over columns."""

    def resample(truth: Array, prediction: Array, counts: Floats) -> Floats:
        losses = loss(truth, prediction)
        wide = losses.reshape(len(losses), -1)
        means = counts @ wide / counts.sum(axis=1, keepdims=True)
        finished = means if finish is None else finish(means)
        return np.asarray(finished.mean(axis=1), dtype=np.float64)

    return resample


def over_places(loss: RowLoss) -> RowLoss:
    """Make losses of items of the losses of their places: the mean, all items having as many."""

    def losses(truth: Array, prediction: Array) -> Floats:
        by_place = loss(truth, prediction)
        return by_place if by_place.ndim == 1 else np.asarray(by_place.mean(axis=1), dtype=np.float64)

    return losses


def ratio_of(parts: Callable[[Array, Array], tuple[Floats, Floats]]) -> Resample:
    """Make a metric that is the ratio of two sums over rows. The score is 0 where the denominator is 0."""

    def resample(truth: Array, prediction: Array, counts: Floats) -> Floats:
        numerator, denominator = (counts @ part for part in parts(truth, prediction))
        return divide(numerator, denominator)

    return resample


def misses(truth: Array, prediction: Array) -> Floats:
    """Return 1 for each row with a wrong class, else 0."""
    return np.asarray(truth != prediction, dtype=np.float64)


def hits(truth: Array, prediction: Array) -> Floats:
    """Return 1 for each row with the right class or the right label set, else 0."""
    same = truth == prediction
    return np.asarray(same if same.ndim == 1 else same.all(axis=1), dtype=np.float64)


def right_texts(truth: Array, prediction: Array) -> tuple[Floats, Floats]:
    """Return, for each item, how many of its texts are exactly right, and how many it has.

    Arrays have shape (items, places), None after the last place of an item.
    """
    is_place = np.asarray(truth != np.array(None), dtype=np.bool_)
    right = np.asarray(truth == prediction, dtype=np.bool_) & is_place
    axes = tuple(range(1, truth.ndim))
    return right.sum(axis=axes, dtype=np.float64), is_place.sum(axis=axes, dtype=np.float64)


def log_losses(truth: Array, prediction: Array) -> Floats:
    """Return the negative log probability of the true class, clipped at machine epsilon as in scikit-learn.

    The truth may hold one class only. Scikit-learn refuses such a truth unless the caller names all classes.
    """
    wide = np.asarray(prediction, dtype=np.float64)
    if wide.ndim == 1:
        wide = np.column_stack([1 - wide, wide])
    return _cost(wide[np.arange(len(truth)), truth.astype(np.intp)])


def label_log_losses(truth: Array, prediction: Array) -> Floats:
    """Return the binary log loss of every label in every row, shape (rows, labels).

    Labels that all rows have, or none, are scored like others.
    """
    return _cost(np.where(truth == 1, prediction, 1 - prediction))


def different_labels(truth: Array, prediction: Array) -> Floats:
    """Return the share of wrong labels of each row."""
    return np.asarray((truth != prediction).mean(axis=1), dtype=np.float64)


def row_f1(truth: Array, prediction: Array) -> Floats:
    """Return the F1 of each row's label set; 0 where both sets are empty, as in scikit-learn."""
    shared = (truth * prediction).sum(axis=1)
    total = (truth + prediction).sum(axis=1)
    return divide(2.0 * shared, total)


def dice(truth: Array, prediction: Array) -> Floats:
    """Return twice the shared pixels over the pixels of both masks, for each picture; 1 where both masks are empty.

    Masks hold 0 and 1, shape (pictures, pixels).
    """
    shared, total = _overlaps(truth, prediction)
    return divide(2.0 * shared, total, otherwise=1.0)


def iou_thresholds(truth: Array, prediction: Array) -> Floats:
    """Return the share of `IOU_THRESHOLDS` below the intersection over union of each picture's masks.

    It is 1 where both masks are empty.
    """
    shared, total = _overlaps(truth, prediction)
    overlap = divide(shared, total - shared, otherwise=1.0)
    return np.asarray((overlap[:, None] > IOU_THRESHOLDS).mean(axis=1), dtype=np.float64)


def _overlaps(truth: Array, prediction: Array) -> tuple[Floats, Floats]:
    """Return the pixels in both masks of each picture, and the sum of the pixels of each."""
    true, named = truth != 0, prediction != 0
    shared, total = (true & named).sum(axis=1), true.sum(axis=1) + named.sum(axis=1)
    return np.asarray(shared, dtype=np.float64), np.asarray(total, dtype=np.float64)


def shared_labels(truth: Array, prediction: Array) -> tuple[Floats, Floats]:
    """Return 2 * |truth & prediction| and |truth| + |prediction| of each row's label set.

    The ratio of their sums over rows is micro-averaged F1. Class codes count as sets of one label.
    """
    if truth.ndim == 1 and prediction.dtype.kind == "i":
        return 2.0 * (truth == prediction), np.full(len(truth), 2.0)
    true, predicted = truth.reshape(len(truth), -1), prediction.reshape(len(truth), -1)
    return 2.0 * (true * predicted).sum(axis=1), np.asarray((true + predicted).sum(axis=1), dtype=np.float64)


def precision_at_k(truth: Array, prediction: Array) -> Floats:
    """Return the average precision of each row's ranked list of length k.

    Args:
        truth: class codes, shape (rows,), or 0/1 by label, shape (rows, labels).
        prediction: codes, best first, shape (rows, k), padded with -1. Repeated codes count once.
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
    return divide((relevant * precision).sum(axis=1), total)


def squared_errors(truth: Array, prediction: Array) -> Floats:
    """Return squared errors, by column if there are several."""
    return np.asarray(np.square(truth - prediction), dtype=np.float64)


def absolute_errors(truth: Array, prediction: Array) -> Floats:
    """Return absolute errors, by column if there are several."""
    return np.asarray(np.abs(truth - prediction), dtype=np.float64)


def squared_log_errors(truth: Array, prediction: Array) -> Floats:
    """Return squared differences of log(1 + x), by column if there are several."""
    return np.asarray(np.square(np.log1p(truth) - np.log1p(prediction)), dtype=np.float64)


def relative_errors(truth: Array, prediction: Array) -> Floats:
    """Return absolute errors divided by |truth|, with machine epsilon in place of 0 as in scikit-learn."""
    return np.asarray(
        np.abs(truth - prediction) / np.maximum(np.abs(truth), np.finfo(np.float64).eps), dtype=np.float64
    )


def symmetric_errors(truth: Array, prediction: Array) -> Floats:
    """Return absolute errors in percent of the mean of |truth| and |prediction|; 0 where both are 0."""
    return divide(200.0 * np.abs(truth - prediction), np.abs(truth) + np.abs(prediction))


def poisson_deviances(truth: Array, prediction: Array) -> Floats:
    """Return Poisson deviances. Predictions below `RATE_FLOOR` are raised to it, so that the deviance is finite."""
    rate = np.maximum(prediction, RATE_FLOOR)
    ratio = np.where(truth > 0, truth / rate, 1.0)
    return np.asarray(2 * (truth * np.log(ratio) - truth + rate), dtype=np.float64)


def _cost(probability: Array) -> Floats:
    epsilon = np.finfo(np.float64).eps
    return np.asarray(-np.log(np.clip(probability, epsilon, 1 - epsilon)), dtype=np.float64)
