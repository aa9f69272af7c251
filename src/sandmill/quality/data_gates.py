"""Gates on what the rows say: targets, twins, order and proxies. Each yields what is wrong as text."""

from collections.abc import Iterator

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sandmill.models.base import Part
from sandmill.quality.dependence import (
    area_under_curve,
    clustering_p_value,
    correlate_ranks,
    share_told_by_level,
    share_told_by_neighbour,
    split_marks,
)
from sandmill.quality.findings import name_some
from sandmill.quality.tables import ANSWERS, PART, TEST, TRAIN, PackageTables

ROWS_PER_CLASS = 4
"""Classes are at most a quarter of the training rows."""
LEAST_ROWS_OF_A_CLASS = 2

TWINS_ACROSS = 0.01
"""Share of test rows that may have an equal row of features in train."""
TWINS_WITHIN = 0.02
"""Share of training rows that may repeat an earlier one."""

ORDER_ALPHA = 1e-4
PROXY = 0.995
"""Area under the curve, share of the target told or |correlation| at which one column is as good as the target."""
PROXY_LEAST_ROWS = 50
FEW_LEVELS = 0.1
"""A table level -> target is tried for columns with fewer distinct values than this share of the rows."""


def check_targets(tables: PackageTables) -> Iterator[str]:
    """Every class can be learnt and is asked for in both parts; every number is a number and they differ."""
    brief = tables.brief
    parts = tables.answers[PART].to_numpy()
    answers = tables.test_target()
    sets = {TRAIN: tables.train_target()}
    if len(parts) == len(answers):
        sets |= {f"{ANSWERS}, part {part}": answers[parts == str(part)] for part in Part}
    for where, target in sets.items():
        if broken := int((~np.isfinite(target)).sum()):
            yield f"{where}: {broken} rows without a valid target"
        known = target[np.isfinite(target)]
        if brief.classes:
            counts = np.bincount(known.astype(np.int64), minlength=len(brief.classes))
            least = LEAST_ROWS_OF_A_CLASS if where == TRAIN else 1
            if rare := [name for name, count in zip(brief.classes, counts, strict=True) if count < least]:
                yield f"{where}: fewer than {least} rows of {len(rare)} classes ({name_some(rare)})"
        elif not len(known) or known.min() == known.max():
            yield f"{where}: the target is constant"
    if len(brief.classes) * ROWS_PER_CLASS > tables.train.height:
        yield f"{TRAIN}: {len(brief.classes)} classes for {tables.train.height} rows; at most a quarter as many"


def check_twins(tables: PackageTables) -> Iterator[str]:
    """No row of test.csv can be answered by looking up its equal in train.csv."""
    train = tables.train.select(tables.features).hash_rows()
    test = tables.test.select(tables.features).hash_rows()
    across = int(test.is_in(train.implode()).sum()) / max(1, test.len())
    if across > TWINS_ACROSS:
        yield f"{across:.1%} of the rows of {TEST} have an equal row in {TRAIN}; at most {TWINS_ACROSS:.0%}"
    within = (train.len() - train.n_unique()) / max(1, train.len())
    if within > TWINS_WITHIN:
        yield f"{within:.1%} of the rows of {TRAIN} repeat another; at most {TWINS_WITHIN:.0%}"


def check_order(tables: PackageTables) -> Iterator[str]:
    """The place of a row says nothing about its target, neither as a trend nor as clumps."""
    for path, target in ((TRAIN, tables.train_target()), (ANSWERS, tables.test_target())):
        known = target[np.isfinite(target)]
        if len(known) < 3:
            continue
        place = np.arange(len(known), dtype=np.float64)
        views = split_marks(known, bool(tables.brief.classes))
        trends = [known] if not tables.brief.classes else [marks.astype(np.float64) for marks in views]
        trend = min(1.0, len(trends) * min(correlate_ranks(place, view)[1] for view in trends))
        clumps = min(1.0, len(views) * min(clustering_p_value(view) for view in views))
        if trend < ORDER_ALPHA:
            yield f"{path}: the target has a trend along the rows (p = {trend:.1e})"
        if clumps < ORDER_ALPHA:
            yield f"{path}: equal targets stand in clumps or alternate (p = {clumps:.1e})"


def check_proxy(tables: PackageTables) -> Iterator[str]:
    """No single column, nor its gaps, is the target in another dress."""
    target = tables.test_target()
    known = np.isfinite(target)
    for name in tables.features:
        cells = tables.test[name]
        gaps = cells.is_null().to_numpy()
        there = known & ~gaps
        told = _tell(cells.filter(pl.Series(there)), target[there], bool(tables.brief.classes))
        if told >= PROXY:
            yield f"column {name} alone tells the target ({told:.4f}, at most {PROXY})"
        if gaps.any() and tables.brief.classes:
            views = split_marks(target[known], is_class=True)
            told = max((area_under_curve(gaps[known].astype(np.float64), marks) for marks in views), default=0.0)
            if told >= PROXY:
                yield f"the gaps of column {name} tell the target ({told:.4f}, at most {PROXY})"


def _tell(cells: pl.Series, target: NDArray[np.float64], is_class: bool) -> float:
    """Best of several measures of how far one column alone settles the target; 1 is wholly."""
    if len(target) < PROXY_LEAST_ROWS or len(np.unique(target)) < 2:
        return 0.0
    levels = cells.rank("dense").to_numpy().astype(np.int64) - 1
    values = cells.to_numpy().astype(np.float64) if cells.dtype.is_numeric() else levels.astype(np.float64)
    told = [share_told_by_neighbour(values, target, is_class)]
    if is_class and len(np.unique(target)) == 2:
        told.append(area_under_curve(values, target == target.max()))
    if not is_class:
        told.append(abs(correlate_ranks(values, target)[0]))
    if levels.max() + 1 <= FEW_LEVELS * len(levels):
        told.append(share_told_by_level(levels, target, is_class))
    return max(told)
