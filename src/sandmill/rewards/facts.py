"""Which stated facts predictions use, measured against the predictions of the oracle. This file needs numpy alone.

A component is a stated quantity as the rule uses it, such as the logarithm of a formula. The residual of a component is
what raw columns, levels of categories, a model without the facts, and the other components do not explain of it. A fact
is caught as far as predictions follow this residual as those of the oracle do.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

MOST_VIF = 10.0
"""Variance inflation factor above which the covariates explain a component too well to tell whether it was used."""
_LARGEST_ERROR = 0.25
"""Standard error of noise. With a larger one the test has too few rows, or the fact matters too little, to tell."""
_ERRORS = 2.5
"""Standard errors by which predictions must follow the residual. Less is chance and counts as 0."""
_WHOLE = 0.6
"""Ratio of slopes that counts as 1. Models that use a fact learn its weight from about a hundred rows and shrink it."""
_LEAST_SIZE = 1e-9
"""Share of the largest eigenvalue, and of the number of rows, below which a direction counts as empty."""
_REACH = 5.0
"""Standard deviations at which components and covariates are cut."""


@dataclass(frozen=True)
class Caught:
    """How far predictions use a fact."""

    value: float
    """0 to 1: slope of predictions along the residual of the component in relation to that of the oracle."""
    error: float
    """Standard error of the value."""


class FactMeter:
    """Measures which facts predictions use. Strictly rising functions of predictions and oracle change nothing."""

    def __init__(self, components: Any, oracle: Any, covariates: Any, left_out: Any = None) -> None:
        """Compute what all predictions of the same items share.

        Args:
            components: stated quantities as the rule uses them, shape (n, k); missing cells are NaN.
            oracle: predictions of the oracle, finite numbers of test items, shape (n,), or (n, outputs) for several
                targets or classes.
            covariates: what can be known without the facts, shape (n, m): numbers, flags of levels, predictions of a
                model that does not use the facts.
            left_out: flags, shape (k, m): which covariates are not held against a component. A code table is a function
                of the levels of its column, so flags of these levels would leave nothing of it. None: no flag is set.
        """
        best, parts = np.asarray(oracle), _standardised(components)
        self.oracle = best
        """Predictions of the oracle."""
        scores = normal_scores(best)
        self._parts: list[_Part | None] = [None] * parts.shape[1]
        if best.dtype.kind in "biu" or not parts.shape[1]:
            return
        known = _standardised(covariates)
        flags = np.zeros((parts.shape[1], known.shape[1]), dtype=bool) if left_out is None else np.asarray(left_out)
        everything = _basis(known)
        for place, left in enumerate(flags):
            basis = _basis(known[:, ~left]) if left.any() else everything
            self._parts[place] = _part(parts, place, basis, scores)

    def measure(self, predictions: Any) -> list[Caught | None]:
        """Return one entry for each component, for finite predictions in the shape of the oracle.

        None where nothing can be said: for integers and booleans, which are labels, and for a component that the
        covariates explain, that the oracle hardly uses, or that too few rows show.
        """
        said = np.asarray(predictions)
        if said.shape != self.oracle.shape:
            raise ValueError(f"predictions of shape {said.shape}; those of the oracle have shape {self.oracle.shape}")
        if said.dtype.kind in "biu":
            return [None] * len(self._parts)
        scores = normal_scores(said)
        return [part.caught(scores) if part else None for part in self._parts]


@dataclass(frozen=True)
class _Part:
    """One component without what others explain of it."""

    others: Floats
    """Orthonormal basis of all that is held against the component."""
    rest: Floats
    along: Floats
    """Sums of the residual times the scores of the oracle, for each output."""
    beside: Floats
    """Scores of the oracle without what the basis and the residual explain of them."""

    def caught(self, said: Floats) -> Caught:
        strength = float(self.along @ self.along)
        ratio = float((self.rest @ said) @ self.along) / strength
        difference = _without(said, self.others, self.rest) - ratio * self.beside
        error = float(np.linalg.norm(self.rest * (difference @ self.along)) / strength)
        error *= float(np.sqrt(len(said) / (len(said) - self.others.shape[1])))
        return Caught(min(1.0, ratio / _WHOLE) if ratio > _ERRORS * error else 0.0, error / _WHOLE)


def _part(parts: Floats, place: int, basis: Floats, best: Floats) -> _Part | None:
    """Prepare one component; None if nothing can be said of it."""
    further = np.delete(parts, place, axis=1)
    further = _basis(further - basis @ (basis.T @ further), constant=False)
    others = np.column_stack([basis, further])
    rest = parts[:, place] - others @ (others.T @ parts[:, place])
    size, rows = float(rest @ rest), len(rest)
    if size < rows / MOST_VIF or others.shape[1] > rows / 2:
        return None
    along = rest @ best
    if size > _LARGEST_ERROR**2 * float(along @ along):
        return None
    return _Part(others, rest, along, _without(best, others, rest))


def _without(scores: Floats, others: Floats, rest: Floats) -> Floats:
    return np.asarray(scores - others @ (others.T @ scores) - np.outer(rest, rest @ scores) / (rest @ rest))


def normal_scores(values: Any) -> Floats:
    """Replace the numbers of each column by normal scores of their ranks, of variance 1; equal numbers share one.

    A constant column becomes 0.
    """
    columns = np.asarray(values, dtype=np.float64)
    columns = columns.reshape(len(columns), -1)
    made = np.zeros(columns.shape)
    for place, column in enumerate(columns.T):
        _, which, counts = np.unique(column, return_inverse=True, return_counts=True)
        middle = (np.cumsum(counts) - counts / 2) / len(column)
        scores = _normal_quantile(middle)[which]
        scores = scores - scores.mean()
        spread = scores.std()
        made[:, place] = scores / spread if len(counts) > 1 and spread > 0 else 0.0
    return made


def _normal_quantile(chance: Floats) -> Floats:
    """Return the normal quantile by the approximation of Odeh and Evans, whose error is below 1e-6."""
    tail = np.sqrt(-2 * np.log(np.minimum(chance, 1 - chance)))
    top = np.polyval([-0.0000453642210148, -0.0204231210245, -0.342242088547, -1.0, -0.322232431088], tail)
    bottom = np.polyval([0.0038560700634, 0.103537752850, 0.531103462366, 0.588581570495, 0.0993484626060], tail)
    return np.asarray(np.sign(chance - 0.5) * (tail + top / bottom))


def _standardised(columns: Any) -> Floats:
    """Centre and scale columns; missing cells become 0, the mean, and cells far out are cut."""
    made = np.asarray(columns, dtype=np.float64)
    made = np.where(np.isfinite(made), made, np.nan)
    missing = np.isnan(made)
    counts = np.maximum((~missing).sum(axis=0), 1)
    made = np.where(missing, 0.0, made - np.where(missing, 0.0, made).sum(axis=0) / counts)
    spread = np.sqrt(np.square(made).sum(axis=0) / counts)
    made = np.clip(made / np.where(spread > 1e-12, spread, np.inf), -_REACH, _REACH)
    made = made - made.mean(axis=0)
    spread = made.std(axis=0)
    return np.asarray(made / np.where(spread > 1e-12, spread, np.inf))


def _basis(columns: Floats, *, constant: bool = True) -> Floats:
    """Return an orthonormal basis of the columns, and of the constant if asked for."""
    wide = np.column_stack([np.ones(len(columns)), columns]) if constant else columns
    sizes, directions = np.linalg.eigh(wide.T @ wide)
    kept = sizes > max(_LEAST_SIZE * len(columns), _LEAST_SIZE * sizes.max(initial=0.0))
    return np.asarray(wide @ (directions[:, kept] / np.sqrt(sizes[kept])))
