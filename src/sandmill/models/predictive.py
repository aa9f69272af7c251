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
    values: Floats | None = None
    """Grid of possible values, shape (rows, nodes), in any order."""
    weights: Floats | None = None
    """Probabilities of the values, shape (rows, nodes) or (nodes,). They sum to 1 in each row."""
    make: Callable[[], tuple[Floats, Floats]] | None = None
    """Function that computes values and weights on first use."""

    @classmethod
    def on_grid(cls, values: Floats, weights: Floats) -> "NumberPredictive":
        """Make a posterior from a grid, and compute the mean from it."""
        return cls((values * weights).sum(axis=1), values, np.broadcast_to(weights, values.shape))

    @property
    def has_grid(self) -> bool:
        """Whether a grid is available besides the mean."""
        return self.make is not None or (self.values is not None and self.weights is not None)

    def grid(self) -> tuple[Floats, Floats]:
        """Return values and weights, both of shape (rows, nodes).

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
        """Return E[function(y) | x], shape (rows,)."""
        values, weights = self.grid()
        return np.asarray((weights * function(values)).sum(axis=1), dtype=np.float64)

    def quantiles(self, levels: Sequence[float], reweight: Callable[[Floats], Floats] | None = None) -> Floats:
        """Return posterior quantiles, shape (rows, levels).

        Args:
            levels: probabilities between 0 and 1.
            reweight: factor on the probability of each value, as a function of the value.
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
    """Posteriors of several numbers, each treated separately."""

    columns: tuple[NumberPredictive, ...]


Predictive: TypeAlias = ClassPredictive | LabelPredictive | NumberPredictive | NumbersPredictive
