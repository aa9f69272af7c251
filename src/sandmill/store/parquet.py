"""Parquet with equal bytes for equal rows, in small groups, so that one task can be fetched without the rest."""

import io
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq

from sandmill.store.tables import Row, Table


def write_rows(schema: Any, groups: Iterable[Sequence[Row]]) -> bytes:
    """Write rows in the given groups. Large values get no statistics and no dictionary: nobody searches by them."""
    searchable = [
        field.name for field in schema if field.type != pa.binary() and field.name not in ("record", "prompt")
    ]
    plain = [field.name for field in schema if pa.types.is_string(field.type) and field.name in searchable]
    sink = io.BytesIO()
    with pq.ParquetWriter(
        sink,
        schema,
        version="2.6",
        compression="zstd",
        compression_level=3,
        use_dictionary=plain,
        write_statistics=searchable,
    ) as writer:
        for group in groups:
            writer.write_table(pa.Table.from_pylist(list(group), schema=schema))
    return sink.getvalue()


def grouped(table: Table, rows: Sequence[Row]) -> list[list[Row]]:
    """Cut a table's rows into row groups."""
    size = table.rows_per_group
    if size is None:
        return [list(group) for _, group in groupby(rows, key=lambda row: row["task_id"])]
    return [list(rows[start : start + size]) for start in range(0, len(rows), size)]


def iterate_rows(file: BinaryIO, columns: Sequence[str] | None = None) -> Iterator[Row]:
    """Read all rows, one row group in memory at a time."""
    reader = pq.ParquetFile(file)
    for number in range(reader.num_row_groups):
        yield from reader.read_row_group(number, columns=columns).to_pylist()


def rows_of_task(file: BinaryIO, task_id: str) -> list[Row]:
    """Read the rows of one task, fetching only the row groups that can hold it."""
    reader = pq.ParquetFile(file, pre_buffer=False)
    column = reader.schema_arrow.get_field_index("task_id")
    found: list[Row] = []
    for number in range(reader.num_row_groups):
        known = reader.metadata.row_group(number).column(column).statistics
        if known is not None and known.has_min_max and not known.min <= task_id <= known.max:
            continue
        found += [row for row in reader.read_row_group(number).to_pylist() if row["task_id"] == task_id]
    return found


def count_rows(content: bytes) -> int:
    """Count rows from the footer alone."""
    return int(pq.read_metadata(io.BytesIO(content)).num_rows)
