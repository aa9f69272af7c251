"""Joint posterior of hidden cells that depend on each other through latent factors or limits.

Each cell that may be wrong is right or wrong; all combinations are summed. In each combination, the scores of the
hidden cells and the factors are jointly normal given the Gaussian evidence, so hidden cells are filled one after the
other, each from its distribution given the ones before.
"""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
from scipy.special import ndtr, ndtri

from sandmill.mechanism.cell_posterior import MISSING_NODES, OUTLIER_NODES, legendre
from sandmill.mechanism.columns import (
    Floats,
    level_edges,
    level_order,
    normal_score,
    score_interval,
    shift_of,
    unrounded,
    value_at,
)
from sandmill.mechanism.factor_posterior import FactorPosterior, SeenInterval, SeenScore, infer_factors
from sandmill.mechanism.limits import breaks, open_range
from sandmill.mechanism.units import as_written, step_of
from sandmill.models.columns import Categorical, Column, Cycle
from sandmill.models.faults import CellFault, Missing, Outliers, UnitMixup
from sandmill.models.mechanism import Mechanism, columns_of_limit

_LEVEL_NODES = 4
"""Gauss-Legendre nodes of a hidden category's score within each level."""
_COARSE = 0.5
"""Steps between values, in standard deviations of the column's own noise, from which on a value is an interval."""


@dataclass(frozen=True)
class CoupledCells:
    """Possible true values of several columns, and the probabilities of their combinations.

    All arrays have shape (rows, nodes). Weights sum to 1 in each row.
    """

    values: Mapping[str, Floats]
    weights: Floats


@dataclass(frozen=True)
class _Branch:
    """One combination of right and wrong cells, while hidden cells are filled in."""

    known: dict[str, Floats]
    """Cells that limits read, by column, with a second axis for nodes."""
    values: dict[str, Floats]
    """Values that the rule reads of the cells in doubt, shape (rows, nodes)."""
    is_open: frozenset[str]
    """Columns that are not filled yet."""
    covariance: Floats
    """Covariance of the factors given the scores so far, shape (rows, factors, factors)."""
    weights: Floats
    directions: tuple[Floats, ...] = ()
    """Change of the factors' mean with one standard deviation of each filled score, shape (rows, factors)."""
    deviations: tuple[Floats, ...] = ()
    """Standard deviations by which each filled score is off its mean, shape (rows, nodes)."""


def coupled_cells(
    mechanism: Mechanism,
    hidden: Sequence[CellFault],
    cuts: Mapping[str, Sequence[float]],
    observed: Mapping[str, Floats],
) -> CoupledCells:
    """Compute the joint posterior of hidden cells.

    Args:
        mechanism: with its true parameters.
        hidden: faults of the cells whose value matters. Where one is `Missing`, the cell is empty in all rows.
        cuts: values of each column at which the rule jumps.
        observed: visible cells of the rows.
    """
    names = {fault.column for fault in hidden}
    gaps = [fault.column for fault in hidden if isinstance(fault, Missing)]
    doubtful = [
        fault
        for fault in mechanism.cell_faults()
        if not isinstance(fault, Missing) and (fault.column in names or mechanism.column_by_name[fault.column].loadings)
    ]
    scores, intervals = _evidence(mechanism, {*gaps, *(fault.column for fault in doubtful)}, observed)
    finished, logs = [], []
    for wrong in product((False, True), repeat=len(doubtful)):
        more, log_chance = _further_evidence(mechanism, doubtful, wrong, observed)
        rows = len(log_chance)
        factors = infer_factors(rows, mechanism.factors, [*scores, *more], intervals)
        branch = _start(mechanism, names, gaps, doubtful, wrong, factors, observed)
        for column in _in_order(mechanism, branch.is_open):
            branch = _sum_over_cell(mechanism, branch, column, factors, cuts.get(column.name, ()), observed)
        weights = branch.weights * factors.correction(
            branch.directions, branch.deviations, branch.covariance, is_rare=bool(gaps)
        )
        with np.errstate(divide="ignore"):
            logs.append(np.log(weights) + (log_chance + factors.log_scale)[:, None])
        finished.append(branch)
    values = {
        name: np.concatenate([np.broadcast_to(one.values[name], one.weights.shape) for one in finished], axis=1)
        for name in names
    }
    return CoupledCells(values, _normalized(np.concatenate(logs, axis=1)))


