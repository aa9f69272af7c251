"""What a visible cell says about the true one: a few values with weights, row by row.

Gaps depend on columns that are always there, so they are ignorable: given its parent, a hidden cell has its declared
distribution. A cell that may be in another unit is one of two values, weighed by their densities. A cell that may be a
gross error is either itself or, as a gap, anything.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sandmill.mechanism.columns import Floats, log_density, probability_below, quantile
from sandmill.mechanism.sampling import shift_of
from sandmill.models.mechanism import Categorical, CellFault, Column, Cycle, Missing, Outliers, UnitMixup

NODES, NODES_OF_ERRORS = 24, 8
"""Gauss-Legendre nodes in each piece of a hidden continuous cell: one that is a gap, and one that may be an error, of
which every row has one and few have much doubt."""
_EXACT_DECIMALS = 6
"""Hidden cells are integrated as if they were not rounded; cuts lie between writable values, so jumps stay right."""


@dataclass(frozen=True)
class Belief:
    """True values that cells may have: both of shape (rows, nodes), weights sum to 1 in each row."""

    values: Floats
    weights: Floats


def believe(column: Column, fault: CellFault, cuts: Sequence[float], observed: Mapping[str, Floats]) -> Belief:
    """Weigh the true values of a column's cells.

    Args:
        column: declaration.
        fault: what may have happened to the cells.
        cuts: where the rule jumps along the column.
        observed: the rows' visible cells by column; for `Missing`, rows in which this column is a gap.
    """
    seen, shift = observed[column.name], shift_of(column, observed)
    match fault:
        case Missing():
            return _anything(column, cuts, shift, len(seen), NODES)
        case UnitMixup(factor=factor, rate=rate):
            values = np.column_stack([seen, seen / factor])
            logs = log_density(column, values, _as_column(shift)) + np.log([1 - rate, rate / factor])
            return Belief(values, _normalized(logs))
        case Outliers(rate=rate, spread=spread):
            as_seen = np.log(1 - rate) + log_density(column, seen, shift)
            as_error = np.log(rate) + log_density(column, seen, shift, spread)
            trust = _normalized(np.column_stack([as_seen, as_error]))
            hidden = _anything(column, cuts, shift, len(seen), NODES_OF_ERRORS)
            values = np.column_stack([seen, hidden.values])
            return Belief(values, np.column_stack([trust[:, 0], trust[:, 1:] * hidden.weights]))


def _anything(column: Column, cuts: Sequence[float], shift: Floats | float, rows: int, nodes: int) -> Belief:
    """The declared distribution as nodes: exact for discrete columns, in pieces between cuts for continuous ones."""
    match column.distribution:
        case Categorical(levels=levels, shares=shares):
            return _same_for_all(np.arange(len(levels), dtype=np.float64), np.asarray(shares, dtype=np.float64), rows)
        case Cycle(first=first, period=period):
            return _same_for_all(np.arange(first, first + period, dtype=np.float64), np.full(period, 1 / period), rows)
    shift = _as_column(np.broadcast_to(shift, (rows,)))
    inner = [probability_below(column, cut, shift) for cut in sorted(cuts)]
    edges = np.column_stack([np.zeros(rows), *inner, np.ones(rows)])
    x, w = np.polynomial.legendre.leggauss(nodes)
    widths = np.diff(edges, axis=1)[:, :, None]
    u = edges[:, :-1, None] + widths * (x + 1) / 2
    weights = widths * w / 2
    exact = column.model_copy(update={"decimals": _EXACT_DECIMALS})
    inside = np.clip(u.reshape(rows, -1), 1e-15, 1 - 1e-15)
    return Belief(quantile(exact, inside, shift), weights.reshape(rows, -1))


def _same_for_all(values: Floats, weights: Floats, rows: int) -> Belief:
    return Belief(np.tile(values, (rows, 1)), np.tile(weights, (rows, 1)))


def _as_column(shift: Floats | float) -> Floats:
    return np.asarray(shift, dtype=np.float64).reshape(-1, 1)


def _normalized(logs: Floats) -> Floats:
    weights = np.exp(logs - logs.max(axis=1, keepdims=True))
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))
