"""Gates on rows and child table: targets, repeated rows, order, columns that tell a target, splits by unit or time."""

import math
from collections.abc import Iterable, Iterator
from itertools import combinations

import numpy as np
import polars as pl

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
from sandmill.check.file_gates import ID_ALPHA, id_views, read_ids
from sandmill.check.package_tables import ANSWERS, PackageTables, TargetValues, date_columns, name_target
from sandmill.errors import count, name_some
from sandmill.kinds.files.tables import child_excess
from sandmill.models.base import Part
from sandmill.models.columns import MOST_EVENTS
from sandmill.models.hints import Form
from sandmill.models.motifs import Aggregate
from sandmill.models.package import TaskFacts
from sandmill.models.structure import MetricName, SplitKind, TargetKind
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

LEAST_UNITS = 4
"""Units in train and in each part, at least. With fewer, none can be held out for validation."""
MOST_UNITS = 0.75
"""Units for each row, at most. With more, rows hardly share units."""


def check_targets(tables: PackageTables) -> Iterator[str]:
    """Check the targets: each class occurs often enough in every part; numbers are valid and not all equal."""
    facts, train = tables.facts, tables.layout.train
    sets = {train: tables.train_targets}
    for part in Part:
        inside = tables.test_parts == str(part)
        sets[f"{ANSWERS}, part {part}"] = tuple(target.only(inside) for target in tables.test_targets)
    for where, targets in sets.items():
        for target in targets:
            what = f"{where}: {target.name}" if len(targets) > 1 else where
            if broken := int((~target.is_known).sum()):
                yield f"{what}: {count(broken, 'row')} without a valid target"
            values = target.known().values
            if not target.classes:
                yield from _check_numbers(what, values, facts)
                continue
            least = LEAST_ROWS_OF_A_CLASS if where == train else 1
            counts = np.bincount(values.astype(np.int64), minlength=len(target.classes))
            if rare := [name for name, rows in zip(target.classes, counts, strict=True) if rows < least]:
                noun = "class" if len(rare) == 1 else "classes"
                yield f"{what}: fewer than {count(least, 'row')} of {noun} {name_some(rare)}"
    if facts.target is not TargetKind.MULTILABEL and len(facts.classes) * ROWS_PER_CLASS > tables.train.height:
        yield f"{train}: {len(facts.classes)} classes for {tables.train.height} rows; at most a quarter as many"


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
    layout, rows = tables.layout, tables.train.height
    train, test, whole = (
        frame.select(columns).hash_rows()
        for frame, columns in (
            (tables.train, tables.features),
            (tables.test, tables.features),
            (tables.train, [*tables.features, *tables.facts.target_columns]),
        )
    )
    across = int(test.is_in(train.implode()).sum()) / max(1, test.len())
    chance_across, chance_within = _twins_by_chance(test, rows)
    if across > (most := TWINS_ACROSS + CHANCE_FACTOR * chance_across):
        yield f"{across:.1%} of the rows of {layout.test} have an equal row in {layout.train}; at most {most:.0%}"
    repeats, copies = (hashes.len() - hashes.n_unique() for hashes in (train, whole))
    rate = fault.rate if (fault := tables.spec.mechanism.duplicates()) else 0.0
    # The largest plausible number of declared copies
    declared = math.floor(rows * rate + COPIES_SIGMAS * math.sqrt(rows * rate * (1 - rate)))
    within = (repeats - min(copies, declared)) / max(1, rows)
    if within > (most := TWINS_WITHIN + CHANCE_FACTOR * chance_within):
        but = f", {declared} declared copies left out" if declared else ""
        yield f"{within:.1%} of the rows of {layout.train} repeat another{but}; at most {most:.0%}"


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
            classes = target.known().marks() if gaps.any() and target.classes else []
            # Gaps separate a class of fewer rows by chance.
            common = [rows for rows in classes if PROXY_LEAST_MARKED <= rows.sum() <= len(rows) - PROXY_LEAST_MARKED]
            is_gap = gaps[target.is_known].astype(np.int64)
            share = max((area_under_curve(is_gap, rows) for rows in common), default=0.0)
            if share >= PROXY:
                yield f"the gaps of column {name} tell {what} ({share:.4f}, at most {PROXY})"


