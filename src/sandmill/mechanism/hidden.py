"""Sums over what nobody sees: cells in doubt, the hidden subgroup, and what the rows of a unit share."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from sandmill.mechanism.belief import Belief, believe
from sandmill.mechanism.columns import Floats
from sandmill.mechanism.rule import SUBGROUP, UNIT_EFFECT, latent_score
from sandmill.mechanism.sampling import subgroup_chance
from sandmill.models.mechanism import CellFault, LocalRule, Mechanism, Missing, UnitEffect, output_count
from sandmill.models.motifs import columns_of, cuts_of

_CELLS_AT_ONCE = 2_000_000
_UNIT_NODES = 11
_MOST_NODES = 24
"""Values of the latent score that stand for its distribution in one row."""


@dataclass(frozen=True)
class Mixture:
    """What is known of one latent score: a few values with their probabilities, both of shape (rows, nodes)."""

    values: Floats
    weights: Floats


def expect_over_hidden(
    mechanism: Mechanism, observed: Mapping[str, Floats], function: Callable[[Floats], Floats], width: int
) -> Floats:
    """Mean of a function of the latent scores, given what is seen.

    Args:
        mechanism: with its true parameters.
        observed: visible cells by column.
        function: from scores, shape (rows, combinations, outputs), to values, shape (rows, combinations, width).
        width: numbers that the function gives.

    Returns:
        Shape (rows, width).
    """
    expected = np.empty((_count_rows(observed), width))
    for members, eta, weights in _blocks(mechanism, observed):
        expected[members] = np.einsum("rg,rgk->rk", weights, function(eta))
    return expected


def latent_mixtures(mechanism: Mechanism, observed: Mapping[str, Floats]) -> tuple[Mixture, ...]:
    """Distribution of each latent score by itself; where very many values are possible, neighbours are merged."""
    rows, outputs = _count_rows(observed), output_count(mechanism.link)
    mixtures = [Mixture(np.zeros((rows, _MOST_NODES)), np.zeros((rows, _MOST_NODES))) for _ in range(outputs)]
    widest = 1
    for members, eta, weights in _blocks(mechanism, observed):
        for output, mixture in enumerate(mixtures):
            few = _merge(eta[..., output], weights)
            nodes = few.values.shape[1]
            mixture.values[members], mixture.values[members, :nodes] = few.values[:, :1], few.values
            mixture.weights[members, :nodes] = few.weights
            widest = max(widest, nodes)
    return tuple(Mixture(mixture.values[:, :widest], mixture.weights[:, :widest]) for mixture in mixtures)


def _merge(values: Floats, weights: Floats) -> Mixture:
    """Put neighbouring values into bins of about equal probability, each bin at its mean."""
    rows, nodes = values.shape
    if nodes <= _MOST_NODES:
        return Mixture(values, weights)
    order = np.argsort(values, axis=1, kind="stable")
    value, weight = np.take_along_axis(values, order, axis=1), np.take_along_axis(weights, order, axis=1)
    middle: Floats = np.cumsum(weight, axis=1) - weight / 2
    place = np.minimum((middle * _MOST_NODES).astype(np.intp), _MOST_NODES - 1)
    flat = (np.arange(rows)[:, None] * _MOST_NODES + place).ravel()
    mass = np.asarray(np.bincount(flat, weight.ravel(), rows * _MOST_NODES), dtype=np.float64)
    total = np.asarray(np.bincount(flat, (weight * value).ravel(), rows * _MOST_NODES), dtype=np.float64)
    means = np.divide(total, mass, out=np.zeros_like(total), where=mass > 0)
    return Mixture(means.reshape(rows, -1), mass.reshape(rows, -1))


def _blocks(mechanism: Mechanism, observed: Mapping[str, Floats]) -> Iterator[tuple[NDArray[np.intp], Floats, Floats]]:
    """Rows, their possible latent scores (rows, combinations, outputs) and the probabilities of these."""
    outputs = output_count(mechanism.link)
    for members, faults in _groups(mechanism, observed):
        step = max(1, _CELLS_AT_ONCE // (_grid_size(mechanism, faults, observed, members[:1]) * outputs))
        for start in range(0, len(members), step):
            block = members[start : start + step]
            values, weights = _grid(mechanism, faults, {name: cells[block] for name, cells in observed.items()})
            eta = latent_score(mechanism, values)
            yield block, np.broadcast_to(eta, (len(block), weights.shape[1], outputs)), weights


def _groups(
    mechanism: Mechanism, observed: Mapping[str, Floats]
) -> Iterator[tuple[NDArray[np.intp], tuple[CellFault, ...]]]:
    """Rows in which the same cells are in doubt, with the faults that put them in doubt."""
    used = {name for term in mechanism.terms for name in columns_of(term.motif)}
    faults = [fault for fault in mechanism.cell_faults() if fault.column in used]
    gaps = [fault for fault in faults if isinstance(fault, Missing)]
    always = [fault for fault in faults if not isinstance(fault, Missing)]
    pattern = np.zeros(_count_rows(observed), dtype=np.intp)
    for place, gap in enumerate(gaps):
        pattern |= np.isnan(observed[gap.column]).astype(np.intp) << place
    for number in np.unique(pattern):
        hidden = [gap for place, gap in enumerate(gaps) if number >> place & 1]
        yield np.flatnonzero(pattern == number), (*hidden, *always)


def _grid(
    mechanism: Mechanism, faults: tuple[CellFault, ...], visible: Mapping[str, Floats]
) -> tuple[dict[str, Floats], Floats]:
    """All combinations of what is hidden: values of shape (rows, combinations), and their probabilities."""
    beliefs = {fault.column: _belief_of(mechanism, fault, visible) for fault in faults}
    rows = _count_rows(visible)
    motifs = [term.motif for term in mechanism.terms]
    if mechanism.subgroup and any(isinstance(motif, LocalRule) for motif in motifs):
        chance = subgroup_chance(mechanism.subgroup, visible)
        beliefs[SUBGROUP] = Belief(np.tile([0.0, 1.0], (rows, 1)), np.column_stack([1 - chance, chance]))
    if any(isinstance(motif, UnitEffect) for motif in motifs):
        nodes, mass = np.polynomial.hermite_e.hermegauss(_UNIT_NODES)
        beliefs[UNIT_EFFECT] = Belief(np.tile(nodes, (rows, 1)), np.tile(mass / mass.sum(), (rows, 1)))
    values = {name: cells[:, None] for name, cells in visible.items()}
    sizes = [belief.values.shape[1] for belief in beliefs.values()]
    picks = np.indices((1, *sizes)).reshape(1 + len(sizes), -1)[1:]
    for (name, belief), pick in zip(beliefs.items(), picks, strict=True):
        values[name] = belief.values[:, pick]
    factors = [belief.weights[:, pick] for belief, pick in zip(beliefs.values(), picks, strict=True)]
    return values, reduce(np.multiply, factors, np.ones((rows, 1)))


def _grid_size(
    mechanism: Mechanism, faults: tuple[CellFault, ...], observed: Mapping[str, Floats], one: NDArray[np.intp]
) -> int:
    """Combinations for one row, from trying it."""
    _, weights = _grid(mechanism, faults, {name: cells[one] for name, cells in observed.items()})
    return int(weights.shape[1])


def _belief_of(mechanism: Mechanism, fault: CellFault, visible: Mapping[str, Floats]) -> Belief:
    cuts = [cut for term in mechanism.terms if fault.column in columns_of(term.motif) for cut in cuts_of(term.motif)]
    return believe(mechanism.column_by_name[fault.column], fault, cuts, visible)


def _count_rows(observed: Mapping[str, Floats]) -> int:
    return len(next(iter(observed.values())))
