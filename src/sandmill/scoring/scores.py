"""Every metric, in numpy alone: one function of truth, prediction and bootstrap counts, under the metric's name.

The library scores with this module, and the graders of exports carry the functions that one metric needs, so nothing
of the package is imported here. Truth and prediction have one row for each item, and the shapes of the answer form.
Counts, shape (samples, rows), say how often a bootstrap sample draws each row; the score of all rows has a count of 1
everywhere. One product with the counts, or one sort, serves all samples.
"""

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Floats = NDArray[np.float64]

Resample: TypeAlias = Callable[[Array, Array, Floats], Floats]
"""Function from truth, prediction and counts, shape (samples, rows), to one score for each sample."""
RowLoss: TypeAlias = Callable[[Array, Array], Floats]
"""Truth and prediction to losses, shape (rows,) or (rows, columns)."""

EPSILON = float(np.finfo(np.float64).eps)
"""Distance of probabilities from 0 and 1 below which they are clipped, and the smallest rate of the Poisson deviance
and divisor of a relative error. All are as in scikit-learn."""

IOU_STEPS = np.arange(0.5, 1.0, 0.05)
"""Thresholds of `iou_thresholds`, with the rounding errors of the graders of the field."""

CONSTANT = 1e-24
"""Ratio of variance to mean square below which values count as constant."""


def divide(numerator: Array | float, denominator: Array, otherwise: float = 0.0) -> Floats:
    """Divide where the denominator is above 0; elsewhere the result is `otherwise`."""
    fallback = np.full(np.shape(denominator), otherwise)
    return np.asarray(np.divide(numerator, denominator, out=fallback, where=denominator > 0), dtype=np.float64)


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


def wrong_labels(truth: Array, prediction: Array) -> Floats:
    """Return the share of wrong labels of each row."""
    return np.asarray((truth != prediction).mean(axis=1), dtype=np.float64)


def row_f1(truth: Array, prediction: Array) -> Floats:
    """Return the F1 of each row's label set; 0 where both sets are empty, as in scikit-learn."""
    shared = (truth * prediction).sum(axis=1)
    total = (truth + prediction).sum(axis=1)
    return divide(2.0 * shared, total)


def dice_of_masks(truth: Array, prediction: Array) -> Floats:
    """Return twice the shared pixels over the pixels of both masks, for each picture; 1 where both masks are empty.

    Masks hold 0 and 1, shape (pictures, pixels).
    """
    shared, total = _overlaps(truth, prediction)
    return divide(2.0 * shared, total, otherwise=1.0)


def iou_of_masks(truth: Array, prediction: Array) -> Floats:
    """Return the share of `IOU_STEPS` below the intersection over union of each picture's masks.

    It is 1 where both masks are empty.
    """
    shared, total = _overlaps(truth, prediction)
    overlap = divide(shared, total - shared, otherwise=1.0)
    return np.asarray((overlap[:, None] > IOU_STEPS).mean(axis=1), dtype=np.float64)


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
    return np.asarray(np.abs(truth - prediction) / np.maximum(np.abs(truth), EPSILON), dtype=np.float64)


def symmetric_errors(truth: Array, prediction: Array) -> Floats:
    """Return absolute errors in percent of the mean of |truth| and |prediction|; 0 where both are 0."""
    return divide(200.0 * np.abs(truth - prediction), np.abs(truth) + np.abs(prediction))


def poisson_deviances(truth: Array, prediction: Array) -> Floats:
    """Return Poisson deviances. Predictions below `EPSILON` are raised to it, so that the deviance is finite."""
    rate = np.maximum(prediction, EPSILON)
    ratio = np.where(truth > 0, truth / rate, 1.0)
    return np.asarray(2 * (truth * np.log(ratio) - truth + rate), dtype=np.float64)


def _cost(probability: Array) -> Floats:
    return np.asarray(-np.log(np.clip(probability, EPSILON, 1 - EPSILON)), dtype=np.float64)


class Tallies(NamedTuple):
    """Counts by class, shape (samples, classes): the part of a confusion matrix that F1, MCC and kappa need."""

    right: Floats
    """Rows of the class that are predicted as the class."""
    predicted: Floats
    """Rows that are predicted as the class."""
    true: Floats
    """Rows of the class."""

    def towards(self, other: "Tallies", shares: Floats) -> "Tallies":
        """Return mixtures of two single samples, one for each share of the other."""
        right, predicted = (
            mine + shares[:, None] * (its - mine)
            for mine, its in ((self.right, other.right), (self.predicted, other.predicted))
        )
        return Tallies(right, predicted, np.broadcast_to(self.true, (len(shares), self.true.shape[1])))

    def sample(self, place: int) -> "Tallies":
        """Return one sample, shape (1, classes)."""
        return Tallies(*(side[place : place + 1] for side in (self.right, self.predicted, self.true)))


Finish: TypeAlias = Callable[[Tallies], Floats]
"""Function from tallies to scores, shape (samples,)."""


def of_tallies(finish: Finish) -> Resample:
    """Make a metric from a function of tallies, for class codes or for label sets as 0/1 columns."""

    def resample(truth: Array, prediction: Array, counts: Floats) -> Floats:
        if truth.ndim == 1:
            classes = range(int(max(truth.max(initial=1), prediction.max(initial=1))) + 1)
            truth, prediction = (np.equal.outer(codes, np.array(classes)) for codes in (truth, prediction))
        true, predicted = np.asarray(truth, dtype=np.float64), np.asarray(prediction, dtype=np.float64)
        return finish(Tallies(counts @ (true * predicted), counts @ predicted, counts @ true))

    return resample


