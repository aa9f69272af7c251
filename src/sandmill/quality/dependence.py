"""Small-sample tests of dependence that gates share: cheap, deterministic, and honest for rare classes."""

import math

import numpy as np
import polars as pl
from numpy.typing import NDArray

Array = NDArray[np.float64]
Levels = NDArray[np.int64]
"""Whole numbers from 0 on that stand for values in their order: they are ranked and sorted by counting."""

_SMALL = 1 << 16
"""Numbers below it are sorted by counting."""


def level(values: Array | pl.Series) -> Levels:
    """Replace values by whole numbers of the same order, once for all the measures that read nothing but order."""
    return pl.Series(values).rank("dense").to_numpy().astype(np.int64) - 1


def rank(values: Array | Levels) -> Array:
    """Replace numbers by their ranks, ties sharing the average, so that only order counts."""
    if not np.issubdtype(values.dtype, np.integer):
        return pl.Series(values).rank("average").to_numpy().astype(np.float64)
    counts = np.bincount(values.astype(np.int64, copy=False))
    return np.asarray((np.cumsum(counts) - (counts - 1) / 2)[values])


def _sort(values: Array | Levels) -> NDArray[np.intp]:
    """Places of the values in rising order, equal ones as they stand."""
    if np.issubdtype(values.dtype, np.integer) and values.max() < _SMALL:
        return np.argsort(values.astype(np.uint16), kind="stable")
    return np.argsort(values, kind="stable")


def correlate_ranks(left: Array | Levels, right: Array | Levels) -> tuple[float, float]:
    """Measure monotone dependence: Spearman's rho and its two-sided p-value by the normal approximation.

    The variance 1/(n - 1) is exact under permutation, with or without ties; only the tail's shape is approximate, and
    conservative for a class of few rows. A constant column gives (0, 1).
    """
    if len(left) < 3:
        return 0.0, 1.0
    x, y = rank(left), rank(right)
    x, y = x - x.mean(), y - y.mean()
    norm = math.sqrt(float(x @ x) * float(y @ y))
    if norm == 0:
        return 0.0, 1.0
    rho = float(x @ y) / norm
    return rho, math.erfc(abs(rho) * math.sqrt((len(x) - 1) / 2))


def clustering_p_value(marks: NDArray[np.bool_]) -> float:
    """Test whether marked rows stand in clumps or alternate: the runs test, exact, so that rare rows are judged fairly.

    The number of runs of marked rows under random order is hypergeometric: m marked rows fall into the n - m + 1 gaps
    between the others (Wald and Wolfowitz 1940). Two-sided by doubling the smaller tail.
    """
    from scipy.stats import hypergeom

    marked, rows = int(marks.sum()), len(marks)
    if marked in (0, rows):
        return 1.0
    starts = int(marks[0]) + int(np.sum(marks[1:] & ~marks[:-1]))
    law = (rows, rows - marked + 1, marked)
    return min(1.0, 2 * min(float(hypergeom.cdf(starts, *law)), float(hypergeom.sf(starts - 1, *law))))


def split_marks(target: Array, is_class: bool) -> list[NDArray[np.bool_]]:
    """View a target as yes-or-no marks: one view for each class, or above the median for numbers."""
    if not is_class:
        return [target > np.median(target)]
    codes = np.unique(target)
    return [target == code for code in (codes[1:] if len(codes) == 2 else codes)]


def area_under_curve(values: Array | Levels, marks: NDArray[np.bool_]) -> float:
    """Share of (marked, unmarked) pairs that a column orders one way: 0.5 says nothing, 1 separates. Folded at 0.5."""
    positives, negatives = int(marks.sum()), int((~marks).sum())
    if not positives or not negatives:
        return 0.5
    ranks = rank(values)[marks].sum() - positives * (positives + 1) / 2
    area = float(ranks) / (positives * negatives)
    return max(area, 1 - area)


