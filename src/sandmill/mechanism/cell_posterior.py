"""Posterior of a true cell given the visible one, as a few weighted values in each row.

- Missing cell: the chance of a gap depends only on columns without faults, so missingness is ignorable. The cell has
  its declared distribution, given the column's parent.
- Possible unit mix-up: the true value is the visible one, or the visible one divided by the factor.
- Possible outlier: the true value is the visible one, or has the declared distribution as if the cell were missing.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sandmill.mechanism.columns import Floats, log_density, probability_below, quantile, shift_of, unrounded
from sandmill.models.columns import Categorical, Column, Cycle
from sandmill.models.faults import CellFault, Missing, Outliers, UnitMixup

MISSING_NODES, OUTLIER_NODES = 24, 8
"""Gauss-Legendre nodes for each continuous piece of a missing cell and of a possible outlier. Outliers need fewer:
every row has such a cell, and in most rows the visible value is almost certain."""


@dataclass(frozen=True)
class Mixture:
    """Possible values of a number and their probabilities, both of shape (rows, nodes). Weights of a row sum to 1."""

    values: Floats
    weights: Floats


def cell_posterior(column: Column, fault: CellFault, cuts: Sequence[float], observed: Mapping[str, Floats]) -> Mixture:
    """Compute the posterior of a column's true cells under a declared fault.

    The integral is split at `cuts`, the values of the column at which the rule jumps. For `Missing`, the observed rows
    must be those in which this column is empty.
    """
    seen, shift = observed[column.name], shift_of(column, observed)
    match fault:
        case Missing():
            return _prior(column, cuts, shift, len(seen), MISSING_NODES)
        case UnitMixup(factor=factor, rate=rate):
            values = np.column_stack([seen, seen / factor])
            logs = log_density(column, values, _as_column(shift)) + np.log([1 - rate, rate / factor])
            return Mixture(values, _normalized(logs))
        case Outliers(rate=rate, spread=spread):
            as_seen = np.log(1 - rate) + log_density(column, seen, shift)
            as_error = np.log(rate) + log_density(column, seen, shift, spread)
            trust = _normalized(np.column_stack([as_seen, as_error]))
            hidden = _prior(column, cuts, shift, len(seen), OUTLIER_NODES)
            values = np.column_stack([seen, hidden.values])
            return Mixture(values, np.column_stack([trust[:, 0], trust[:, 1:] * hidden.weights]))


def _prior(column: Column, cuts: Sequence[float], shift: Floats | float, rows: int, nodes: int) -> Mixture:
    """Return the declared distribution as nodes: all values of a discrete column, else Gauss-Legendre between cuts."""
    match column.distribution:
        case Categorical(levels=levels, shares=shares):
            return _same_for_all(np.arange(len(levels), dtype=np.float64), np.asarray(shares, dtype=np.float64), rows)
        case Cycle(first=first, period=period):
            return _same_for_all(np.arange(first, first + period, dtype=np.float64), np.full(period, 1 / period), rows)
    shift = _as_column(np.broadcast_to(shift, (rows,)))
    inner = [probability_below(column, cut, shift) for cut in sorted(cuts)]
    edges = np.column_stack([np.zeros(rows), *inner, np.ones(rows)])
    # Cuts lie between two values that the files can hold, so no unrounded value moves to the other side of a cut.
    u, weights = legendre(edges, nodes)
    return Mixture(quantile(unrounded(column), u, shift), weights)


def legendre(below: Floats, nodes: int) -> tuple[Floats, Floats]:
    """Return nodes and weights of Gauss-Legendre quadrature for probabilities.

    Each pair of neighbours on the last axis of `below` bounds an interval, which gets `nodes` nodes.
    """
    x, w = np.polynomial.legendre.leggauss(nodes)
    widths = np.maximum(np.diff(below, axis=-1), 0.0)[..., None]
    u = below[..., :-1, None] + widths * (x + 1) / 2
    shape = (*below.shape[:-1], -1)
    return np.clip(u, 1e-15, 1 - 1e-15).reshape(shape), (widths * w / 2).reshape(shape)


def _same_for_all(values: Floats, weights: Floats, rows: int) -> Mixture:
    return Mixture(np.tile(values, (rows, 1)), np.tile(weights, (rows, 1)))


def _as_column(shift: Floats | float) -> Floats:
    return np.asarray(shift, dtype=np.float64).reshape(-1, 1)


def _normalized(logs: Floats) -> Floats:
    weights = np.exp(logs - logs.max(axis=1, keepdims=True))
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))
