"""Check the size of a Parquet table before it is read: a small file can decode to very many cells."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from sandmill.seeds.cell_size import MAX_CELL, large_cell
from sandmill.seeds.engine import file_pattern, open_engine, quote
from sandmill.seeds.source_problems import SourceProblem, Unsound

if TYPE_CHECKING:
    from pyarrow.parquet import FileMetaData

MAX_COLUMNS = 2000
MAX_PARQUET_ROWS = 10_000_000
MAX_DECODED = 1 << 29
"""Bytes of all decoded cells: 8 for each cell, and the length of each text."""
_CELL = 8
_LENGTH = {"VARCHAR": "strlen({})", "BLOB": "octet_length({})"}


def parquet_columns(path: Path, file: str) -> tuple[str, ...]:
    """Return the columns of a table whose footer shows an acceptable size.

    Raises:
        Unsound: if it has too many rows, columns or cells.
        OSError, ArrowException, PolarsError: if it is no Parquet table.
    """
    import polars as pl
    import pyarrow.parquet as pq

    with path.open("rb") as stream:
        footer = pq.ParquetFile(stream).metadata
    if problems := list(_oversized(footer, file)):
        raise Unsound(problems)
    return tuple(pl.scan_parquet(path, glob=False).collect_schema().names())


def check_parquet(path: Path, file: str) -> None:
    """Check the length of all texts without decoding them: one dictionary entry may occur in millions of rows.

    Raises:
        Unsound: for cells that are too large, alone or together. Parquet has no lines, so the column alone is named.
    """
    with open_engine(file, "a Parquet table") as connection:
        source = f"read_parquet({file_pattern(path)})"
        kinds = connection.execute(f"DESCRIBE SELECT * FROM {source}").fetchall()
        lengths = {name: _LENGTH[kind].format(quote(name)) for name, kind, *_ in kinds if kind in _LENGTH}
        asked = [f"{what}({length})" for what in ("max", "sum") for length in lengths.values()]
        row = connection.execute(f"SELECT {', '.join(asked)} FROM {source}").fetchall()[0] if asked else ()
    found = [name for name, length in zip(lengths, row, strict=False) if (length or 0) > MAX_CELL]
    if found:
        raise Unsound([large_cell(file, name) for name in found])
    if sum(filter(None, row[len(lengths) :])) > MAX_DECODED:
        raise Unsound([_too_much(file)])


def _oversized(footer: "FileMetaData", file: str) -> Iterator[SourceProblem]:
    groups = [footer.row_group(number) for number in range(footer.num_row_groups)]
    rows = max(footer.num_rows, sum(group.num_rows for group in groups))
    if rows > MAX_PARQUET_ROWS:
        yield SourceProblem(file, f"{rows} rows", f"at most {MAX_PARQUET_ROWS}")
    if footer.num_columns > MAX_COLUMNS:
        yield SourceProblem(file, f"{footer.num_columns} columns", f"at most {MAX_COLUMNS}")
    if max(_CELL * rows * footer.num_columns, sum(group.total_byte_size for group in groups)) > MAX_DECODED:
        yield _too_much(file)


def _too_much(file: str) -> SourceProblem:
    hint = "A sample of the rows is enough: their number does not shape the tasks."
    return SourceProblem(
        file, f"more than {MAX_DECODED >> 20} MB of cells, unpacked", f"at most {MAX_DECODED >> 20} MB", hint=hint
    )
