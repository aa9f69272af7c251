"""Sum over hidden variables: uncertain cells, membership in the hidden subgroup, and unit effects."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from sandmill.mechanism.cell_posterior import Mixture, cell_posterior
from sandmill.mechanism.columns import Floats
from sandmill.mechanism.coupled_cells import CoupledCells, coupled_cells
from sandmill.mechanism.rule import SUBGROUP, UNIT_EFFECT, latent_score
from sandmill.mechanism.sampling import subgroup_chance
from sandmill.models.faults import CellFault, Missing
from sandmill.models.links import output_count
from sandmill.models.mechanism import Mechanism, columns_of_limit
from sandmill.models.motifs import LocalRule, UnitEffect, columns_of, cuts_of

_CELLS_PER_BLOCK = 2_000_000
"""Array cells (rows x combinations x outputs) computed at once, which bounds memory."""
_UNIT_NODES = 11
"""Gauss-Hermite nodes of the unit effect."""
_COUPLED = "<coupled cells>"
"""Key of the cells that depend on each other. No column can have this name."""
_MIXTURE_NODES = 24
"""Largest number of latent scores that represent the distribution in one row."""


def expect_over_hidden(
    mechanism: Mechanism, observed: Mapping[str, Floats], function: Callable[[Floats], Floats], width: int
) -> Floats:
    """Return the expected value of a function of the latent scores, shape (rows, width), given the visible cells.

    The function maps scores, shape (rows, combinations, outputs), to values, shape (rows, combinations, width).
    """
    expected = np.empty((_count_rows(observed), width))
    for members, eta, weights in _blocks(mechanism, observed):
        expected[members] = np.einsum("rg,rgk->rk", weights, function(eta))
    return expected


def latent_mixtures(mechanism: Mechanism, observed: Mapping[str, Floats]) -> tuple[Mixture, ...]:
    """Return the marginal distribution of each latent score. Where values are too many, neighbours are merged."""
    rows, outputs = _count_rows(observed), output_count(mechanism.link)
    mixtures = [Mixture(np.zeros((rows, _MIXTURE_NODES)), np.zeros((rows, _MIXTURE_NODES))) for _ in range(outputs)]
    widest = 1
    for members, eta, weights in _blocks(mechanism, observed):
        for output, mixture in enumerate(mixtures):
            merged = _merge(eta[..., output], weights)
            nodes = merged.values.shape[1]
            mixture.values[members], mixture.values[members, :nodes] = merged.values[:, :1], merged.values
            mixture.weights[members, :nodes] = merged.weights
            widest = max(widest, nodes)
    return tuple(Mixture(mixture.values[:, :widest], mixture.weights[:, :widest]) for mixture in mixtures)


def _merge(values: Floats, weights: Floats) -> Mixture:
    """Merge neighbouring values into at most `_MIXTURE_NODES` bins of about equal probability, each at its mean."""
    rows, nodes = values.shape
    if nodes <= _MIXTURE_NODES:
        return Mixture(values, weights)
    order = np.argsort(values, axis=1, kind="stable")
    value, weight = np.take_along_axis(values, order, axis=1), np.take_along_axis(weights, order, axis=1)
    middle: Floats = np.cumsum(weight, axis=1) - weight / 2
    bins = np.minimum((middle * _MIXTURE_NODES).astype(np.intp), _MIXTURE_NODES - 1)
    flat = (np.arange(rows)[:, None] * _MIXTURE_NODES + bins).ravel()
    mass = np.asarray(np.bincount(flat, weight.ravel(), rows * _MIXTURE_NODES), dtype=np.float64)
    total = np.asarray(np.bincount(flat, (weight * value).ravel(), rows * _MIXTURE_NODES), dtype=np.float64)
    means = np.divide(total, mass, out=np.zeros_like(total), where=mass > 0)
    return Mixture(means.reshape(rows, -1), mass.reshape(rows, -1))


def _blocks(mechanism: Mechanism, observed: Mapping[str, Floats]) -> Iterator[tuple[NDArray[np.intp], Floats, Floats]]:
    """Yield row numbers, their possible latent scores (rows, combinations, outputs) and the scores' probabilities."""
    outputs = output_count(mechanism.link)
    for members, faults in _groups(mechanism, observed):
        _, one = _grid(mechanism, faults, {name: cells[members[:1]] for name, cells in observed.items()})
        step = max(1, _CELLS_PER_BLOCK // (one.shape[1] * outputs))
        for start in range(0, len(members), step):
            block = members[start : start + step]
            values, weights = _grid(mechanism, faults, {name: cells[block] for name, cells in observed.items()})
            eta = latent_score(mechanism, values)
            yield block, np.broadcast_to(eta, (len(block), weights.shape[1], outputs)), weights


def _groups(
    mechanism: Mechanism, observed: Mapping[str, Floats]
) -> Iterator[tuple[NDArray[np.intp], tuple[CellFault, ...]]]:
    """Yield groups of rows that have the same uncertain cells, with the faults of these cells."""
    read = {name for term in mechanism.terms for name in columns_of(term.motif)}
    # Cells that the rule reads, and those that bear on such cells through limits.
    summed = read | _bearing(mechanism, read)
    faults = [fault for fault in mechanism.cell_faults() if fault.column in summed]
    gaps = [fault for fault in faults if isinstance(fault, Missing)]
    always = [fault for fault in faults if not isinstance(fault, Missing)]
    pattern = np.zeros(_count_rows(observed), dtype=np.intp)
    for bit, gap in enumerate(gaps):
        pattern |= np.isnan(observed[gap.column]).astype(np.intp) << bit
    for code in np.unique(pattern):
        hidden = [gap for bit, gap in enumerate(gaps) if code >> bit & 1]
        yield np.flatnonzero(pattern == code), (*hidden, *always)


def _grid(
    mechanism: Mechanism, faults: tuple[CellFault, ...], visible: Mapping[str, Floats]
) -> tuple[dict[str, Floats], Floats]:
    """Return values by name for all combinations of hidden variables, and the combinations' probabilities.

    Hidden values and probabilities have shape (rows, combinations).
    """
    motifs, rows = [term.motif for term in mechanism.terms], _count_rows(visible)
    cuts = {
        fault.column: [
            cut for motif in motifs if fault.column in columns_of(motif) for cut in cuts_of(motif, fault.column)
        ]
        for fault in faults
    }
    coupled, alone = split_coupled(mechanism, faults)
    posteriors: dict[str, Mixture | CoupledCells] = {
        fault.column: cell_posterior(mechanism.column_by_name[fault.column], fault, cuts[fault.column], visible)
        for fault in alone
    }
    if coupled:
        posteriors[_COUPLED] = coupled_cells(mechanism, coupled, cuts, visible)
    if mechanism.subgroup and any(isinstance(motif, LocalRule) for motif in motifs):
        chance = subgroup_chance(mechanism.subgroup, visible)
        posteriors[SUBGROUP] = Mixture(np.tile([0.0, 1.0], (rows, 1)), np.column_stack([1 - chance, chance]))
    if any(isinstance(motif, UnitEffect) for motif in motifs):
        nodes, mass = np.polynomial.hermite_e.hermegauss(_UNIT_NODES)
        posteriors[UNIT_EFFECT] = Mixture(np.tile(nodes, (rows, 1)), np.tile(mass / mass.sum(), (rows, 1)))
    values = {name: cells[:, None] for name, cells in visible.items()}
    sizes = [posterior.weights.shape[1] for posterior in posteriors.values()]
    picks = np.indices((1, *sizes)).reshape(1 + len(sizes), -1)[1:]
    for (name, posterior), pick in zip(posteriors.items(), picks, strict=True):
        possible = posterior.values if isinstance(posterior, CoupledCells) else {name: posterior.values}
        values |= {key: nodes[:, pick] for key, nodes in possible.items()}
    factors = [posterior.weights[:, pick] for posterior, pick in zip(posteriors.values(), picks, strict=True)]
    return values, reduce(np.multiply, factors, np.ones((rows, 1)))


def _count_rows(observed: Mapping[str, Floats]) -> int:
    return len(next(iter(observed.values())))


def split_coupled(
    mechanism: Mechanism, faults: Sequence[CellFault]
) -> tuple[tuple[CellFault, ...], tuple[CellFault, ...]]:
    """Divide the faults of some rows into those of cells that depend on other cells, and the others.

    A cell that the rule does not read counts only if one that the rule reads depends on other cells.
    """
    read = {name for term in mechanism.terms for name in columns_of(term.motif)}
    limited = {name for limit in mechanism.limits for name in columns_of_limit(limit)}
    depends = [
        fault for fault in faults if any(mechanism.column_by_name[fault.column].loadings) or fault.column in limited
    ]
    alone = tuple(fault for fault in faults if fault not in depends)
    return (tuple(depends) if any(fault.column in read for fault in depends) else ()), alone


def _bearing(mechanism: Mechanism, read: set[str]) -> set[str]:
    """Return the faulty columns that limits connect to faulty columns of the rule, directly or through factors."""
    faulty = {fault.column for fault in mechanism.cell_faults()}
    loaded = {column.name for column in mechanism.columns if any(column.loadings)}
    pairs = [set(columns_of_limit(limit)) for limit in mechanism.limits]
    found = faulty & read
    while True:
        more = {name for pair in pairs if pair & found for name in pair & faulty}
        if found & loaded:
            # The truncation of one column says something of the factors, and so of the others.
            more |= {name for pair in pairs for name in pair & faulty & loaded}
        if more <= found:
            return found
        found |= more
