"""Metrics of hard decisions: all that they need is how often each class was right, named and true."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from sandmill.metrics.base import Array, Floats, Resample


@dataclass(frozen=True)
class Tallies:
    """Counts by class, shape (samples, classes): the part of a confusion matrix that F1, MCC and kappa are made of."""

    right: Floats
    named: Floats
    true: Floats


Finish: TypeAlias = Callable[[Tallies], Floats]
"""Tallies to scores, shape (samples,)."""


def of_tallies(finish: Finish) -> Resample:
    """Make a metric of a function of tallies. Class codes, or label sets as 0/1 columns."""

    def resample(truth: Array, prediction: Array, counts: Floats) -> Floats:
        if truth.ndim == 1:
            classes = range(int(max(truth.max(initial=1), prediction.max(initial=1))) + 1)
            truth, prediction = (np.equal.outer(codes, np.array(classes)) for codes in (truth, prediction))
        true, named = np.asarray(truth, dtype=np.float64), np.asarray(prediction, dtype=np.float64)
        return finish(Tallies(counts @ (true * named), counts @ named, counts @ true))

    return resample


def f1_by_class(tallies: Tallies) -> Floats:
    """F1 of each class, shape (samples, classes); NaN where a class is neither true nor named."""
    return _divide(2 * tallies.right, tallies.named + tallies.true, np.nan)


def f1_positive(tallies: Tallies) -> Floats:
    """F1 of class 1; 0 where it is neither true nor named."""
    return np.nan_to_num(f1_by_class(tallies)[:, 1])


def f1_macro(tallies: Tallies) -> Floats:
    """Mean F1 of the classes that are true or named somewhere."""
    return _mean_of_known(f1_by_class(tallies))


def balanced_accuracy(tallies: Tallies) -> Floats:
    """Mean share found of the classes that occur."""
    return _mean_of_known(_divide(tallies.right, tallies.true, np.nan))


def mcc(tallies: Tallies) -> Floats:
    """Matthews correlation of two codings of the rows, for any number of classes; 0 where either is constant."""
    total = tallies.true.sum(axis=1)
    covariance = tallies.right.sum(axis=1) * total - (tallies.named * tallies.true).sum(axis=1)
    spreads = [np.square(total) - np.square(side).sum(axis=1) for side in (tallies.named, tallies.true)]
    return _divide(covariance, np.sqrt(np.maximum(spreads[0], 0) * np.maximum(spreads[1], 0)), 0.0)


def cohen_kappa(tallies: Tallies) -> Floats:
    """Agreement beyond chance: 1 minus misses over the misses of a shuffled prediction; 1 if neither ever misses."""
    total = tallies.true.sum(axis=1)
    missed = total - tallies.right.sum(axis=1)
    by_chance = total - (tallies.named * tallies.true).sum(axis=1) / total
    return 1 - _divide(missed, by_chance, 0.0)


def quadratic_kappa(truth: Array, prediction: Array, counts: Floats) -> Floats:
    """Kappa with squared distances of class codes, from moments: no confusion matrix is needed."""
    true, said = truth.astype(np.float64), prediction.astype(np.float64)
    total = counts.sum(axis=1)
    missed = counts @ np.square(true - said)
    first, second = (counts @ np.column_stack([true, said])).T
    squares = counts @ (np.square(true) + np.square(said))
    return 1 - _divide(missed, squares - 2 * first * second / total, 0.0)


def _divide(upper: Floats, lower: Floats, otherwise: float) -> Floats:
    return np.asarray(
        np.divide(upper, lower, out=np.full(np.shape(lower), otherwise), where=lower > 0), dtype=np.float64
    )


def _mean_of_known(values: Floats) -> Floats:
    known = ~np.isnan(values)
    return _divide(np.where(known, values, 0).sum(axis=1), known.sum(axis=1).astype(np.float64), 0.0)
