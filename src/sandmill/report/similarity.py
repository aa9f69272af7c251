"""Which tasks are alike: a map in two dimensions and the nearest tasks of each, from public facts alone."""

import re
from collections.abc import Iterable, Mapping, Sequence
from math import log
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sandmill.models.base import Frozen

NEIGHBOURS = 5
_WORD = re.compile(r"[a-z]{3,}")
_WORDS = 600  # most words that are compared: the most frequent of those that less than half of the tasks have
_DIMENSIONS = 16  # dimensions in which nearest tasks are looked for
_FACT = 1.5  # weight of a fact, such as the metric, beside a word that one task in ten has
_DIGITS = 3

Floats = NDArray[np.float64]


class TaskMap(Frozen):
    """Places and nearest tasks, in the order of the tasks."""

    x: tuple[float, ...]
    y: tuple[float, ...]
    nearest: tuple[tuple[int, ...], ...]
    """Numbers of the most similar tasks of each, the nearest first."""


def map_tasks(prompts: Iterable[str], facts: Sequence[Mapping[str, object]]) -> TaskMap:
    """Compare tasks by the words of their prompts and by facts such as target and metric.

    The principal components of these features are the dimensions. Signs are fixed and places rounded, so that equal
    tasks give an equal map. Prompts are read once and not kept: 100,000 of them have 600 MB.
    """
    features = _features(prompts, facts)
    mean: Floats = np.asarray(features.mean(axis=0)).reshape(1, -1)
    spread = (features.T @ features).toarray() - len(facts) * mean.T @ mean
    _, vectors = np.linalg.eigh(spread)
    vectors = vectors[:, ::-1][:, :_DIMENSIONS]
    strongest = np.abs(vectors).argmax(axis=0)
    vectors = vectors * np.where(vectors[strongest, np.arange(vectors.shape[1])] < 0, -1.0, 1.0)
    placed = np.round(features @ vectors - mean @ vectors, _DIGITS) + 0.0
    flat = np.pad(placed, ((0, 0), (0, max(0, 2 - placed.shape[1]))))
    return TaskMap(x=tuple(flat[:, 0].tolist()), y=tuple(flat[:, 1].tolist()), nearest=_nearest(placed))


def _features(prompts: Iterable[str], facts: Sequence[Mapping[str, object]]) -> Any:
    """Return a sparse row for each task with the words that it has, rare ones weighing more, and its facts."""
    from scipy.sparse import csr_array, diags_array, hstack

    words, has_word = _incidence(_WORD.findall(prompt.lower()) for prompt in prompts)
    tasks = len(facts)
    counts = np.bincount(has_word.indices, minlength=len(words))
    common = np.flatnonzero((counts > 1) & (counts <= tasks / 2)).tolist()
    kept = sorted(common, key=lambda number: (-counts[number], words[number]))[:_WORDS]
    weights = np.array([log(tasks / counts[number]) / log(10.0) for number in kept])
    pairs, has_pair = _incidence([f"{name}={value}" for name, value in row.items()] for row in facts)
    order = sorted(range(len(pairs)), key=pairs.__getitem__)
    parts = [has_word[:, kept] @ diags_array(weights), has_pair[:, order] * _FACT, csr_array((tasks, 1))]
    return hstack(parts, format="csr", dtype=np.float64)


def _incidence(rows: Iterable[Iterable[str]]) -> tuple[list[str], Any]:
    """Return the different names of all rows, and a sparse matrix that has 1 where a row has a name."""
    from scipy.sparse import csr_array

    number: dict[str, int] = {}
    found = [
        np.array(sorted(number.setdefault(name, len(number)) for name in dict.fromkeys(row)), dtype=np.int32)
        for row in rows
    ]
    ends = np.cumsum([0, *map(len, found)])
    columns = np.concatenate(found) if found else np.zeros(0, dtype=np.int32)
    ones = np.ones(len(columns), dtype=np.int8)
    return list(number), csr_array((ones, columns, ends), shape=(len(found), len(number)))


def _nearest(placed: Floats) -> tuple[tuple[int, ...], ...]:
    """Find the nearest neighbours of each task by Euclidean distance. Returns their row numbers.

    Of two that are equally near, the one with the lower row number comes first.
    Tasks in the same place are looked up together, since a tree of equal points would search all of them.
    """
    from scipy.spatial import KDTree

    most = min(NEIGHBOURS, len(placed) - 1)
    if most < 1:
        return ((),) * len(placed)
    spots, found = np.unique(placed, axis=0, return_inverse=True)
    spot_of = found.reshape(-1).tolist()
    members: list[list[int]] = [[] for _ in spots]
    for number, spot in enumerate(spot_of):
        if len(members[spot]) <= most:
            members[spot].append(number)
    found_spots: Any = KDTree(spots).query(spots, k=np.arange(1, min(most + 1, len(spots)) + 1))
    candidates = []
    for far, others in zip(np.round(found_spots[0], _DIGITS).tolist(), found_spots[1].tolist(), strict=True):
        ranked = sorted((away, number) for away, spot in zip(far, others, strict=True) for number in members[spot])
        candidates.append([number for _, number in ranked[: most + 1]])
    return tuple(
        tuple([other for other in candidates[spot] if other != number][:most]) for number, spot in enumerate(spot_of)
    )
