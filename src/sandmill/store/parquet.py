"""Write Parquet with equal bytes for equal rows, in small row groups, and read untrusted Parquet within limits."""

import io
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain, groupby, islice
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq

from sandmill.errors import IntegrityError, SandmillError, shorten
from sandmill.models.names import MOST_FAULTS, task_id_fault
from sandmill.store.arrow_tables import ReleaseTable, Row, is_later
from sandmill.store.footer import Group, column_bytes, read_footer
from sandmill.store.limits import (
    GROUPS_PER_FILE,
    MAX_CONTAINER,
    MAX_FOOTER_BYTES,
    MAX_GROUP_BYTES,
    MAX_RATIO,
    MAX_TASK_FILES,
    RATIO_FREE_BYTES,
)

_BATCH = 1024  # rows that are converted to Python objects at once


def write_rows(schema: Any, groups: Iterable[Sequence[Row]]) -> bytes:
    """Write rows in the given groups. Large values get no statistics and no dictionary."""
    return write_tables(schema, (pa.Table.from_pylist(list(group), schema=schema) for group in groups))


def in_groups(rows: Sequence[Row], size: int) -> list[Sequence[Row]]:
    """Split rows into row groups of a size."""
    return [rows[start : start + size] for start in range(0, len(rows), size)]


def write_tables(schema: Any, groups: Iterable[Any]) -> bytes:
    """Write Arrow tables, each as one row group; see `write_rows`."""
    searchable = [one.name for one in schema if one.type != pa.binary() and one.name not in ("record", "prompt")]
    plain = [name for name in searchable if pa.types.is_string(schema.field(name).type)]
    settings = {"version": "2.6", "compression": "zstd", "compression_level": 3}
    sink = io.BytesIO()
    with pq.ParquetWriter(sink, schema, use_dictionary=plain, write_statistics=searchable, **settings) as writer:
        for group in groups:
            writer.write_table(group)
    return sink.getvalue()


