"""Posterior of the target of each row, in the forms that decision rules need."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class ClassPredictive:
    """P(class | visible cells), shape (rows, classes). Rows sum to 1. Binary targets have the classes 0 and 1."""

    probabilities: Floats


@dataclass(frozen=True)
class LabelPredictive:
    """P(label | visible cells), shape (rows, labels). Labels of a row are treated as independent."""

    probabilities: Floats


@dataclass(frozen=True)
class NumberPredictive:
    """Posterior of a number: its mean, and a grid of weighted values for rules that need more."""

    mean: Floats
    """E[y | x], shape (rows,)."""
    make: Callable[[], tuple[Floats, Floats]] | None = None
    """Function that computes the grid on first use; None if only the mean is known."""

    @cached_property
    def grid(self) -> tuple[Floats, Floats]:
        """Possible values in any order, and their probabilities, which sum to 1 in each row; shape (rows, nodes)."""
        if self.make is None:
            raise TypeError("this rule needs the distribution of the number (values and weights), not only its mean")
        return self.make()

    def expect(self, function: Callable[[Floats], Floats]) -> Floats:
        """Return E[function(y) | x], shape (rows,)."""
        values, weights = self.grid
        return np.asarray((weights * function(values)).sum(axis=1), dtype=np.float64)

    def quantiles(self, levels: Sequence[float], reweight: Callable[[Floats], Floats] | None = None) -> Floats:
        """Return posterior quantiles, shape (rows, levels). `reweight` maps values to factors on their chances."""
        values, weights = self.grid
        weights = weights if reweight is None else weights * reweight(values)
        order = np.argsort(values, axis=1, kind="stable")
        below = np.take_along_axis(weights, order, axis=1).cumsum(axis=1)
        enough = below[:, -1:] * (1 - 1e-12)
        reached = np.column_stack([(below >= level * enough).argmax(axis=1) for level in levels])
        return np.asarray(np.take_along_axis(values, np.take_along_axis(order, reached, axis=1), axis=1))


@dataclass(frozen=True)
class NumbersPredictive:
    """Posteriors of several numbers, each treated separately."""

    columns: tuple[NumberPredictive, ...]


Predictive: TypeAlias = ClassPredictive | LabelPredictive | NumberPredictive | NumbersPredictive
