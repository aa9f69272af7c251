"""Draw the training, feedback and final rows of a task. Parts are drawn separately, so they share no unit."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sandmill.mechanism import draw_rows
from sandmill.mechanism.columns import Floats
from sandmill.mechanism.row_numbers import RowNumbers
from sandmill.mechanism.sampling import Draw
from sandmill.models.links import class_names
from sandmill.models.mechanism import Mechanism
from sandmill.models.structure import SplitKind
from sandmill.rng import Streams

_POOL = 8
"""Rows drawn for each training row of a stratified split."""
_MIN_CLASS_ROWS = 2
"""Training rows that a stratified split takes of every class, if the pool has them."""


@dataclass(frozen=True)
class PartRows:
    """Rows of one part, with their streams."""

    draw: Draw
    streams: Streams

    @property
    def numbers(self) -> RowNumbers:
        """What rendering draws random numbers from."""
        return RowNumbers(self.streams, self.draw.numbers)


def draw_train(mechanism: Mechanism, split: SplitKind, streams: Streams, rows: int) -> PartRows:
    """Draw the training rows. In a stratified split, classes have the shares of a larger pool."""
    if split is not SplitKind.STRATIFIED:
        return PartRows(draw_rows(mechanism, streams, range(rows), is_train=True), streams)
    pool = draw_rows(mechanism, streams, range(_POOL * rows), is_train=True)
    return PartRows(pool.take(_stratify(pool.target, len(class_names(mechanism.link)), rows)), streams)


def draw_test(mechanism: Mechanism, streams: Streams, rows: int) -> PartRows:
    """Draw the rows of the feedback or the final part."""
    return PartRows(draw_rows(mechanism, streams, range(rows), is_train=False), streams)


def _stratify(target: Floats, classes: int, rows: int) -> NDArray[np.intp]:
    """Return the first rows of a pool that give every class its share of `rows`, and at least `_MIN_CLASS_ROWS`."""
    counts = np.bincount(target.astype(np.intp), minlength=classes)
    exact = counts / len(target) * rows
    quota = np.maximum(np.floor(exact).astype(np.intp), np.minimum(_MIN_CLASS_ROWS, counts))
    while quota.sum() < rows:
        quota[np.argmax(np.where(quota < counts, exact - quota, -np.inf))] += 1
    while quota.sum() > rows:
        quota[np.argmax(np.where(quota > _MIN_CLASS_ROWS, quota - exact, -np.inf))] -= 1
    ranks = np.zeros(len(target), dtype=np.intp)
    for code in range(classes):
        members = target == code
        ranks[members] = np.arange(members.sum())
    return np.flatnonzero(ranks < quota[target.astype(np.intp)])