def _evidence(
    mechanism: Mechanism, excluded: Set[str], observed: Mapping[str, Floats]
) -> tuple[list[SeenScore], list[SeenInterval]]:
    """Return what the cells without doubt say of the factors: scores, and intervals of scores."""
    scores, intervals = [], []
    for column in mechanism.columns:
        if column.unit or not any(column.loadings) or column.name in excluded:
            continue
        load, own, cells = _load(mechanism, column), _own(column), observed[column.name]
        is_seen = ~np.isnan(cells)
        if isinstance(column.distribution, Categorical):
            places = np.argsort(level_order(column))[np.where(is_seen, cells, 0).astype(np.intp)]
            edges = level_edges(column)
            low, high = edges[places], edges[places + 1]
        else:
            low, high = (
                end - shift_of(column, observed) for end in _ends(column, np.where(is_seen, cells, 1.0), observed)
            )
            is_fine = is_seen & (high - low < _COARSE * own)
            scores.append(_fine_score(load, own, low, high, is_fine))
            is_seen &= ~is_fine
        low, high = np.where(is_seen, low, -np.inf), np.where(is_seen, high, np.inf)
        intervals.append(SeenInterval(load, own, low, high))
    return scores, intervals


def _further_evidence(
    mechanism: Mechanism, doubtful: Sequence[CellFault], wrong: Sequence[bool], observed: Mapping[str, Floats]
) -> tuple[list[SeenScore], Floats]:
    """Return what cells in doubt say of the factors if the marked ones are wrong, and the log chance of that."""
    scores = []
    log_chance: Floats = np.zeros(len(next(iter(observed.values()))))
    for fault, is_wrong in zip(doubtful, wrong, strict=True):
        column, cells = mechanism.column_by_name[fault.column], observed[fault.column]
        load, own = _load(mechanism, column), _own(column)
        match fault:
            case Outliers(rate=rate, spread=spread) if is_wrong:
                load, own = np.zeros_like(load), spread
            case UnitMixup(rate=rate, factor=factor):
                cells = cells / factor if is_wrong else cells
            case Outliers(rate=rate):
                pass
            case _:
                raise TypeError(f"a cell of {column.name} cannot be in doubt by a fault of kind {fault.kind}")
        log_chance = log_chance + np.log(rate if is_wrong else 1 - rate)
        value = normal_score(column, cells) - shift_of(column, observed)
        low, high = _ends(column, cells, observed)
        width = np.where(np.isfinite(high - low), high - low, 0.0)
        scores.append(SeenScore(load, value, np.asarray(own**2 + width**2 / 12)))
    return scores, log_chance


def _start(
    mechanism: Mechanism,
    names: Set[str],
    gaps: Sequence[str],
    doubtful: Sequence[CellFault],
    wrong: Sequence[bool],
    factors: FactorPosterior,
    observed: Mapping[str, Floats],
) -> _Branch:
    """Fill in the cells that a combination of right and wrong cells determines."""
    known = {name: cells[:, None] for name, cells in observed.items() if name not in names}
    values, is_open = {}, set(gaps)
    for fault, is_wrong in zip(doubtful, wrong, strict=True):
        column, cells = mechanism.column_by_name[fault.column], observed[fault.column]
        if fault.column not in names:
            continue
        if isinstance(fault, Outliers) and is_wrong:
            is_open.add(fault.column)
            continue
        if isinstance(fault, UnitMixup) and is_wrong:
            cells = cells / fault.factor
        values[fault.column] = cells[:, None]
        true = cells if column.conversion else np.round(cells, column.decimals)
        known[fault.column] = as_written(column, true, observed)[:, None]
    branch = _Branch(known, values, frozenset(is_open), factors.covariance, np.ones((len(factors.mean), 1)))
    for name in values:
        branch = replace(branch, weights=branch.weights * _possible(mechanism, branch, name))
    return branch


def _sum_over_cell(
    mechanism: Mechanism,
    branch: _Branch,
    column: Column,
    factors: FactorPosterior,
    cuts: Sequence[float],
    observed: Mapping[str, Floats],
) -> _Branch:
    """Fill in one hidden cell: split every node into nodes of this cell."""
    load, own, is_open = _load(mechanism, column), _own(column), branch.is_open - {column.name}
    shift = np.asarray(shift_of(column, observed)).reshape(-1, 1)
    centre = shift + (factors.mean @ load)[:, None]
    for direction, deviation in zip(branch.directions, branch.deviations, strict=True):
        centre = centre + (direction @ load)[:, None] * deviation
    along = branch.covariance @ load
    spread = np.sqrt(along @ load + own**2)[:, None]
    if isinstance(column.distribution, Cycle):
        law, shape = column.distribution, (*centre.shape, column.distribution.period)
        values = np.broadcast_to(np.arange(law.first, law.first + law.period, dtype=np.float64), shape)
        # All values are equally likely, and say nothing of the factors.
        u_weights, deviations = np.full(shape, 1 / law.period), np.zeros(shape)
    else:
        edges, nodes = _edges(mechanism, branch, column, cuts)
        below = [ndtr((edge - centre) / spread) for edge in edges]
        u, u_weights = legendre(np.stack(np.broadcast_arrays(*below), axis=-1), nodes)
        deviations = ndtri(u)
        values = _values_at(column, centre[..., None] + spread[..., None] * deviations, nodes)
    wide, direction = values.shape[-1], along / spread
    is_loaded = bool(load.any())
    filled = _Branch(
        {name: _repeat(cells, wide) for name, cells in branch.known.items()} | {column.name: _flat(values)},
        {name: _repeat(cells, wide) for name, cells in branch.values.items()} | {column.name: _flat(values)},
        is_open,
        branch.covariance - direction[:, :, None] * direction[:, None, :],
        _flat(branch.weights[..., None] * u_weights),
        (*branch.directions, direction) if is_loaded else branch.directions,
        (*(_repeat(cells, wide) for cells in branch.deviations), *([_flat(deviations)] if is_loaded else [])),
    )
    if isinstance(column.distribution, Categorical | Cycle):
        filled = replace(filled, weights=filled.weights * _possible(mechanism, filled, column.name))
    return filled


