"""Best decision rules: from what the posterior says to what a submission should hold, one for each kind of metric."""

from collections.abc import Callable

import numpy as np

from sandmill.metrics.base import Array, DecisionRule, Floats, Tuning
from sandmill.metrics.cutoffs import (
    class_weights,
    densest_centres,
    f1_cutoff,
    kappa_offsets,
    name_grades,
    quadratic_price,
)
from sandmill.metrics.tallies import Finish
from sandmill.models.package import LIST_LENGTH
from sandmill.models.predictive import (
    ClassPredictive,
    LabelPredictive,
    NumberPredictive,
    NumbersPredictive,
    Predictive,
)

_CANDIDATES = 63
_LOSSES_AT_ONCE = 2_000_000


def positive_probability(predictive: Predictive, tuning: Tuning | None = None) -> Array:
    """P(positive), or P(label) for every label: the best order and the best probability are the posterior itself."""
    probabilities = _shares(predictive)
    return probabilities if isinstance(predictive, LabelPredictive) else probabilities[:, 1]


def probabilities_as_asked(predictive: Predictive, tuning: Tuning | None = None) -> Array:
    """The posterior itself: one column for two classes, else one for each class or label."""
    probabilities = _shares(predictive)
    is_binary = isinstance(predictive, ClassPredictive) and probabilities.shape[1] == 2
    return probabilities[:, 1] if is_binary else probabilities


def order_of(predictive: Predictive, tuning: Tuning | None = None) -> Array:
    """Something to rank by: P(positive) for classes, the mean for numbers."""
    return predictive.mean if isinstance(predictive, NumberPredictive) else positive_probability(predictive)


def likeliest_class(predictive: Predictive, tuning: Tuning | None = None) -> Array:
    """The most probable class; the first of equals."""
    return np.asarray(_classes(predictive).argmax(axis=1), dtype=np.int64)


def class_over_share(predictive: Predictive, tuning: Tuning | None = None) -> Array:
    """The class whose probability is largest relative to its share of all rows."""
    _, truth = _sample(predictive, tuning)
    shares = np.maximum(truth.mean(axis=0), 1e-12)
    return np.asarray((_classes(predictive) / shares).argmax(axis=1), dtype=np.int64)


def weighted_class(finish: Finish) -> DecisionRule:
    """Make a rule that names argmax(w * p), the weights tuned for a metric of tallies."""

    def rule(predictive: Predictive, tuning: Tuning | None = None) -> Array:
        weights = class_weights(*_sample(predictive, tuning), finish)
        return np.asarray((_classes(predictive) * weights).argmax(axis=1), dtype=np.int64)

    return rule


def class_for_kappa(predictive: Predictive, tuning: Tuning | None = None) -> Array:
    """The most probable class after a handicap for classes that are often right by chance."""
    offsets = kappa_offsets(*_sample(predictive, tuning))
    return np.asarray((_classes(predictive) - offsets).argmax(axis=1), dtype=np.int64)


def stretched_grade(predictive: Predictive, tuning: Tuning | None = None) -> Array:
    """The expected grade, stretched away from the mean grade and rounded: the best labels under quadratic kappa."""
    price, centre = quadratic_price(*_sample(predictive, tuning))
    return name_grades(_classes(predictive), price, centre).astype(np.int64)


def label_above_cutoff(predictive: Predictive, tuning: Tuning | None = None) -> Array:
    """Positive from the cut-off on that is best for F1."""
    probabilities, truth = _sample(predictive, tuning)
    cutoff = f1_cutoff(probabilities[:, 1], truth[:, 1])
    return np.asarray(_classes(predictive)[:, 1] >= cutoff, dtype=np.int64)


def likely_labels(predictive: Predictive, tuning: Tuning | None = None) -> Array:
    """Every label that is more likely than not."""
    return np.asarray(_labels(predictive) > 0.5, dtype=np.int64)


def labels_above_common_cutoff(predictive: Predictive, tuning: Tuning | None = None) -> Array:
    """Labels from one cut-off on, or the likeliest class where there is one class a row."""
    if isinstance(predictive, ClassPredictive):
        return likeliest_class(predictive)
    probabilities, truth = _sample(predictive, tuning)
    return np.asarray(_labels(predictive) >= f1_cutoff(probabilities.ravel(), truth.ravel()), dtype=np.int64)


def labels_above_own_cutoffs(predictive: Predictive, tuning: Tuning | None = None) -> Array:
    """Labels from a cut-off of their own on."""
    probabilities, truth = _sample(predictive, tuning)
    cutoffs = [f1_cutoff(p, t) for p, t in zip(probabilities.T, truth.T, strict=True)]
    return np.asarray(_labels(predictive) >= np.array(cutoffs), dtype=np.int64)


def either(of_classes: DecisionRule, of_labels: DecisionRule) -> DecisionRule:
    """Make a rule for a metric that serves both class codes and label sets."""

    def rule(predictive: Predictive, tuning: Tuning | None = None) -> Array:
        return (of_labels if isinstance(predictive, LabelPredictive) else of_classes)(predictive, tuning)

    return rule


