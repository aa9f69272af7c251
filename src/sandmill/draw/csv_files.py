"""Cells of the files, from draws of a mechanism. They are the same on every machine."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta

import numpy as np
import polars as pl

from sandmill.kinds.table import TABLE
from sandmill.mechanism.columns import Floats
from sandmill.mechanism.row_numbers import RowNumbers
from sandmill.mechanism.units import encode
from sandmill.models.columns import Categorical, Column, Date, Unit
from sandmill.models.faults import MixedTypes
from sandmill.models.kind import Kind
from sandmill.models.mechanism import Mechanism
from sandmill.models.package import TaskFacts
from sandmill.rng import Streams
from sandmill.scoring.forms import form_of

_ID_LENGTH = 10
_FIRST_MOMENT, _SECONDS, _TICKS = datetime(2012, 1, 1, tzinfo=UTC), 3 * 365 * 86_400, 10**7
"""Start and length of the span of time stamps, and ticks of a second."""
_UNIT_LENGTH = 10


def row_ids(streams: Streams, part: str, rows: range, kind: Kind = TABLE) -> list[str]:
    """Return row ids: keyed hashes of the row number, which reveal neither order nor part nor target."""
    if kind.ids == "timestamp":
        return [_time_stamp(share) for share in streams.uniforms(f"id {part}", rows)]
    return streams.tokens(f"id {part}", rows, _ID_LENGTH)


def _time_stamp(share: float) -> str:
    """Return a time with seven decimals of a second, as databases write it. Two rows hardly ever share one."""
    ticks = int(share * _SECONDS * _TICKS)
    moment = _FIRST_MOMENT + timedelta(seconds=ticks // _TICKS)
    return f"{moment:%Y-%m-%d %H:%M:%S}.{ticks % _TICKS:07d}"


def feature_frame(
    mechanism: Mechanism,
    observed: Mapping[str, Floats],
    row_numbers: RowNumbers,
    names: Sequence[str] | None = None,
) -> pl.DataFrame:
    """Return visible cells with the types of the files: integers, decimals, level names, dates or unit names.

    Missing cells are null or the number that stands for them. Converted cells are in the unit of their site. Columns
    that the notes hold are left out.

    Args:
        mechanism: declares the columns.
        observed: visible cells of one part.
        row_numbers: row numbers of the part. Their streams name the units and choose the numbers written as text.
        names: columns to return, in this order; all that are no part of a text if None.
    """
    mixed = {fault.column: fault for fault in mechanism.mixed_types()}
    if names is None:
        names = [column.name for column in mechanism.columns if not column.in_text]
    shown = [mechanism.column_by_name[name] for name in names]
    columns = [_series(column, _written(mechanism, column, observed), row_numbers.streams) for column in shown]
    return pl.DataFrame(
        [_as_text(column, mixed[column.name], row_numbers) if column.name in mixed else column for column in columns]
    )


def target_frame(facts: TaskFacts, target: Floats) -> pl.DataFrame:
    """Return targets as in the files: class names, 0/1 for labels, label lists, or numbers."""
    return pl.DataFrame(dict(form_of(facts).write_truth(target, facts)))


def _written(mechanism: Mechanism, column: Column, observed: Mapping[str, Floats]) -> Floats:
    """Return the cells of a column in the units of the files, with the numbers that stand for missing cells."""
    cells = observed[column.name]
    if column.conversion:
        cells = encode(column, cells, observed[column.conversion.by])
    for gap in mechanism.missing():
        if gap.column == column.name and gap.sentinel is not None:
            cells = np.where(np.isnan(cells), gap.sentinel, cells)
    return cells


def _series(column: Column, values: Floats, streams: Streams) -> pl.Series:
    is_missing = np.isnan(values)
    match column.distribution:
        case Categorical(levels=levels):
            return pl.Series(
                column.name,
                [None if missing else levels[int(code)] for code, missing in zip(values, is_missing, strict=True)],
            )
        case Date(first=first):
            return pl.Series(column.name, [(first + timedelta(days=int(day))).isoformat() for day in values])
        case Unit(prefix=prefix):
            names = {unit: prefix + streams.token(f"unit {unit:.0f}", _UNIT_LENGTH) for unit in np.unique(values)}
            return pl.Series(column.name, [names[unit] for unit in values])
        case _ if column.decimals == 0:
            whole = pl.Series(column.name, np.where(is_missing, 0, values).astype(np.int64))
            return (
                whole.to_frame()
                .select(pl.when(~pl.Series(is_missing)).then(pl.col(column.name)).alias(column.name))
                .to_series()
            )
        case _:
            return pl.Series(column.name, values).fill_nan(None)


def _as_text(cells: pl.Series, fault: MixedTypes, row_numbers: RowNumbers) -> pl.Series:
    """Write some of the numbers as text, with their unit after them."""
    marked = row_numbers.uniforms("mixed types") < fault.rate
    plain = cells.cast(pl.String)
    return pl.Series(
        cells.name,
        [
            f"{cell} {fault.suffix}" if mark and cell is not None else cell
            for cell, mark in zip(plain, marked, strict=True)
        ],
    )
