"""Best decision rules: from the posterior to the prediction with the best expected score, for each metric."""

from collections.abc import Callable
from typing import TypeVar

import numpy as np

from sandmill.models.package import LIST_LENGTH
from sandmill.models.predictive import ClassPredictive, LabelPredictive, NumberPredictive, NumbersPredictive, Predictive
from sandmill.scoring import cutoffs
from sandmill.scoring.base import Array, DecisionRule, Floats
from sandmill.scoring.cutoffs import Slopes
from sandmill.scoring.scores import Finish, macro_f1, matthews, positive_f1, symmetric_errors

AnyPredictive = TypeVar("AnyPredictive", bound=Predictive)

_CANDIDATES = 63
"""Quantiles that `least_expected` tries."""
_LOSSES_PER_BLOCK = 2_000_000
"""Number of losses computed in one step; smaller steps need less memory."""


def positive_probability(predictive: Predictive, tuning: Predictive | None = None) -> Array:
    """Return P(positive), or P(label) for every label."""
    probabilities = _shares(predictive)
    return probabilities if isinstance(predictive, LabelPredictive) else probabilities[:, 1]


def probabilities_as_asked(predictive: Predictive, tuning: Predictive | None = None) -> Array:
    """Return the posterior probabilities: P(positive) for two classes, else a column for each class or label."""
    probabilities = _shares(predictive)
    is_binary = isinstance(predictive, ClassPredictive) and probabilities.shape[1] == 2
    return probabilities[:, 1] if is_binary else probabilities


def order_of(predictive: Predictive, tuning: Predictive | None = None) -> Array:
    """Return values to rank rows by: P(positive) for classes, the mean for numbers."""
    return predictive.mean if isinstance(predictive, NumberPredictive) else positive_probability(predictive)


def likeliest_class(predictive: Predictive, tuning: Predictive | None = None) -> Array:
    """Return the most probable class; the first of equals."""
    return np.asarray(_classes(predictive).argmax(axis=1), dtype=np.int64)


def class_over_share(predictive: Predictive, tuning: Predictive | None = None) -> Array:
    """Return the class whose probability is largest relative to its share of all rows."""
    shares = np.maximum(_tuned_on(predictive, tuning).mean(axis=0), 1e-12)
    return np.asarray((_classes(predictive) / shares).argmax(axis=1), dtype=np.int64)


def affine_class(finish: Finish, slopes: Slopes) -> DecisionRule:
    """Make a rule that predicts argmax(a * p + b), with a and b tuned for a metric of tallies."""

    def rule(predictive: Predictive, tuning: Predictive | None = None) -> Array:
        probabilities, sample = _classes(predictive), _tuned_on(predictive, tuning)
        if probabilities.shape[1] == 2:
            return np.asarray(probabilities[:, 1] >= cutoffs.best_cutoff(sample[:, 1], finish), dtype=np.int64)
        return cutoffs.affine_rule(sample, finish, slopes).classes(probabilities)

    return rule


def class_for_kappa(predictive: Predictive, tuning: Predictive | None = None) -> Array:
    """Return the most probable class after tuned offsets, which lower classes that are often right by chance."""
    offsets = cutoffs.kappa_offsets(_tuned_on(predictive, tuning))
    return np.asarray((_classes(predictive) - offsets).argmax(axis=1), dtype=np.int64)


def stretched_grade(predictive: Predictive, tuning: Predictive | None = None) -> Array:
    """Return the expected grade, stretched away from the mean grade and rounded, which is best for quadratic kappa."""
    price, centre = cutoffs.quadratic_price(_tuned_on(predictive, tuning))
    return cutoffs.stretched_grades(_classes(predictive), price, centre).astype(np.int64)


def label_above_cutoff(predictive: Predictive, tuning: Predictive | None = None) -> Array:
    """Predict the positive class at or above the best cut-off for F1."""
    cutoff = cutoffs.best_cutoff(_tuned_on(predictive, tuning)[:, 1], positive_f1)
    return np.asarray(_classes(predictive)[:, 1] >= cutoff, dtype=np.int64)


def likely_labels(predictive: Predictive, tuning: Predictive | None = None) -> Array:
    """Predict all labels with a probability above 0.5."""
    return np.asarray(_labels(predictive) > 0.5, dtype=np.int64)


def labels_above_common_cutoff(predictive: Predictive, tuning: Predictive | None = None) -> Array:
    """Predict labels at or above one common cut-off, or the most probable class if rows have one class."""
    if isinstance(predictive, ClassPredictive):
        return likeliest_class(predictive)
    cutoff = cutoffs.best_cutoff(_tuned_on(predictive, tuning).ravel(), positive_f1)
    return np.asarray(_labels(predictive) >= cutoff, dtype=np.int64)


def labels_above_own_cutoffs(predictive: Predictive, tuning: Predictive | None = None) -> Array:
    """Predict labels at or above a cut-off of their own."""
    own = [cutoffs.best_cutoff(label, positive_f1) for label in _tuned_on(predictive, tuning).T]
    return np.asarray(_labels(predictive) >= np.array(own), dtype=np.int64)


def either(of_classes: DecisionRule, of_labels: DecisionRule) -> DecisionRule:
    """Make a rule for a metric of both single classes and label sets."""

    def rule(predictive: Predictive, tuning: Predictive | None = None) -> Array:
        return (of_labels if isinstance(predictive, LabelPredictive) else of_classes)(predictive, tuning)

    return rule