def share_by_column(levels: Levels, target: TargetValues, order: Levels) -> float:
    """Return the best of several measures of how well one column predicts a target; 1 is perfect.

    `levels` are the ranks of the column, `order` those of the target's values.
    """
    counts = np.bincount(order) if len(order) else np.zeros(0, dtype=np.int64)
    counts, is_class = counts[counts > 0], bool(target.classes)
    if len(order) < PROXY_LEAST_ROWS or len(counts) < 2:
        return 0.0
    is_two = is_class and len(counts) == 2
    if is_two and counts.min() < PROXY_LEAST_MARKED:
        return 0.0
    shares = [share_by_neighbour(levels, order, is_class)]
    if is_two:
        shares.append(area_under_curve(levels, order == order.max()))
    if not is_class:
        shares.append(abs(correlate_ranks(levels, order)[0]))
    if np.count_nonzero(np.bincount(levels)) <= FEW_LEVELS * len(levels):
        shares.append(share_by_level(levels, target.values, is_class))
    return max(shares)


def check_child(tables: PackageTables) -> Iterator[str]:
    """Check ids, cells and order of the child table, that stated summaries fit it, and that no total tells a target."""
    child, events = tables.spec.mechanism.child, tables.events
    if child is None or events is None:
        return
    path, name = child.path, tables.facts.id_column
    ids = pl.concat([tables.train[name], tables.test[name]])
    yield from child_excess(child, tables.package.public[path], ids.len())
    counts = events[name].value_counts(name="rows")
    amounts, ages = events[child.amount], events[child.age]
    is_odd = (amounts <= 0) | ((amounts - amounts.round(child.decimals)).abs() > 1e-9)
    for broken, noun, fault in (
        (~counts[name].is_in(ids.implode()), "id", "of no item"),
        (~ids.is_in(counts[name].implode()), "item", "without rows"),
        (counts["rows"] > MOST_EVENTS, "item", f"with more than {MOST_EVENTS} rows"),
        (is_odd, "cell", f"of column {child.amount} with a sign or decimals of their own"),
        ((ages < 0) | (ages >= child.horizon), "cell", f"of column {child.age} outside of 0 to {child.horizon - 1}"),
    ):
        if rows := int(broken.sum()):
            yield f"{path}: {count(rows, noun)} {fault}"
    if strange := sorted(set(events[child.kind]) - set(child.kinds)):
        yield f"{path}: kinds that are not declared in column {child.kind} ({name_some(strange)})"
    order = pl.struct(pl.col(name), -pl.col(child.age), pl.col(child.kind), pl.col(child.amount))
    if not events.select(order.alias("order"))["order"].is_sorted():
        yield f"{path}: rows are not sorted by id, age, kind and amount"
    # Summaries that hints state and those of the rule name kinds and days that the child table has.
    stated = [hint.fact.motif for hint in tables.spec.hints if isinstance(hint.fact, Form)]
    for motif in (*stated, *(term.motif for term in tables.spec.mechanism.terms)):
        if isinstance(motif, Aggregate):
            if any(not 0 <= code < len(child.kinds) for code in motif.kinds):
                yield f"{path}: a summary {motif.how} of kinds that it does not have"
            if motif.days is not None and motif.days >= child.horizon:
                yield f"{path}: a summary {motif.how} over {motif.days} days of {child.horizon}"
    # Neither the number of an item's rows nor the sum or mean of its amounts determines a target.
    amount, age = pl.col(child.amount), pl.col(child.age)
    totals = events.group_by(name).agg(rows=pl.len(), sum=amount.sum(), mean=amount.mean(), least_age=age.min())
    by_item = tables.test.select(name).join(totals, on=name, how="left", maintain_order="left")
    for column in by_item.drop(name):
        levels = level(column.fill_null(-1).to_numpy().astype(np.float64))
        for target in tables.test_targets:
            known = target.known()
            share = share_by_column(levels[target.is_known], known, level(known.values))
            if share >= PROXY:
                what = name_target(target, tables.test_targets)
                yield f"{path}: {column.name} of an item alone tells {what} ({share:.4f}, at most {PROXY})"