def share_told_by_neighbour(values: Array | Levels, target: Array | Levels, is_class: bool) -> float:
    """Measure how much of the target any rule of one column alone could tell, without choosing the rule's form.

    Rows are sorted by the column and each target is guessed from the row before: 1 means that the column determines the
    target through some map with few breaks, 0 that it tells nothing. For numbers this is 1 - von Neumann's ratio / 2 of
    their ranks (ranks, so that one break costs little), an estimate of R squared; for classes, agreement beyond chance,
    with the breaks that as many classes need forgiven.
    """
    if len(target) < 3:
        return 0.0
    ordered = (target if is_class else rank(target))[_sort(values)]
    if not is_class:
        variance = float(np.var(ordered))
        return 0.0 if variance == 0 else 1 - float(np.mean(np.diff(ordered) ** 2)) / (2 * variance)
    _, counts = np.unique(ordered, return_counts=True)
    chance = float(np.sum((counts / counts.sum()) ** 2))
    breaks = max(0, int(np.sum(np.diff(ordered) != 0)) - (len(counts) - 1))
    return 0.0 if chance == 1 else (1 - breaks / (len(ordered) - 1) - chance) / (1 - chance)


def share_told_by_level(levels: Levels, target: Array, is_class: bool) -> float:
    """Measure how much of the target the best table level -> target tells, on the rows it is made from.

    1 means that every level has one target. Meant for columns of few levels: with many, any table fits.
    """
    if not is_class:
        sums, counts = np.bincount(levels, target), np.bincount(levels)
        within = target - (sums / np.maximum(counts, 1))[levels]
        variance = float(np.var(target))
        return 0.0 if variance == 0 else 1 - float(np.mean(within**2)) / variance
    table = np.zeros((int(levels.max()) + 1, int(target.max()) + 1))
    np.add.at(table, (levels, target.astype(np.int64)), 1)
    base = float(table.sum(axis=0).max()) / len(target)
    hit = float(table.max(axis=1).sum()) / len(target)
    return 0.0 if base == 1 else (hit - base) / (1 - base)


def same_spread_p_value(left: Array, right: Array) -> float:
    """Test whether two samples lie alike on the line, wherever they may differ: Kolmogorov and Smirnov's test.

    The tail is the asymptotic one with Stephens' correction for small samples; ties make it conservative.
    """
    if not len(left) or not len(right):
        return 1.0
    row_numbers = np.concatenate([left, right])
    steps = [np.searchsorted(np.sort(side), row_numbers, side="right") / len(side) for side in (left, right)]
    root = math.sqrt(len(left) * len(right) / (len(left) + len(right)))
    score = (root + 0.12 + 0.11 / root) * float(np.max(np.abs(steps[0] - steps[1])))
    tail = 2 * sum((-1) ** (k - 1) * math.exp(-2 * (k * score) ** 2) for k in range(1, 101))
    return min(1.0, max(0.0, tail)) if score > 0.2 else 1.0


def overhang_p_value(left: Array, right: Array) -> float:
    """Test whether two samples have the same ends: how unlikely it is that so many of one lie beyond all of the other.

    With k of m values above (or below) all n others, chance puts the k extremes of n + m on one side with probability
    m / (n + m) * (m - 1) / (n + m - 1) * ...; the smallest of the four, times four.
    """
    if not len(left) or not len(right):
        return 1.0
    chances = [
        _chance_of_extremes(beyond, len(side), len(left) + len(right))
        for side, other in ((left, right), (right, left))
        for beyond in (int((side > other.max()).sum()), int((side < other.min()).sum()))
    ]
    return min(1.0, 4 * min(chances))


def _chance_of_extremes(count: int, own: int, total: int) -> float:
    logs = (
        math.lgamma(own + 1),
        -math.lgamma(own - count + 1),
        -math.lgamma(total + 1),
        math.lgamma(total - count + 1),
    )
    return math.exp(min(0.0, math.fsum(logs)))
