"""Bayes' rule with the true parameters: what the visible cells say about the target, gaps integrated out.

Gaps depend on columns that are always there, so they are ignorable: given its parent, a hidden cell has its declared
distribution. Discrete cells are summed exactly. Continuous ones use Gauss-Legendre nodes on the probability scale, in
pieces that end where a threshold motif jumps, so that jumps cost no accuracy.
"""

from collections.abc import Iterator, Mapping
from itertools import pairwise, product

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, softmax

from sandmill.mechanism.columns import Floats, probability_below, quantile
from sandmill.mechanism.rule import columns_of, latent_score
from sandmill.mechanism.sampling import class_count
from sandmill.models.mechanism import (
    BinaryLink,
    Categorical,
    Column,
    Cycle,
    GaussianLink,
    Mechanism,
    MulticlassLink,
    Threshold,
)
from sandmill.models.predictive import ClassPredictive, NumberPredictive, Predictive

NODES = 24
"""Gauss-Legendre nodes in each piece of a hidden continuous column."""
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
    for members, hidden in _groups(mechanism, observed):
        grids, weights = _grid(mechanism, hidden, {name: values[members[0]] for name, values in observed.items()})
        step = max(1, _CELLS_AT_ONCE // (len(weights) * outputs))
        for start in range(0, len(members), step):
            block = members[start : start + step]
            values = {name: cells[block][:, None] for name, cells in observed.items()} | grids
            eta = np.broadcast_to(latent_score(mechanism, values), (len(block), len(weights), outputs))
            expected[block] = np.einsum("g,rgk->rk", weights, _link_mean(mechanism, eta))
    if isinstance(mechanism.link, GaussianLink):
        return NumberPredictive(expected[:, 0])
    return ClassPredictive(_with_label_noise(mechanism, expected))


def _groups(
    mechanism: Mechanism, observed: Mapping[str, Floats]
) -> Iterator[tuple[NDArray[np.intp], tuple[Column, ...]]]:
    """Rows that hide the same relevant columns and share the levels that those columns' distributions depend on."""
    used = {name for term in mechanism.terms for name in columns_of(term.motif)}
    columns = mechanism.column_by_name
    hideable = [columns[gap.column] for gap in mechanism.missing() if gap.column in used]
    if not hideable:
        yield np.arange(len(next(iter(observed.values())))), ()
        return
    gaps = np.column_stack([np.isnan(observed[column.name]) for column in hideable])
    parents = [np.where(gap, _parent(column, observed), -1) for column, gap in zip(hideable, gaps.T, strict=True)]
    patterns, group = np.unique(np.column_stack([gaps, *parents]), axis=0, return_inverse=True)
    for number, pattern in enumerate(patterns):
        hidden = tuple(column for column, gap in zip(hideable, pattern[: len(hideable)], strict=True) if gap)
        yield np.flatnonzero(group.reshape(-1) == number), hidden


def _parent(column: Column, observed: Mapping[str, Floats]) -> Floats | float:
    return observed[column.shift.by] if column.shift else -1.0


def _grid(
    mechanism: Mechanism, hidden: tuple[Column, ...], row: Mapping[str, np.float64]
) -> tuple[dict[str, Floats], Floats]:
    """All combinations of the hidden columns' nodes, shape (1, combinations), and their probabilities."""
    nodes = [_nodes(mechanism, column, row) for column in hidden]
    combinations = list(product(*(range(len(weights)) for _, weights in nodes)))
    picks = np.array(combinations, dtype=np.intp).reshape(len(combinations), len(hidden))
    grids = {column.name: nodes[i][0][picks[:, i]][None, :] for i, column in enumerate(hidden)}
    weights = np.prod([nodes[i][1][picks[:, i]] for i in range(len(hidden))], axis=0)
    return grids, np.atleast_1d(weights)


def _nodes(mechanism: Mechanism, column: Column, row: Mapping[str, np.float64]) -> tuple[Floats, Floats]:
    """Values that a hidden cell may have, and their probabilities."""
    match column.distribution:
        case Categorical(levels=levels, shares=shares):
            return np.arange(len(levels), dtype=np.float64), np.asarray(shares, dtype=np.float64)
        case Cycle(first=first, period=period):
            return np.arange(first, first + period, dtype=np.float64), np.full(period, 1 / period)
    shift = column.shift.amounts[int(row[column.shift.by])] if column.shift else 0.0
    cuts = [
        probability_below(column, term.motif.cut, shift)
        for term in mechanism.terms
        if isinstance(term.motif, Threshold) and term.motif.column == column.name
    ]
    edges = np.unique([0.0, *(cut for cut in cuts if 0 < cut < 1), 1.0])
    x, w = np.polynomial.legendre.leggauss(NODES)
    pieces = [(low + (high - low) * (x + 1) / 2, w * (high - low) / 2) for low, high in pairwise(edges)]
    u, weights = (np.concatenate(part) for part in zip(*pieces, strict=True))
    return quantile(column.model_copy(update={"decimals": 6}), u, shift), weights


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