def check_units(tables: PackageTables) -> Iterator[str]:
    """Check that units are in one part only, have several rows, and have names that do not depend on targets."""
    name, layout = tables.spec.mechanism.unit_column(), tables.layout
    if name is None or name not in tables.features:
        if tables.spec.split is SplitKind.GROUPED:
            lacking = "no column names units" if name is None else f"the files do not show column {name}"
            yield f"the split is by unit, but {lacking}"
        return
    parts = {layout.train: tables.train[name]}
    parts |= {
        f"part {part} of {layout.test}": tables.test[name].filter(tables.test_parts == str(part)) for part in Part
    }
    for (first, here), (second, there) in combinations(parts.items(), 2):
        if shared := len(set(here.drop_nulls()) & set(there.drop_nulls())):
            yield f"{count(shared, 'unit')} of column {name} in both {first} and {second}"
    for where, cells in parts.items():
        units = cells.n_unique()
        if units < LEAST_UNITS:
            yield f"{where}: column {name} has {count(units, 'unit')}; at least {LEAST_UNITS}"
        elif units > MOST_UNITS * cells.len():
            yield f"{where}: column {name} has {units} units for {cells.len()} rows; rows must share them"
    targets = (tables.train_targets, (*tables.test_targets, tables.final))
    for (where, frame), readable in zip(tables.parts(), targets, strict=True):
        # Cells that differ within a unit also show two units of one name.
        columns = tables.spec.mechanism.columns
        shared_cells = [column.name for column in columns if column.unit == name and column.name in frame.columns]
        counts = frame.group_by(name).agg(pl.col(shared_cells).n_unique())
        if varying := [column for column in shared_cells if counts[column].max() != 1]:
            yield f"{where}: rows of one unit differ in {name_some(varying)}"
        for target in readable:
            # Rows of a unit are not independent, so its mean counts.
            rows = pl.DataFrame({"unit": frame[name], "value": target.values}).filter(pl.Series(target.is_known))
            by_unit = rows.drop_nulls().group_by("unit", maintain_order=True).mean()
            what = f"{where}: names in column {name} tell {target.name}"
            yield from read_ids(what, id_views(by_unit["unit"]), by_unit["value"].to_numpy(), ID_ALPHA)


def check_time(tables: PackageTables) -> Iterator[str]:
    """Check that test dates are later if the split is by time, and that dates lie in the declared span."""
    dates = [(column, date) for column, date in date_columns(tables.spec) if column.name in tables.features]
    split, layout = tables.spec.split, tables.layout
    parting = [column.name for column, date in dates if date.train_days is not None]
    if split is SplitKind.TEMPORAL and not parting:
        yield "the split is by time, but no date column parts train and test"
    if split is not SplitKind.TEMPORAL and parting:
        yield f"column {parting[0]} parts train and test by time, but the split is {split}"
    for column, date in dates:
        for path, frame in tables.parts():
            # Days count from the first day of the column, 0.
            days = frame[column.name].drop_nulls()
            if outside := int(((days < 0) | (days >= date.days)).sum()):
                yield f"{path}: {count(outside, 'cell')} of column {column.name} outside the declared span"
        last = tables.train[column.name].max()
        if column.name in parting and (early := int((tables.test[column.name] <= last).sum())):
            yield f"{count(early, 'row')} of {layout.test} not later than all of {layout.train} by column {column.name}"