def grouped(table: ReleaseTable, rows: Sequence[Row]) -> Sequence[Sequence[Row]]:
    """Split a table's rows into row groups."""
    size = table.rows_per_group
    if size is not None:
        return in_groups(rows, size)
    tasks = [list(group) for _, group in groupby(rows, key=lambda row: row["task_id"])]
    together = -(-len(tasks) // GROUPS_PER_FILE)
    return [list(chain(*tasks[start : start + together])) for start in range(0, len(tasks), together or 1)]


class TableReader:
    """Reads one untrusted Parquet file, one row group at a time.

    The decompressed size of a row group is checked before anything is decompressed.
    """

    def __init__(
        self,
        file: BinaryIO,
        where: str,
        schema: Any = None,
        rows: int | None = None,
        footer: tuple[Group, ...] | None = None,
    ) -> None:
        """Read the footer.

        Args:
            file: the Parquet file.
            where: its name, for messages.
            schema: columns that must be there, each of this type; None: any.
            rows: number of rows that it must have, where that is known.
            footer: of this file, where it was read before.

        Raises:
            IntegrityError: it is no Parquet file, lacks a column, or is larger than a release needs.
        """
        self._file, self._where, self._schema = file, where, schema
        with _faults(where):
            self.footer = read_footer(file) if footer is None else footer
            found = sum(group.rows for group in self.footer)
            if rows is not None and found != rows:
                raise IntegrityError(f"{found} rows; the manifest says {rows}")
            file.seek(0)
            self._reader = pq.ParquetFile(
                file,
                pre_buffer=False,
                thrift_string_size_limit=MAX_FOOTER_BYTES,
                thrift_container_size_limit=MAX_CONTAINER,
            )
            _check_columns(self._reader.schema_arrow, schema)
        self._absent = {field.name for field in schema or () if field.name not in self._reader.schema_arrow.names}
        """Later columns that the file lacks."""

    def groups(self, columns: Sequence[str] | None = None, task_id: str | None = None) -> Iterator[Any]:
        """Yield the row groups as Arrow tables.

        Args:
            columns: to read; all of the schema if None. Later columns that the file lacks are empty.
            task_id: only the group that may hold this task, going by the statistics.
        """
        with _faults(self._where):
            wanted = columns or (self._schema.names if self._schema else self._reader.schema_arrow.names)
            there = [name for name in wanted if name not in self._absent]
            for number in self._numbers(task_id):
                self._check_group(number, wanted)
                # Groups are small: waking the threads of a pool takes longer than the work.
                group = self._reader.read_row_group(number, columns=there, use_threads=False)
                self._check_cells(group)
                for field in (self._schema.field(name) for name in wanted if name in self._absent):
                    group = group.append_column(field, pa.nulls(len(group), field.type))
                yield group if len(there) == len(wanted) else group.select(list(wanted))

    def check_sizes(self) -> None:
        """Check the decompressed size of all row groups without reading them."""
        with _faults(self._where):
            for number in self._numbers():
                self._check_group(number, self._reader.schema_arrow.names)

    def rows(self, columns: Sequence[str] | None = None) -> Iterator[Row]:
        """Yield all rows as mappings."""
        for group in self.groups(columns):
            for batch in group.to_batches(max_chunksize=_BATCH):
                yield from batch.to_pylist()

    def rows_of_task(self, task_id: str) -> list[Row]:
        """Return the rows of one task. Only the row group that may hold it is read."""
        found: list[Row] = []
        for group in self.groups(task_id=task_id):
            places = [place for place, name in enumerate(group["task_id"].to_pylist()) if name == task_id]
            if len(found) + len(places) > MAX_TASK_FILES:
                raise IntegrityError(f"{self._where}: task {task_id} has more than {MAX_TASK_FILES} rows")
            found += [row for place in places for row in group.slice(place, 1).to_pylist()]
            if (size := sum(len(row.get("bytes", b"")) for row in found)) > MAX_GROUP_BYTES:
                raise IntegrityError(
                    f"{self._where}: task {task_id} has {size} bytes of files; the most is {MAX_GROUP_BYTES}"
                )
        return found

    def _numbers(self, task_id: str | None = None) -> list[int]:
        """Return the numbers of the row groups that have rows, or of the one that may hold a task.

        Empty groups have no pages. The writer puts each task into one group, in the order of ids; reading all groups
        for each task would take quadratic time.
        """
        found = [number for number, group in enumerate(self.footer) if group.rows]
        if task_id is None:
            return found
        holding = []
        for number in found:
            column = next((one for one in self.footer[number].columns if one.name == "task_id"), None)
            if column is None or column.least is None or column.greatest is None:
                raise IntegrityError("a row group notes no least and greatest task_id")
            if column.least <= task_id.encode() <= column.greatest:
                holding.append(number)
        if len(holding) > 1:
            raise IntegrityError(f"task {task_id} may lie in more than one row group")
        return holding

    def _check_group(self, number: int, columns: Sequence[str]) -> None:
        group, size, stored = self.footer[number], 0, 0
        # Arrow takes `a.b` for a part of the column `a`.
        for column in (one for one in group.columns if one.name.partition(".")[0] in columns):
            if not column.is_nested and column.values != group.rows:
                raise IntegrityError(f"column {column.name} has {column.values} values in {group.rows} rows")
            size += column_bytes(self._file, column)
            stored += column.stored
        most = MAX_GROUP_BYTES if self._schema is None else min(MAX_GROUP_BYTES, RATIO_FREE_BYTES + MAX_RATIO * stored)
        if size > most:
            raise IntegrityError(f"row group {number} would grow to {size} bytes; the most is {most}")

    def _check_cells(self, group: Any) -> None:
        """Refuse empty cells in required columns, and task ids that cannot name a folder."""
        group.validate(full=True)
        for field in self._schema or ():
            if field.name in group.column_names and not field.nullable and group[field.name].null_count:
                raise IntegrityError(f"column {field.name} has empty cells")
        if self._schema is not None and "task_id" in group.column_names:
            faults = filter(None, map(task_id_fault, group["task_id"].unique().to_pylist()))
            if listed := "; ".join(islice(faults, MOST_FAULTS)):
                raise IntegrityError(listed)


def _check_columns(found: Any, schema: Any) -> None:
    if len(set(found.names)) != len(found.names):
        raise IntegrityError("two columns have one name")
    for field in schema or ():
        is_there = field.name in found.names
        if not (is_there and found.field(field.name).type == field.type) and (is_there or not is_later(field)):
            raise IntegrityError(f"no column {field.name} of type {field.type}")


@contextmanager
def _faults(where: str) -> Iterator[None]:
    """Convert errors of Arrow on a damaged or hostile table to IntegrityError."""
    try:
        yield
    except IntegrityError as error:
        raise IntegrityError(f"{where}: {error}") from None
    except SandmillError:
        raise
    except (pa.ArrowException, ValueError, OSError, KeyError, TypeError, OverflowError, MemoryError) as error:
        raise IntegrityError(f"{where}: cannot be read as a table: {shorten(str(error), 200)}") from error
