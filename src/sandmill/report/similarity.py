"""Which tasks are alike: a map in two dimensions and the nearest tasks of each, from public facts alone."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from math import log

import numpy as np
from numpy.typing import NDArray

from sandmill.models.base import Frozen

NEIGHBOURS = 5
_WORD = re.compile(r"[a-z]{3,}")
_WORDS = 600
"""Most words that are compared: the most frequent of those that less than half of the tasks have."""
_DIMENSIONS = 16
"""Dimensions in which nearest tasks are looked for."""
_FACT = 1.5
"""Weight of a fact, such as the metric, beside a word that one task in ten has."""
_BLOCK = 1024
_DIGITS = 3

Floats = NDArray[np.float64]


class TaskMap(Frozen):
    """Places and nearest tasks, in the order of the tasks."""

    x: tuple[float, ...]
    y: tuple[float, ...]
    nearest: tuple[tuple[int, ...], ...]
    """Numbers of the most similar tasks of each, the nearest first."""


def map_tasks(prompts: Sequence[str], facts: Sequence[Mapping[str, object]]) -> TaskMap:
    """Compare tasks by the words of their prompts and by facts such as target and metric.

    The principal components of these features are the dimensions. Signs are fixed and places rounded, so that equal
    tasks give an equal map.
    """
    features = _features(prompts, facts)
    centred = features - features.mean(axis=0, keepdims=True)
    _, vectors = np.linalg.eigh(centred.T @ centred)
    vectors = vectors[:, ::-1][:, :_DIMENSIONS]
    strongest = np.abs(vectors).argmax(axis=0)
    vectors = vectors * np.where(vectors[strongest, np.arange(vectors.shape[1])] < 0, -1.0, 1.0)
    placed = np.round(centred @ vectors, _DIGITS) + 0.0
    flat = np.pad(placed, ((0, 0), (0, max(0, 2 - placed.shape[1]))))
    return TaskMap(x=tuple(flat[:, 0].tolist()), y=tuple(flat[:, 1].tolist()), nearest=_nearest(placed))


def _features(prompts: Sequence[str], facts: Sequence[Mapping[str, object]]) -> Floats:
    """Return a row for each task with the words that it has, rare ones weighing more, and its facts."""
    words = [frozenset(_WORD.findall(prompt.lower())) for prompt in prompts]
    frequent = Counter(word for found in words for word in found)
    kept = sorted((w for w, n in frequent.items() if 1 < n <= len(words) / 2), key=lambda w: (-frequent[w], w))
    place = {word: number for number, word in enumerate(kept[:_WORDS])}
    pairs = [frozenset(f"{name}={value}" for name, value in row.items()) for row in facts]
    names = {pair: len(place) + number for number, pair in enumerate(sorted(frozenset().union(*pairs)))}
    features = np.zeros((len(words), max(1, len(place) + len(names))))
    for row, (found, own) in enumerate(zip(words, pairs, strict=True)):
        for word in found & place.keys():
            features[row, place[word]] = log(len(words) / frequent[word]) / log(10.0)
        for pair in own:
            features[row, names[pair]] = _FACT
    return features


def _nearest(placed: Floats) -> tuple[tuple[int, ...], ...]:
    """Return the numbers of the nearest tasks of each by Euclidean distance; of equal ones the first."""
    squares = (placed**2).sum(axis=1)
    most = min(NEIGHBOURS, len(placed) - 1)
    nearest: list[tuple[int, ...]] = []
    for start in range(0, len(placed), _BLOCK):
        block = placed[start : start + _BLOCK]
        distances = squares[start : start + _BLOCK, None] + squares[None, :] - 2 * block @ placed.T
        distances[np.arange(len(block)), np.arange(start, start + len(block))] = np.inf
        order = np.argsort(np.round(distances, _DIGITS), axis=1, kind="stable")[:, :most]
        nearest += [tuple(row) for row in order.tolist()]
    return tuple(nearest)
