"""Gates on the split of train and test by unit or by time. Each yields findings as text."""

from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np
import polars as pl

from sandmill.check.dependence import Array, overhang_p_value, same_spread_p_value
from sandmill.check.file_gates import ID_ALPHA, id_views, read_ids
from sandmill.check.package_tables import PackageTables, date_columns
from sandmill.check.targets import TargetValues
from sandmill.errors import count, name_some
from sandmill.models.base import Part
from sandmill.models.columns import Column
from sandmill.models.structure import SplitKind

LEAST_UNITS = 4
"""Units in train and in each part, at least. With fewer, none can be held out for validation."""
MOST_UNITS = 0.75
"""Units for each row, at most. With more, rows hardly share units."""
TIME_ALPHA = 1e-5


def check_units(tables: PackageTables) -> Iterator[str]:
    """Check that units are in one part only, have several rows, and have names that do not depend on targets."""
    name = tables.spec.mechanism.unit_column()
    if name is None:
        if tables.spec.split is SplitKind.GROUPED:
            yield "the split is by unit, but no column names units"
        return
    layout = tables.layout
    if name not in tables.features:
        if tables.spec.split is SplitKind.GROUPED:
            yield f"the split is by unit, but the files do not show column {name}"
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
    final = TargetValues("the part", (tables.test_parts == str(Part.FINAL)).astype(np.float64))
    with_part = (*tables.test_targets, final)
    for where, frame, targets in (
        (layout.train, tables.train, tables.train_targets),
        (layout.test, tables.test, with_part),
    ):
        yield from _check_shared_cells(where, frame, name, tables.spec.mechanism.columns)
        yield from _check_unit_names(where, frame[name], targets)


def _check_shared_cells(where: str, frame: pl.DataFrame, unit: str, columns: Sequence[Column]) -> Iterator[str]:
    """Check that columns of a unit are equal in all its rows. This also finds two units of one name."""
    shared = [column.name for column in columns if column.unit == unit and column.name in frame.columns]
    counts = frame.group_by(unit).agg(pl.col(shared).n_unique())
    if varying := [name for name in shared if counts[name].max() != 1]:
        yield f"{where}: rows of one unit differ in {name_some(varying)}"


def _check_unit_names(where: str, units: pl.Series, targets: Sequence[TargetValues]) -> Iterator[str]:
    for target in targets:
        # Rows of a unit are not independent, so its mean counts.
        frame = pl.DataFrame({"unit": units, "value": target.values}).filter(pl.Series(target.is_known)).drop_nulls()
        by_unit = frame.group_by("unit", maintain_order=True).mean()
        names, means = by_unit["unit"], by_unit["value"].to_numpy()
        what = f"{where}: names in column {units.name} tell {target.name}"
        yield from read_ids(what, id_views(names), means, ID_ALPHA)


def check_time(tables: PackageTables) -> Iterator[str]:
    """Check that test dates are later if the split is by time. Otherwise, and between parts, spans must agree."""
    dates = [(column, date) for column, date in date_columns(tables.spec) if column.name in tables.features]
    split, layout = tables.spec.split, tables.layout
    parting = [column.name for column, date in dates if date.train_days is not None]
    if split is SplitKind.TEMPORAL and not parting:
        yield "the split is by time, but no date column parts train and test"
    if split is not SplitKind.TEMPORAL and parting:
        yield f"column {parting[0]} parts train and test by time, but the split is {split}"
    for column, date in dates:
        for path, frame in ((tables.layout.train, tables.train), (tables.layout.test, tables.test)):
            # Days count from the first day of the column, 0.
            days = frame[column.name].drop_nulls()
            if outside := int(((days < 0) | (days >= date.days)).sum()):
                yield f"{path}: {count(outside, 'cell')} of column {column.name} outside the declared span"
        train, test = _days(tables.distinct_train, column), _days(tables.test, column)
        if column.name not in parting:
            yield from _compare_spans(f"{layout.train} and {layout.test}: column {column.name}", train, test)
        elif len(train) and len(test) and (early := int((test <= train.max()).sum())):
            yield f"{count(early, 'row')} of {layout.test} not later than all of {layout.train} by column {column.name}"
        feedback, final = (_days(tables.test.filter(tables.test_parts == str(part)), column) for part in Part)
        yield from _compare_spans(f"parts of {layout.test}: column {column.name}", feedback, final)


def _days(frame: pl.DataFrame, column: Column) -> Array:
    """Return the days of independent rows: one row for each unit, if all rows of a unit share the date."""
    has_unit = column.unit is not None and column.unit in frame.columns
    chosen = frame.unique(column.unit, keep="first", maintain_order=True) if has_unit else frame
    return chosen[column.name].drop_nulls().to_numpy().astype(np.float64)


def _compare_spans(what: str, left: Array, right: Array) -> Iterator[str]:
    if (p := 2 * min(same_spread_p_value(left, right), overhang_p_value(left, right))) < TIME_ALPHA:
        yield f"{what} does not cover the same span in both (p = {p:.1e})"
