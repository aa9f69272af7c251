"""Gates on the rows and on the child table: targets, repeated rows, order, columns that determine a target."""

import math
from collections.abc import Iterable, Iterator

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sandmill.check.dependence import (
    Array,
    Levels,
    area_under_curve,
    clustering_p_value,
    correlate_ranks,
    level,
    share_by_level,
    share_by_neighbour,
)
from sandmill.check.package_tables import ANSWERS, PackageTables
from sandmill.check.targets import TargetValues, name_target
from sandmill.errors import count, name_some
from sandmill.kinds.files.tables import child_excess
from sandmill.models.base import Part
from sandmill.models.columns import MOST_EVENTS, ChildTable
from sandmill.models.hints import Form
from sandmill.models.motifs import Aggregate
from sandmill.models.package import TaskFacts
from sandmill.models.structure import MetricName, TargetKind
from sandmill.scoring import get_metric

ROWS_PER_CLASS = 4
"""Training rows for each class, at least."""
LEAST_ROWS_OF_A_CLASS = 2
"""In train; each part of the test set needs one. For labels, rows with and rows without it are counted."""

NO_ZEROS = frozenset({MetricName.MAPE})
"""Metrics that are undefined where the true value is zero."""

TWINS_ACROSS = 0.01
"""Largest share of test rows whose features equal those of a training row."""
TWINS_WITHIN = 0.02
"""Largest share of training rows that repeat the features of an earlier one, without declared copies."""
CHANCE_FACTOR = 1.3
"""Factor on the share of twins that rows of few values have by chance."""
COPIES_SIGMAS = 5.0

ORDER_ALPHA = 1e-4

PROXY = 0.995
"""Area under the curve, share of the target or |correlation| from which on a column determines the target."""
PROXY_LEAST_ROWS = 50
PROXY_LEAST_MARKED = 5
"""Rows of the rarer class, at least. With fewer, some column separates the classes by chance."""
FEW_LEVELS = 0.1
"""A table level -> target is tried for columns with fewer distinct values than this share of the rows."""


def check_targets(tables: PackageTables) -> Iterator[str]:
    """Check the targets: each class occurs often enough in every part; numbers are valid and not all equal."""
    facts, rows = tables.facts, tables.train.height
    sets: dict[str, tuple[TargetValues, ...]] = {tables.layout.train: tables.train_targets}
    for part in Part:
        inside = tables.test_parts == str(part)
        sets[f"{ANSWERS}, part {part}"] = tuple(target.only(inside) for target in tables.test_targets)
    for where, targets in sets.items():
        for target in targets:
            what = f"{where}: {target.name}" if len(targets) > 1 else where
            if broken := int((~target.is_known).sum()):
                yield f"{what}: {count(broken, 'row')} without a valid target"
            if target.is_class:
                yield from _check_classes(
                    what, target.known(), LEAST_ROWS_OF_A_CLASS if where == tables.layout.train else 1
                )
            else:
                yield from _check_numbers(what, target.known().values, facts)
    if facts.target is not TargetKind.MULTILABEL and len(facts.classes) * ROWS_PER_CLASS > rows:
        yield f"{tables.layout.train}: {len(facts.classes)} classes for {rows} rows; at most a quarter as many"


def _check_classes(where: str, target: TargetValues, least: int) -> Iterator[str]:
    counts = np.bincount(target.values.astype(np.int64), minlength=len(target.classes))
    if rare := [name for name, rows in zip(target.classes, counts, strict=True) if rows < least]:
        noun = "class" if len(rare) == 1 else "classes"
        yield f"{where}: fewer than {count(least, 'row')} of {noun} {name_some(rare)}"


def _check_numbers(where: str, values: Array, facts: TaskFacts) -> Iterator[str]:
    if not len(values) or values.min() == values.max():
        yield f"{where}: the target is constant"
    if facts.target is TargetKind.COUNT and (odd := int(((values < 0) | (values != np.round(values))).sum())):
        yield f"{where}: {count(odd, 'row')} whose target is no count"
    if get_metric(facts.metric).is_nonnegative and (below := int((values < 0).sum())):
        yield f"{where}: {count(below, 'negative target')}, which {facts.metric} cannot score"
    if facts.metric in NO_ZEROS and (zeros := int((values == 0).sum())):
        yield f"{where}: {count(zeros, 'target')} of zero, which {facts.metric} cannot score"


