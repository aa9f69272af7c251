"""Bayes' rule with the true parameters: what the visible cells say about the target, all that is hidden summed out."""

from collections.abc import Iterator, Mapping
from functools import reduce

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, softmax

from sandmill.mechanism.belief import Belief, believe
from sandmill.mechanism.columns import Floats
from sandmill.mechanism.rule import SUBGROUP, latent_score
from sandmill.mechanism.sampling import class_count, subgroup_chance
from sandmill.models.mechanism import (
    BinaryLink,
    CellFault,
    GaussianLink,
    LocalRule,
    Mechanism,
    Missing,
    MulticlassLink,
)
from sandmill.models.motifs import columns_of, cuts_of
from sandmill.models.predictive import ClassPredictive, NumberPredictive, Predictive

_CELLS_AT_ONCE = 2_000_000


def posterior(mechanism: Mechanism, observed: Mapping[str, Floats]) -> Predictive:
    """Compute P(target | visible cells) for every row.

    Args:
        mechanism: with its true parameters.
        observed: columns by name, shape (rows,), NaN in gaps, categorical columns as level codes.

    Returns:
        Class probabilities of the labels as they are graded (label noise of the test part included), or means.
    """
    rows = len(next(iter(observed.values())))
    outputs = len(mechanism.terms[0].weights)
    expected = np.empty((rows, 2 if isinstance(mechanism.link, BinaryLink) else outputs))
    for members, faults in _groups(mechanism, observed):
        step = max(1, _CELLS_AT_ONCE // (_grid_size(mechanism, faults, observed, members[:1]) * outputs))
        for start in range(0, len(members), step):
            block = members[start : start + step]
            visible = {name: cells[block] for name, cells in observed.items()}
            values, weights = _grid(mechanism, faults, visible)
            shape = (len(block), weights.shape[1], outputs)
            means = _link_mean(mechanism, np.broadcast_to(latent_score(mechanism, values), shape))
            expected[block] = np.einsum("rg,rgk->rk", weights, means)
    if isinstance(mechanism.link, GaussianLink):
        return NumberPredictive(expected[:, 0])
    return ClassPredictive(_with_label_noise(mechanism, expected))


def _groups(
    mechanism: Mechanism, observed: Mapping[str, Floats]
) -> Iterator[tuple[NDArray[np.intp], tuple[CellFault, ...]]]:
    """Rows in which the same cells are in doubt, with the faults that put them in doubt."""
    used = {name for term in mechanism.terms for name in columns_of(term.motif)}
    faults = [fault for fault in mechanism.cell_faults() if fault.column in used]
    gaps = [fault for fault in faults if isinstance(fault, Missing)]
    always = [fault for fault in faults if not isinstance(fault, Missing)]
    rows = len(next(iter(observed.values())))
    is_gap = np.column_stack([np.zeros(rows, dtype=np.bool_), *(np.isnan(observed[gap.column]) for gap in gaps)])
    patterns, group = np.unique(is_gap, axis=0, return_inverse=True)
    for number, pattern in enumerate(patterns):
        hidden = [gap for gap, is_hidden in zip(gaps, pattern[1:], strict=True) if is_hidden]
        yield np.flatnonzero(group.reshape(-1) == number), (*hidden, *always)


def _grid(
    mechanism: Mechanism, faults: tuple[CellFault, ...], visible: Mapping[str, Floats]
) -> tuple[dict[str, Floats], Floats]:
    """All combinations of what is hidden: values of shape (rows, combinations), and their probabilities."""
    beliefs = {fault.column: _belief_of(mechanism, fault, visible) for fault in faults}
    if any(isinstance(term.motif, LocalRule) for term in mechanism.terms) and mechanism.subgroup:
        chance = subgroup_chance(mechanism.subgroup, visible)
        beliefs[SUBGROUP] = Belief(np.tile([0.0, 1.0], (len(chance), 1)), np.column_stack([1 - chance, chance]))
    values = {name: cells[:, None] for name, cells in visible.items()}
    rows = len(next(iter(visible.values())))
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


def _link_mean(mechanism: Mechanism, eta: Floats) -> Floats:
    """E[target | eta]: class probabilities or a mean, on the last axis."""
    match mechanism.link:
        case BinaryLink(intercept=intercept):
            positive = expit(intercept + eta[..., 0])
            return np.stack([1 - positive, positive], axis=-1)
        case MulticlassLink(intercepts=intercepts):
            return np.asarray(softmax(np.asarray(intercepts) + eta, axis=-1))
        case GaussianLink(location=location, scale=scale):
            return location + scale * eta


def _with_label_noise(mechanism: Mechanism, probabilities: Floats) -> Floats:
    noise = mechanism.label_noise()
    if noise is None or noise.where == "train":
        return probabilities
    others = (1 - probabilities) / (class_count(mechanism) - 1)
    return (1 - noise.rate) * probabilities + noise.rate * others