def f1_by_class(tallies: Tallies) -> Floats:
    """Return F1 of each class, shape (samples, classes); NaN where a class is neither true nor predicted."""
    return divide(2 * tallies.right, tallies.predicted + tallies.true, np.nan)


def positive_f1(tallies: Tallies) -> Floats:
    """Return F1 of class 1; 0 where it is neither true nor predicted."""
    return np.nan_to_num(f1_by_class(tallies)[:, 1])


def macro_f1(tallies: Tallies) -> Floats:
    """Return the mean F1 of the classes that are true or predicted in any row."""
    return _mean_of_known(f1_by_class(tallies))


def mean_recall(tallies: Tallies) -> Floats:
    """Return the mean recall of the classes that occur."""
    return _mean_of_known(divide(tallies.right, tallies.true, np.nan))


def matthews(tallies: Tallies) -> Floats:
    """Return the Matthews correlation for any number of classes; 0 where truth or prediction is constant."""
    total = tallies.true.sum(axis=1)
    covariance = tallies.right.sum(axis=1) * total - (tallies.predicted * tallies.true).sum(axis=1)
    spreads = [np.square(total) - np.square(side).sum(axis=1) for side in (tallies.predicted, tallies.true)]
    return divide(covariance, np.sqrt(np.maximum(spreads[0], 0) * np.maximum(spreads[1], 0)))


def kappa(tallies: Tallies) -> Floats:
    """Return Cohen's kappa: 1 - errors / expected errors of the shuffled prediction; 1 if both are 0."""
    total = tallies.true.sum(axis=1)
    missed = total - tallies.right.sum(axis=1)
    by_chance = total - (tallies.predicted * tallies.true).sum(axis=1) / total
    return 1 - divide(missed, by_chance)


def qwk(truth: Array, prediction: Array, counts: Floats) -> Floats:
    """Return kappa with squared distances of class codes, computed from moments without a confusion matrix."""
    true, predicted = truth.astype(np.float64), prediction.astype(np.float64)
    total = counts.sum(axis=1)
    missed = counts @ np.square(true - predicted)
    first, second = (counts @ np.column_stack([true, predicted])).T
    squares = counts @ (np.square(true) + np.square(predicted))
    return 1 - divide(missed, squares - 2 * first * second / total)


def _mean_of_known(values: Floats) -> Floats:
    known = ~np.isnan(values)
    return divide(np.where(known, values, 0).sum(axis=1), known.sum(axis=1).astype(np.float64))


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


def by_column(metric: Resample) -> Resample:
    """Make the column-wise mean of a metric. All columns use the same bootstrap rows."""

    def columns(truth: Array, prediction: Array, counts: Floats) -> Floats:
        scores = [metric(truth[:, column], prediction[:, column], counts) for column in range(truth.shape[1])]
        return np.asarray(np.mean(scores, axis=0), dtype=np.float64)

    return columns


def over_pairs(metric: Resample) -> Resample:
    """Make a metric over all pairs of row and label. Bootstraps draw rows."""

    def pairs(truth: Array, prediction: Array, counts: Floats) -> Floats:
        width = truth.shape[1] if truth.ndim == 2 else 1
        return metric(truth.ravel(), prediction.ravel(), np.repeat(counts, width, axis=1))

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


def r2(truth: Array, prediction: Array, counts: Floats) -> Floats:
    """Return 1 - squared error / variance of the truth. For a constant truth it is 1 without an error, else 0."""
    centred = truth - truth.mean()
    spread = counts @ np.square(centred) - np.square(counts @ centred) / counts.sum(axis=1)
    left = counts @ np.square(truth - prediction)
    return np.asarray(np.where(spread > 0, 1 - divide(left, spread), left == 0), dtype=np.float64)


def pearson(truth: Array, prediction: Array, counts: Floats) -> Floats:
    """Return the linear correlation; 0 where the prediction is constant."""
    return correlation(_scaled(truth), _scaled(prediction), counts)


def medae(truth: Array, prediction: Array, counts: Floats) -> Floats:
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
        is_constant = spread <= CONSTANT * (counts * np.square(side)).sum(axis=1)
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


# The metrics that are made of the functions above.
accuracy = mean_of(hits)
exact_match = mean_of(hits)
accuracy_text = ratio_of(right_texts)
top1_error = mean_of(misses)
hamming_loss = mean_of(wrong_labels)
log_loss = mean_of(log_losses)
log_loss_columns = mean_of(label_log_losses)
brier = mean_of(squared_errors)
balanced_accuracy = of_tallies(mean_recall)
f1 = of_tallies(positive_f1)
f1_macro = of_tallies(macro_f1)
f1_micro = ratio_of(shared_labels)
f1_samples = mean_of(row_f1)
mcc = of_tallies(matthews)
cohen_kappa = of_tallies(kappa)
roc_auc_columns = by_column(roc_auc)
roc_auc_pairs = over_pairs(roc_auc)
lwlrap = ratio_of(label_precision)
map_at_k = mean_of(precision_at_k)
dice = mean_of(dice_of_masks)
iou_thresholds = mean_of(iou_of_masks)
rmse = mean_of(over_places(squared_errors), np.sqrt)
rmse_columns = mean_of(squared_errors, np.sqrt)
rmsle = mean_of(squared_log_errors, np.sqrt)
rmsle_columns = mean_of(squared_log_errors, np.sqrt)
mae = mean_of(absolute_errors)
mae_columns = mean_of(absolute_errors)
mape = mean_of(relative_errors)
smape = mean_of(symmetric_errors)
poisson_deviance = mean_of(poisson_deviances)
spearman_columns = by_column(spearman)
