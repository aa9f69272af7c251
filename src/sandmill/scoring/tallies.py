"""Metrics of predicted classes, computed from how often each class was right, predicted and true."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from sandmill.scoring.base import Array, Floats, Resample, divide


@dataclass(frozen=True)
class Tallies:
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
Slopes: TypeAlias = Callable[[Tallies], tuple[Floats, Floats]]
"""Function from tallies to the derivatives of the score by `right` and by `predicted`, both up to a common positive
factor, shape (samples, classes)."""


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


def f1_positive(tallies: Tallies) -> Floats:
    """Return F1 of class 1; 0 where it is neither true nor predicted."""
    return np.nan_to_num(f1_by_class(tallies)[:, 1])


def f1_macro(tallies: Tallies) -> Floats:
    """Return the mean F1 of the classes that are true or predicted in any row."""
    return _mean_of_known(f1_by_class(tallies))


def f1_macro_slopes(tallies: Tallies) -> tuple[Floats, Floats]:
    """Return the slopes of macro-averaged F1. A class that is neither true nor predicted must not be predicted."""
    total = tallies.predicted + tallies.true
    return divide(np.full_like(total, 2.0), total), divide(-2 * tallies.right, np.square(total), -np.inf)


def balanced_accuracy(tallies: Tallies) -> Floats:
    """Return the mean recall of the classes that occur."""
    return _mean_of_known(divide(tallies.right, tallies.true, np.nan))


def mcc(tallies: Tallies) -> Floats:
    """Return the Matthews correlation for any number of classes; 0 where truth or prediction is constant."""
    total = tallies.true.sum(axis=1)
    covariance = tallies.right.sum(axis=1) * total - (tallies.predicted * tallies.true).sum(axis=1)
    spreads = [np.square(total) - np.square(side).sum(axis=1) for side in (tallies.predicted, tallies.true)]
    return divide(covariance, np.sqrt(np.maximum(spreads[0], 0) * np.maximum(spreads[1], 0)))


def mcc_slopes(tallies: Tallies) -> tuple[Floats, Floats]:
    """Return the slopes of the Matthews correlation, for a truth that is not constant."""
    total = tallies.true.sum(axis=1, keepdims=True)
    covariance = total * tallies.right.sum(axis=1, keepdims=True)
    covariance -= (tallies.predicted * tallies.true).sum(axis=1, keepdims=True)
    spread = np.square(total) - np.square(tallies.predicted).sum(axis=1, keepdims=True)
    by_right = np.broadcast_to(total, tallies.right.shape)
    return by_right, divide(covariance, spread) * tallies.predicted - tallies.true


def cohen_kappa(tallies: Tallies) -> Floats:
    """Return Cohen's kappa: 1 - errors / expected errors of the shuffled prediction; 1 if both are 0."""
    total = tallies.true.sum(axis=1)
    missed = total - tallies.right.sum(axis=1)
    by_chance = total - (tallies.predicted * tallies.true).sum(axis=1) / total
    return 1 - divide(missed, by_chance)


def quadratic_kappa(truth: Array, prediction: Array, counts: Floats) -> Floats:
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