def best_set_of_row(predictive: Predictive, tuning: Tuning | None = None) -> Array:
    """The likeliest labels of a row, as many as expected F1 says, at least one."""
    probabilities = _labels(predictive)
    order = np.argsort(-probabilities, axis=1, kind="stable")
    found = np.take_along_axis(probabilities, order, axis=1).cumsum(axis=1)
    sizes = np.arange(1, probabilities.shape[1] + 1)
    size = (2 * found / (sizes + probabilities.sum(axis=1, keepdims=True))).argmax(axis=1)
    chosen = np.zeros(probabilities.shape, dtype=np.int64)
    np.put_along_axis(chosen, order, (sizes - 1 <= size[:, None]).astype(np.int64), axis=1)
    return chosen


def ranked_list(predictive: Predictive, tuning: Tuning | None = None) -> Array:
    """Classes or labels by falling probability, as many as a list holds."""
    return np.asarray(np.argsort(-_shares(predictive), axis=1, kind="stable")[:, :LIST_LENGTH], dtype=np.int64)


def mean(predictive: Predictive, tuning: Tuning | None = None) -> Array:
    """The posterior mean."""
    return _number(predictive).mean


def median(predictive: Predictive, tuning: Tuning | None = None) -> Array:
    """The posterior median."""
    return _number(predictive).quantiles([0.5])[:, 0]


def densest_centre(predictive: Predictive, tuning: Tuning | None = None) -> Array:
    """The centre of the window that holds most of the probability, windows as wide as makes half of all errors fit."""
    return densest_centres(*_number(predictive).grid())


def relative_median(predictive: Predictive, tuning: Tuning | None = None) -> Array:
    """The median after weighting every value by 1 over its size."""
    floor = float(np.finfo(np.float64).eps)
    return _number(predictive).quantiles([0.5], lambda values: 1 / np.maximum(np.abs(values), floor))[:, 0]


def log_mean(predictive: Predictive, tuning: Tuning | None = None) -> Array:
    """exp(E log(1 + y)) - 1."""
    return np.asarray(np.expm1(_number(predictive).expect(np.log1p)), dtype=np.float64)


def least_expected(loss: Callable[[Array, Array], Floats]) -> DecisionRule:
    """Make a rule that tries evenly spaced quantiles and takes the one with the least expected loss."""

    def rule(predictive: Predictive, tuning: Tuning | None = None) -> Array:
        number = _number(predictive)
        values, weights = number.grid()
        tried = number.quantiles([place / (_CANDIDATES + 1) for place in range(1, _CANDIDATES + 1)])
        chosen = np.empty(len(values))
        step = max(1, _LOSSES_AT_ONCE // (values.shape[1] * _CANDIDATES))
        for start in range(0, len(values), step):
            rows = slice(start, start + step)
            losses = loss(values[rows, :, None], tried[rows, None, :])
            best = np.einsum("rg,rgc->rc", weights[rows], losses).argmin(axis=1)
            chosen[rows] = tried[rows][np.arange(len(best)), best]
        return chosen

    return rule


def expected_rank(predictive: Predictive, tuning: Tuning | None = None) -> Array:
    """The rank that a row's number is expected to have among all rows; the mean where only that is known."""
    number = _number(predictive)
    if not number.has_grid:
        return number.mean
    values, weights = number.grid()
    order = np.argsort(values, axis=None, kind="stable")
    drawn, pooled = weights.ravel()[order], values.ravel()[order]
    starts = np.flatnonzero(np.r_[True, pooled[1:] != pooled[:-1]])
    grouped = np.add.reduceat(drawn, starts)
    middle = np.repeat(np.cumsum(grouped) - grouped / 2, np.diff(np.r_[starts, len(pooled)]))
    rank = np.empty(len(pooled))
    rank[order] = middle
    return np.asarray((rank.reshape(values.shape) * weights).sum(axis=1) / len(values), dtype=np.float64)


def of_columns(rule: DecisionRule) -> DecisionRule:
    """Make a rule for several numbers: each column by itself."""

    def columns(predictive: Predictive, tuning: Tuning | None = None) -> Array:
        if not isinstance(predictive, NumbersPredictive):
            raise TypeError(f"a metric of columns needs several numbers, not {type(predictive).__name__}")
        return np.column_stack([rule(column, None) for column in predictive.columns])

    return columns


def _sample(predictive: Predictive, tuning: Tuning | None) -> tuple[Floats, Floats]:
    """Probabilities and truth to tune on: the tuning draw, or these rows with their own probabilities as truth."""
    if tuning is None:
        return _shares(predictive), _shares(predictive)
    probabilities, truth = _shares(tuning.predictive), np.asarray(tuning.truth)
    if truth.ndim == 1:
        truth = np.equal.outer(truth, np.arange(probabilities.shape[1]))
    return probabilities, truth.astype(np.float64)


def _classes(predictive: Predictive) -> Floats:
    if not isinstance(predictive, ClassPredictive):
        raise TypeError(f"a class metric needs class probabilities, not {type(predictive).__name__}")
    return predictive.probabilities


def _labels(predictive: Predictive) -> Floats:
    if not isinstance(predictive, LabelPredictive):
        raise TypeError(f"a label metric needs label probabilities, not {type(predictive).__name__}")
    return predictive.probabilities


def _shares(predictive: Predictive) -> Floats:
    if not isinstance(predictive, ClassPredictive | LabelPredictive):
        raise TypeError(f"a class metric needs class probabilities, not {type(predictive).__name__}")
    return predictive.probabilities


def _number(predictive: Predictive) -> NumberPredictive:
    if not isinstance(predictive, NumberPredictive):
        raise TypeError(f"a number metric needs a posterior mean, not {type(predictive).__name__}")
    return predictive
