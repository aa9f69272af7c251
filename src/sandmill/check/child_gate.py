"""Gate on the child table: every item has its events, as the design declares them, in an order without meaning."""

from collections.abc import Iterator

import numpy as np
import polars as pl

from sandmill.check.data_gates import PROXY, share_by_column
from sandmill.check.dependence import level
from sandmill.check.package_tables import PackageTables
from sandmill.check.targets import name_target
from sandmill.errors import count, name_some
from sandmill.kinds.files.tables import child_excess
from sandmill.models.children import MOST_EVENTS, ChildTable
from sandmill.models.hints import Form
from sandmill.models.motifs import Aggregate


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
