"""Gate on columns that determine the target: by name, by value, or by their missing cells."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from sandmill.errors import name_some
from sandmill.models.structure import TargetKind
from sandmill.quality.dependence import (
    Levels,
    area_under_curve,
    correlate_ranks,
    level,
    share_by_level,
    share_by_neighbour,
)
from sandmill.quality.package_tables import PackageTables
from sandmill.quality.targets import Target, name_target

PROXY = 0.995
"""Area under the curve, share of the target or |correlation| from which on a column determines the target."""
PROXY_LEAST_ROWS = 50
PROXY_LEAST_MARKED = 5
"""Rows of the rarer class, at least. With fewer, some column separates the classes by chance."""
FEW_LEVELS = 0.1
"""A table level -> target is tried for columns with fewer distinct values than this share of the rows."""


def check_proxy(tables: PackageTables) -> Iterator[str]:
    """Check that no feature has a target's name, and that none determines a target, alone or by its missing cells."""
    facts = tables.facts
    labels = facts.classes if facts.target is TargetKind.MULTILABEL else ()
    taken = {facts.target_column, *facts.target_columns, *labels}
    if named := [name for name in tables.features if name in taken]:
        yield f"columns have the name of a target: {name_some(named)}"
    # Each column and target is ranked once for all measures.
    orders = [level(target.values) for target in tables.test_targets]
    for name in tables.features:
        column = tables.test[name]
        gaps, levels = column.is_null().to_numpy(), level(column.fill_null(strategy="min"))
        for target, order in zip(tables.test_targets, orders, strict=True):
            what, there = name_target(target, tables.test_targets), target.is_known & ~gaps
            share = _share_by_column(levels[there], target.only(there), order[there])
            if share >= PROXY:
                yield f"column {name} alone tells {what} ({share:.4f}, at most {PROXY})"
            share = _share_by_gaps(gaps[target.is_known], target.known()) if gaps.any() else 0.0
            if share >= PROXY:
                yield f"the gaps of column {name} tell {what} ({share:.4f}, at most {PROXY})"


def _share_by_column(levels: Levels, target: Target, order: Levels) -> float:
    """Return the best of several measures of how well one column predicts a target; 1 is perfect.

    `levels` are the ranks of the column, `order` those of the target's values.
    """
    counts = np.bincount(order) if len(order) else np.zeros(0, dtype=np.int64)
    counts = counts[counts > 0]
    if len(order) < PROXY_LEAST_ROWS or len(counts) < 2:
        return 0.0
    is_two = target.is_class and len(counts) == 2
    if is_two and counts.min() < PROXY_LEAST_MARKED:
        return 0.0
    shares = [share_by_neighbour(levels, order, target.is_class)]
    if is_two:
        shares.append(area_under_curve(levels, order == order.max()))
    if not target.is_class:
        shares.append(abs(correlate_ranks(levels, order)[0]))
    if np.count_nonzero(np.bincount(levels)) <= FEW_LEVELS * len(levels):
        shares.append(share_by_level(levels, target.values, target.is_class))
    return max(shares)


def _share_by_gaps(gaps: NDArray[np.bool_], target: Target) -> float:
    if not target.is_class:
        return 0.0
    shown = gaps.astype(np.int64)
    views = [marks for marks in target.marks() if PROXY_LEAST_MARKED <= marks.sum() <= len(marks) - PROXY_LEAST_MARKED]
    return max((area_under_curve(shown, marks) for marks in views), default=0.0)
