"""What the posterior says about rows, in the form that a metric's decision rule needs."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class ClassPredictive:
    """P(class | what an agent sees), shape (rows, classes), rows sum to 1. Binary: two classes, 0 and 1.

    For targets that are shares of classes: their expected values.
    """

    probabilities: Floats


@dataclass(frozen=True)
class LabelPredictive:
    """P(label | what an agent sees), shape (rows, labels); given the row, labels are independent of each other."""

    probabilities: Floats


@dataclass(frozen=True)
class NumberPredictive:
    """Distribution of a number given what an agent sees: its mean, and a weighted grid where rules need more."""

    mean: Floats
    """E[y | x], shape (rows,)."""
    values: Floats | None = None
    """Possible values, shape (rows, nodes), in any order."""
    weights: Floats | None = None
    """Their probabilities, shape (rows, nodes) or (nodes,), summing to 1 by row."""
    make: Callable[[], tuple[Floats, Floats]] | None = None
    """Makes values and weights when a rule first asks for them."""

    @classmethod
    def on_grid(cls, values: Floats, weights: Floats) -> "NumberPredictive":
        """Make one from a grid alone; the mean follows from it."""
        return cls((values * weights).sum(axis=1), values, np.broadcast_to(weights, values.shape))

    @property
    def has_grid(self) -> bool:
        """Whether more than the mean is known."""
        return self.make is not None or (self.values is not None and self.weights is not None)

    def grid(self) -> tuple[Floats, Floats]:
        """Values and weights, both of shape (rows, nodes).

        Raises:
            TypeError: if only the mean is known.
        """
        return self._grid

    @cached_property
    def _grid(self) -> tuple[Floats, Floats]:
        if self.values is not None and self.weights is not None:
            return self.values, np.broadcast_to(self.weights, self.values.shape)
        if self.make is None:
            raise TypeError("this rule needs the distribution of the number (values and weights), not only its mean")
        return self.make()

    def expect(self, function: Callable[[Floats], Floats]) -> Floats:
        """E[function(y) | x], shape (rows,)."""
        values, weights = self.grid()
        return np.asarray((weights * function(values)).sum(axis=1), dtype=np.float64)

    def quantiles(self, levels: Sequence[float], reweight: Callable[[Floats], Floats] | None = None) -> Floats:
        """Smallest values with at least so much of the probability at or below them, shape (rows, levels).

        Args:
            levels: between 0 and 1.
            reweight: factor of each value's probability, as a function of the value; 1 if absent.
        """
        values, weights = self.grid()
        weights = weights if reweight is None else weights * reweight(values)
        order = np.argsort(values, axis=1, kind="stable")
        below = np.take_along_axis(weights, order, axis=1).cumsum(axis=1)
        enough = below[:, -1:] * (1 - 1e-12)
        reached = np.column_stack([(below >= level * enough).argmax(axis=1) for level in levels])
        return np.asarray(np.take_along_axis(values, np.take_along_axis(order, reached, axis=1), axis=1))


@dataclass(frozen=True)
class NumbersPredictive:
    """Distributions of several numbers of one row, each by itself."""

    columns: tuple[NumberPredictive, ...]


Predictive: TypeAlias = ClassPredictive | LabelPredictive | NumberPredictive | NumbersPredictive