def best_set_of_row(predictive: Predictive, tuning: Predictive | None = None) -> Array:
    """Predict the most probable labels of each row: the number that maximises expected F1, at least one."""
    probabilities = _labels(predictive)
    order = np.argsort(-probabilities, axis=1, kind="stable")
    found = np.take_along_axis(probabilities, order, axis=1).cumsum(axis=1)
    sizes = np.arange(1, probabilities.shape[1] + 1)
    size = (2 * found / (sizes + probabilities.sum(axis=1, keepdims=True))).argmax(axis=1)
    chosen = np.zeros(probabilities.shape, dtype=np.int64)
    np.put_along_axis(chosen, order, (sizes - 1 <= size[:, None]).astype(np.int64), axis=1)
    return chosen


def ranked_list(predictive: Predictive, tuning: Predictive | None = None) -> Array:
    """Return the most probable classes or labels, best first, up to `LIST_LENGTH`."""
    return np.asarray(np.argsort(-_shares(predictive), axis=1, kind="stable")[:, :LIST_LENGTH], dtype=np.int64)


def not_drawn(predictive: Predictive, tuning: Predictive | None = None) -> Array:
    """Refuse: targets of the metric are rendered with their best prediction, and have no posterior.

    Raises:
        TypeError: always.
    """
    raise TypeError("targets of this metric have no posterior")


def mean(predictive: Predictive, tuning: Predictive | None = None) -> Array:
    """Return the posterior mean."""
    return _number(predictive).mean


def median(predictive: Predictive, tuning: Predictive | None = None) -> Array:
    """Return the posterior median."""
    return _number(predictive).quantiles([0.5])[:, 0]


def densest_centre(predictive: Predictive, tuning: Predictive | None = None) -> Array:
    """Return the centre of the window with the largest probability. See `densest_centres`."""
    return cutoffs.densest_centres(*_number(predictive).grid)


def relative_median(predictive: Predictive, tuning: Predictive | None = None) -> Array:
    """Return the median after weighting each value y by 1 / |y|."""
    floor = float(np.finfo(np.float64).eps)
    return _number(predictive).quantiles([0.5], lambda values: 1 / np.maximum(np.abs(values), floor))[:, 0]


def log_mean(predictive: Predictive, tuning: Predictive | None = None) -> Array:
    """Return exp(E log(1 + y)) - 1."""
    return np.asarray(np.expm1(_number(predictive).expect(np.log1p)), dtype=np.float64)


def least_expected(loss: Callable[[Array, Array], Floats]) -> DecisionRule:
    """Make a rule that returns the quantile with the lowest expected loss, among evenly spaced ones."""

    def rule(predictive: Predictive, tuning: Predictive | None = None) -> Array:
        number = _number(predictive)
        values, weights = number.grid
        tried = number.quantiles([place / (_CANDIDATES + 1) for place in range(1, _CANDIDATES + 1)])
        chosen = np.empty(len(values))
        step = max(1, _LOSSES_PER_BLOCK // (values.shape[1] * _CANDIDATES))
        for start in range(0, len(values), step):
            rows = slice(start, start + step)
            losses = loss(values[rows, :, None], tried[rows, None, :])
            best = np.einsum("rg,rgc->rc", weights[rows], losses).argmin(axis=1)
            chosen[rows] = tried[rows][np.arange(len(best)), best]
        return chosen

    return rule


def expected_rank(predictive: Predictive, tuning: Predictive | None = None) -> Array:
    """Return the expected rank of each row's number among all rows, or the mean if only that is known."""
    number = _number(predictive)
    if number.make is None:
        return number.mean
    values, weights = number.grid
    order = np.argsort(values, axis=None, kind="stable")
    drawn, pooled = weights.ravel()[order], values.ravel()[order]
    starts = np.flatnonzero(np.r_[True, pooled[1:] != pooled[:-1]])
    grouped = np.add.reduceat(drawn, starts)
    middle = np.repeat(np.cumsum(grouped) - grouped / 2, np.diff(np.r_[starts, len(pooled)]))
    rank = np.empty(len(pooled))
    rank[order] = middle
    return np.asarray((rank.reshape(values.shape) * weights).sum(axis=1) / len(values), dtype=np.float64)


def of_columns(rule: DecisionRule) -> DecisionRule:
    """Make a rule for several numbers that treats each column separately."""

    def columns(predictive: Predictive, tuning: Predictive | None = None) -> Array:
        several = _as(NumbersPredictive, predictive, "a metric of columns needs several numbers")
        return np.column_stack([rule(column, None) for column in several.columns])

    return columns


def _tuned_on(predictive: Predictive, tuning: Predictive | None) -> Floats:
    """Return the probabilities on which a rule is tuned.

    They are those of the tuning rows, or those of the rows to predict if there are no tuning rows.
    """
    return _shares(predictive if tuning is None else tuning)


def _classes(predictive: Predictive) -> Floats:
    return _as(ClassPredictive, predictive, "a class metric needs class probabilities").probabilities


def _labels(predictive: Predictive) -> Floats:
    return _as(LabelPredictive, predictive, "a label metric needs label probabilities").probabilities


def _shares(predictive: Predictive) -> Floats:
    return predictive.probabilities if isinstance(predictive, LabelPredictive) else _classes(predictive)


def _number(predictive: Predictive) -> NumberPredictive:
    return _as(NumberPredictive, predictive, "a number metric needs a posterior mean")


def _as(kind: type[AnyPredictive], predictive: Predictive, need: str) -> AnyPredictive:
    if not isinstance(predictive, kind):
        raise TypeError(f"{need}, not {type(predictive).__name__}")
    return predictive


class_for_matthews = affine_class(matthews, cutoffs.matthews_slopes)
classes_or_labels_for_f1 = either(affine_class(macro_f1, cutoffs.macro_f1_slopes), labels_above_own_cutoffs)
least_symmetric_error = least_expected(symmetric_errors)
mean_of_columns = of_columns(mean)
median_of_columns = of_columns(median)
log_mean_of_columns = of_columns(log_mean)
expected_rank_of_columns = of_columns(expected_rank)
