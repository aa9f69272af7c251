"""Draws of a mechanism as CSV bytes that are equal wherever they are written."""

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl

from sandmill.mechanism.columns import Floats
from sandmill.models.mechanism import Categorical, Column, Mechanism
from sandmill.models.package import Brief
from sandmill.models.structure import TargetKind
from sandmill.rng import Streams

_ID_LENGTH = 10


def row_ids(streams: Streams, part: str, rows: range) -> list[str]:
    """Names of rows that say nothing of order, part or target: keyed hashes of the row number."""
    return [streams.token(f"id {part} {row}", _ID_LENGTH) for row in rows]


def feature_frame(mechanism: Mechanism, observed: Mapping[str, Floats]) -> pl.DataFrame:
    """Visible cells with their types: whole numbers, decimals or level names; gaps are null."""
    return pl.DataFrame([_series(column, observed[column.name]) for column in mechanism.columns])


def target_series(brief: Brief, target: Floats) -> pl.Series:
    """Targets as the files write them: class names, or numbers."""
    if brief.target is TargetKind.REGRESSION:
        return pl.Series(brief.target_column, target)
    if brief.target is TargetKind.BINARY:
        return pl.Series(brief.target_column, target.astype(np.int64))
    return pl.Series(brief.target_column, [brief.classes[int(code)] for code in target])


def sample_frame(brief: Brief, ids: Sequence[str], train_target: pl.Series) -> pl.DataFrame:
    """A submission of the right form that knows nothing: one constant for every row, the rarest class for labels."""
    width = len(brief.submission_columns)
    match brief.encoding:
        case "probability":
            cells: list[pl.Series] = [pl.Series(brief.submission_columns[0], np.full(len(ids), 0.5))]
        case "label":
            rarest = train_target.value_counts(sort=True, name="rows").sort("rows", brief.target_column)[0]
            cells = [pl.Series(brief.submission_columns[0], rarest[brief.target_column].to_list() * len(ids))]
        case "class_probabilities":
            cells = [pl.Series(name, np.full(len(ids), 1 / width)) for name in brief.submission_columns]
        case "value":
            cells = [pl.Series(brief.submission_columns[0], np.zeros(len(ids)))]
    return pl.DataFrame([pl.Series(brief.id_column, ids), *cells])


def csv_bytes(frame: pl.DataFrame) -> bytes:
    """CSV with LF line ends, empty cells for gaps, shortest decimals that read back equal."""
    return frame.write_csv().encode()


def _series(column: Column, values: Floats) -> pl.Series:
    gap = np.isnan(values)
    match column.distribution:
        case Categorical(levels=levels):
            return pl.Series(
                column.name, [None if hole else levels[int(code)] for code, hole in zip(values, gap, strict=True)]
            )
        case _ if column.decimals == 0:
            whole = pl.Series(column.name, np.where(gap, 0, values).astype(np.int64))
            return (
                whole.to_frame()
                .select(pl.when(~pl.Series(gap)).then(pl.col(column.name)).alias(column.name))
                .to_series()
            )
        case _:
            return pl.Series(column.name, values).fill_nan(None)