def check_twins(tables: PackageTables) -> Iterator[str]:
    """Check that test rows do not repeat training rows, and that training rows repeat only as declared."""
    if tables.spec.kind.ids == "item":  # The gate of ids finds equal items.
        return
    layout = tables.layout
    train = tables.train.select(tables.features).hash_rows()
    test = tables.test.select(tables.features).hash_rows()
    across = int(test.is_in(train.implode()).sum()) / max(1, test.len())
    chance_across, chance_within = _twins_by_chance(test, train.len())
    if across > TWINS_ACROSS + CHANCE_FACTOR * chance_across:
        most = f"at most {TWINS_ACROSS + CHANCE_FACTOR * chance_across:.0%}"
        yield f"{across:.1%} of the rows of {layout.test} have an equal row in {layout.train}; {most}"
    copies = _count_repeats(tables.train, [*tables.features, *tables.facts.target_columns])
    repeats = _count_repeats(tables.train, tables.features)
    declared = _most_copies(tables)
    within = (repeats - min(copies, declared)) / max(1, train.len())
    if within > TWINS_WITHIN + CHANCE_FACTOR * chance_within:
        but = f", {declared} declared copies left out" if declared else ""
        most = f"at most {TWINS_WITHIN + CHANCE_FACTOR * chance_within:.0%}"
        yield f"{within:.1%} of the rows of {tables.layout.train} repeat another{but}; {most}"


def _twins_by_chance(test: pl.Series, rows: int) -> tuple[float, float]:
    """Return the shares of rows with a twin that independent rows of few values have, from repeats within the test.

    Args:
        test: hashes of the test rows.
        rows: training rows. Each may be the twin of a test row, or repeat an earlier one.
    """
    counts = test.value_counts()["count"].to_numpy().astype(np.float64)
    total = counts.sum()
    if total < 2:
        return 0.0, 0.0
    other = (counts - 1) / (total - 1)
    across = float((counts * (1 - (1 - other) ** rows)).sum() / total)
    within = float((counts * (1 - (1 - other) ** (rows / 2))).sum() / total)
    return across, within


def _count_repeats(frame: pl.DataFrame, columns: list[str]) -> int:
    rows = frame.select(columns).hash_rows()
    return rows.len() - rows.n_unique()


def _most_copies(tables: PackageTables) -> int:
    """Return the largest plausible number of declared copies."""
    if (declared := tables.spec.mechanism.duplicates()) is None:
        return 0
    rows, rate = tables.train.height, declared.rate
    return math.floor(rows * rate + COPIES_SIGMAS * math.sqrt(rows * rate * (1 - rate)))


def check_order(tables: PackageTables) -> Iterator[str]:
    """Check that the order of rows does not depend on the targets, neither by a trend nor by clusters.

    All views of all targets are tested, and p-values are multiplied by their number.
    """
    for path, targets in ((tables.layout.train, tables.train_targets), (ANSWERS, tables.test_targets)):
        known = [target.known() for target in targets if target.is_known.sum() >= 3]
        named = [(target, name_target(target, targets)) for target in known]
        for target, what in named:
            place = np.arange(len(target.values))
            if (p := len(known) * _least(correlate_ranks(place, view)[1] for view in target.orders())) < ORDER_ALPHA:
                yield f"{path}: {what} has a trend along the rows (p = {p:.1e})"
        for target, what in named:
            if (p := len(known) * _least(clustering_p_value(view) for view in target.marks())) < ORDER_ALPHA:
                yield f"{path}: equal values of {what} stand in clumps or alternate (p = {p:.1e})"


def _least(p_values: Iterable[float]) -> float:
    """Return the smallest p-value times their number."""
    listed = list(p_values)
    return len(listed) * min(listed, default=1.0)


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
            share = share_by_column(levels[there], target.only(there), order[there])
            if share >= PROXY:
                yield f"column {name} alone tells {what} ({share:.4f}, at most {PROXY})"
            share = _share_by_gaps(gaps[target.is_known], target.known()) if gaps.any() else 0.0
            if share >= PROXY:
                yield f"the gaps of column {name} tell {what} ({share:.4f}, at most {PROXY})"


