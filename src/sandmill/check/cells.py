"""Read feature cells as the design declares them: numbers, days or names. Other cells are faults."""

import numpy as np
import polars as pl

from sandmill.errors import name_some
from sandmill.mechanism.units import decode
from sandmill.models.columns import Categorical, Column, Date, Unit
from sandmill.models.spec import TaskSpec

_ISO = r"^\d{4}-\d{2}-\d{2}$"


def type_features(path: str, frame: pl.DataFrame, spec: TaskSpec, faults: list[str]) -> pl.DataFrame:
    """Convert the feature columns of a file from text.

    Numbers become floats in the column's own unit, without the unit that the design may add to them. Dates become days
    after the first day of their column. Categories and units stay text. Missing cells stay missing, and numbers that
    stand for missing cells become missing.
    """
    suffixes = {fault.column: f" {fault.suffix}" for fault in spec.mechanism.mixed_types()}
    columns = [column for column in spec.mechanism.columns if not isinstance(column.distribution, Categorical | Unit)]
    typed = [column for column in columns if column.name in frame.columns]
    result = frame.with_columns(_type_column(column, suffixes.get(column.name, "")) for column in typed)
    dates = {column.name for column, _ in date_columns(spec)}
    unread = {column.name for column in typed if not _is_read(frame, result, column.name)}
    for kind, faulty in (("ISO dates", unread & dates), ("finite numbers", unread - dates)):
        if broken := [name for name in frame.columns if name in faulty]:
            faults.append(f"{path}: cells that are not {kind} in {name_some(broken)}")
    return _decoded(result, spec)


def _decoded(frame: pl.DataFrame, spec: TaskSpec) -> pl.DataFrame:
    """Undo sentinels and conversions of units."""
    marks = {gap.column: gap.sentinel for gap in spec.mechanism.missing() if gap.sentinel is not None}
    present = [column for column in spec.mechanism.columns if column.name in frame.columns]
    frame = frame.with_columns(
        pl.when(pl.col(name) != mark).then(pl.col(name)).alias(name)
        for name, mark in marks.items()
        if name in frame.columns
    )
    for column in present:
        if column.conversion and column.conversion.by in frame.columns:
            by = spec.mechanism.column_by_name[column.conversion.by].distribution
            levels = {level: code for code, level in enumerate(by.levels)} if isinstance(by, Categorical) else {}
            codes = np.array([levels.get(cell, 0) for cell in frame[column.conversion.by]], dtype=np.float64)
            cells = decode(column, frame[column.name].fill_null(np.nan).to_numpy(), codes)
            frame = frame.with_columns(pl.Series(column.name, cells).fill_nan(None))
    return frame


def date_columns(spec: TaskSpec) -> list[tuple[Column, Date]]:
    """Return the columns whose cells are dates, with their spans."""
    return [(column, date) for column in spec.mechanism.columns if isinstance(date := column.distribution, Date)]


def _type_column(column: Column, suffix: str) -> pl.Expr:
    cells = pl.col(column.name)
    if isinstance(column.distribution, Date):
        iso = pl.when(cells.str.contains(_ISO)).then(cells.str.to_date("%Y-%m-%d", strict=False))
        return (iso - pl.lit(column.distribution.first)).dt.total_days().cast(pl.Float64).alias(column.name)
    return (cells.str.strip_suffix(suffix) if suffix else cells).cast(pl.Float64, strict=False)


def _is_read(text: pl.DataFrame, typed: pl.DataFrame, name: str) -> bool:
    numbers = typed[name]
    return text[name].null_count() == numbers.null_count() and bool(numbers.drop_nulls().is_finite().all())