def _edges(mechanism: Mechanism, branch: _Branch, column: Column, cuts: Sequence[float]) -> tuple[list[Floats], int]:
    """Return the scores at which the integral over a cell is split, each shape (rows, nodes), and nodes of a piece."""
    if isinstance(column.distribution, Categorical):
        return [np.full((1, 1), edge) for edge in level_edges(column)], _LEVEL_NODES
    is_gap = any(isinstance(fault, Missing) for fault in mechanism.cell_faults() if fault.column == column.name)
    low, high = open_range(column, mechanism.limits, branch.is_open, branch.known)
    ends = [_end_score(column, end) for end in (low, high)]
    inner = [np.clip(normal_score(column, np.array([[cut]])), *ends) for cut in sorted(cuts)]
    return [ends[0], *inner, np.maximum(*ends)], MISSING_NODES if is_gap else OUTLIER_NODES


def _end_score(column: Column, end: Floats) -> Floats:
    """Return the score of a bound of the values, which may be infinite."""
    score = normal_score(column, np.where(np.isfinite(end), end, 1.0))
    return np.where(np.isfinite(end), score, end)


def _values_at(column: Column, scores: Floats, nodes: int) -> Floats:
    if isinstance(column.distribution, Categorical):
        codes = np.repeat(np.asarray(level_order(column), dtype=np.float64), nodes)
        return np.broadcast_to(codes, scores.shape)
    return value_at(unrounded(column), scores)


def _possible(mechanism: Mechanism, branch: _Branch, name: str) -> Floats:
    """Return 1 where the cells known so far break no limit that reads a column, else 0."""
    possible: Floats = np.ones((1, 1))
    for limit in mechanism.limits:
        pair = columns_of_limit(limit)
        if name in pair and all(one in branch.known for one in pair):
            possible = possible * ~breaks(limit, branch.known)
    return possible


def _fine_score(load: Floats, own: float, low: Floats, high: Floats, is_fine: np.ndarray) -> SeenScore:
    """Take the middle of a narrow interval as seen, with the variance of a uniform number in the interval."""
    low, high = np.where(is_fine, low, 0.0), np.where(is_fine, high, 0.0)
    return SeenScore(load, (low + high) / 2, np.where(is_fine, own**2 + (high - low) ** 2 / 12, np.inf))


def _ends(column: Column, cells: Floats, observed: Mapping[str, Floats]) -> tuple[Floats, Floats]:
    return score_interval(column, cells, step_of(column, observed))


def _load(mechanism: Mechanism, column: Column) -> Floats:
    """Return the loadings of a column, with zeros for factors that it does not name."""
    return np.pad(np.asarray(column.loadings, dtype=np.float64), (0, mechanism.factors - len(column.loadings)))


def _own(column: Column) -> float:
    """Return the standard deviation of the part of a column's score that no factor shares."""
    return float(np.sqrt(1 - sum(load**2 for load in column.loadings)))


def _in_order(mechanism: Mechanism, names: Set[str]) -> list[Column]:
    """Order hidden cells: categories first, since they bound numbers."""
    hidden = [column for column in mechanism.columns if column.name in names]
    return sorted(hidden, key=lambda column: not isinstance(column.distribution, Categorical))


def _repeat(cells: Floats, wide: int) -> Floats:
    """Repeat cells for each node of the cell that is filled in; cells that are the same for all nodes stay narrow."""
    return cells if cells.shape[1] == 1 else np.repeat(cells, wide, axis=1)


def _flat(nodes: Floats) -> Floats:
    return nodes.reshape(len(nodes), -1)


def _normalized(logs: Floats) -> Floats:
    """Return weights that sum to 1. A row without any possible combination gets equal weights."""
    top = logs.max(axis=1, keepdims=True)
    weights = np.exp(logs - np.where(np.isfinite(top), top, 0.0))
    weights[~np.isfinite(top[:, 0])] = 1.0
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))