def share_by_column(levels: Levels, target: TargetValues, order: Levels) -> float:
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


def _share_by_gaps(gaps: NDArray[np.bool_], target: TargetValues) -> float:
    if not target.is_class:
        return 0.0
    shown = gaps.astype(np.int64)
    views = [marks for marks in target.marks() if PROXY_LEAST_MARKED <= marks.sum() <= len(marks) - PROXY_LEAST_MARKED]
    return max((area_under_curve(shown, marks) for marks in views), default=0.0)


def check_child(tables: PackageTables) -> Iterator[str]:
    """Check ids, cells and order of the child table, that stated summaries fit it, and that no total tells a target."""
    child, events = tables.spec.mechanism.child, tables.events
    if child is None or events is None:
        return
    name = tables.facts.id_column
    ids = pl.concat([tables.train[name], tables.test[name]])
    yield from child_excess(child, tables.package.public[child.path], ids.len())
    counts = events[name].value_counts(name="rows")
    if strange := int((~counts[name].is_in(ids.implode())).sum()):
        yield f"{child.path}: {count(strange, 'id')} of no item"
    if lacking := int((~ids.is_in(counts[name].implode())).sum()):
        yield f"{child.path}: {count(lacking, 'item')} without rows"
    if crowded := int((counts["rows"] > MOST_EVENTS).sum()):
        yield f"{child.path}: {count(crowded, 'item')} with more than {MOST_EVENTS} rows"
    yield from _check_cells(child, events)
    order = pl.struct(pl.col(name), -pl.col(child.age), pl.col(child.kind), pl.col(child.amount))
    if not events.select(order.alias("order"))["order"].is_sorted():
        yield f"{child.path}: rows are not sorted by id, age, kind and amount"
    yield from _check_summaries(tables, child)
    yield from _check_totals(tables, child, events)


def _check_cells(child: ChildTable, events: pl.DataFrame) -> Iterator[str]:
    if strange := sorted(set(events[child.kind]) - set(child.kinds)):
        yield f"{child.path}: kinds that are not declared in column {child.kind} ({name_some(strange)})"
    amounts, ages = events[child.amount], events[child.age]
    if wrong := int(((amounts <= 0) | ((amounts - amounts.round(child.decimals)).abs() > 1e-9)).sum()):
        yield f"{child.path}: {count(wrong, 'cell')} of column {child.amount} with a sign or decimals of their own"
    if wrong := int(((ages < 0) | (ages >= child.horizon)).sum()):
        yield f"{child.path}: {count(wrong, 'cell')} of column {child.age} outside of 0 to {child.horizon - 1}"


def _check_summaries(tables: PackageTables, child: ChildTable) -> Iterator[str]:
    """Check that stated summaries and those of the rule name kinds and days that the child table has."""
    stated = [hint.fact.motif for hint in tables.spec.hints if isinstance(hint.fact, Form)]
    used = [term.motif for term in tables.spec.mechanism.terms]
    for motif in (*stated, *used):
        if isinstance(motif, Aggregate):
            if any(not 0 <= code < len(child.kinds) for code in motif.kinds):
                yield f"{child.path}: a summary {motif.how} of kinds that it does not have"
            if motif.days is not None and motif.days >= child.horizon:
                yield f"{child.path}: a summary {motif.how} over {motif.days} days of {child.horizon}"


def _check_totals(tables: PackageTables, child: ChildTable, events: pl.DataFrame) -> Iterator[str]:
    """Check that neither the number of an item's rows nor the sum or mean of its amounts determines a target."""
    name = tables.facts.id_column
    amount, age = pl.col(child.amount), pl.col(child.age)
    totals = events.group_by(name).agg(rows=pl.len(), sum=amount.sum(), mean=amount.mean(), least_age=age.min())
    by_item = tables.test.select(name).join(totals, on=name, how="left", maintain_order="left")
    for column in by_item.drop(name):
        levels = level(column.fill_null(-1).to_numpy().astype(np.float64))
        for target in tables.test_targets:
            known = target.is_known
            share = share_by_column(levels[known], target.known(), level(target.known().values))
            if share >= PROXY:
                what = name_target(target, tables.test_targets)
                yield f"{child.path}: {column.name} of an item alone tells {what} ({share:.4f}, at most {PROXY})"
