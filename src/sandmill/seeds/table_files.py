"""Open a CSV or Parquet table. Its shape is checked by streaming, since it may be huge or broken."""

import csv
import io
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sandmill.errors import count, shorten
from sandmill.seeds.cell_size import find_large_cell, large_cell
from sandmill.seeds.engine import file_pattern, literal, open_engine, quote
from sandmill.seeds.parquet import MAX_COLUMNS, check_parquet, parquet_columns
from sandmill.seeds.regular import require_regular
from sandmill.seeds.source_problems import SourceProblem, Unsound
from sandmill.seeds.wording import show

if TYPE_CHECKING:
    import polars as pl

TABLE_SUFFIXES = frozenset({".csv", ".parquet"})

MISSING_WORDS = ("", "NA", "N/A", "NaN", "nan", "null", "NULL")
"""Cells of a CSV that count as empty."""

_EXPECTED = "a CSV table in UTF-8 with commas and double quotes"
_MAX_HEADER = 1 << 20
_LISTED = 5


@dataclass(frozen=True)
class TableFile:
    """A table whose header and row widths were checked."""

    path: Path
    file: str
    """Its name in messages."""
    columns: tuple[str, ...]

    @property
    def is_csv(self) -> bool:
        """Whether every cell is text until it is cast."""
        return self.path.suffix == ".csv"

    def count_rows(self) -> int:
        """Count the rows by streaming."""
        import polars as pl

        return int(self.scan().select(pl.len()).collect(engine="streaming").item())

    def scan(self) -> "pl.LazyFrame":
        """Open lazily; cells of a CSV are text, empty ones null."""
        import polars as pl

        if not self.is_csv:
            return pl.scan_parquet(self.path, glob=False)
        return pl.scan_csv(
            self.path,
            infer_schema=False,
            null_values=list(MISSING_WORDS),
            glob=False,
            with_column_names=lambda _: list(self.columns),
        )


def open_table(path: Path, file: str) -> TableFile:
    """Check a table's header and row widths.

    Raises:
        Unsound: for a link, an empty, ragged, unreadable or too large table, a repeated or nameless column.
    """
    require_regular(path, file)
    is_csv = path.suffix == ".csv"
    with readable(file, "a CSV table with a header" if is_csv else "a Parquet table"):
        columns = _csv_columns(path, file) if is_csv else parquet_columns(path, file)
    repeated = [name for name, count in Counter(name.casefold() for name in columns).items() if count > 1]
    problems = [SourceProblem(file, f"column {show(name)} more than once", "each column once", 1) for name in repeated]
    if "" in columns:
        problems.append(
            SourceProblem(file, f"no name for column {columns.index('') + 1}", "a name for every column", 1)
        )
    if len(columns) > MAX_COLUMNS:
        problems.append(SourceProblem(file, f"{len(columns)} columns", f"at most {MAX_COLUMNS}"))
    if problems:
        raise Unsound(problems)
    if is_csv:
        with readable(file, "a readable file"):
            found = find_large_cell(path)
        if found:
            line, number = found
            raise Unsound([large_cell(file, columns[number - 1] if number <= len(columns) else "", line)])
        _check_rows(path, file, columns)
    else:
        check_parquet(path, file)
    return TableFile(path, file, columns)


@contextmanager
def readable(file: str, expected: str = "tables that can be read") -> Iterator[None]:
    """Report a fault of reading as a problem of the file: a table that opens may still have broken rows.

    Raises:
        Unsound: if the file cannot be read to its end.
    """
    import polars as pl
    import pyarrow as pa

    faults = (OSError, csv.Error, pa.ArrowException, pl.exceptions.PolarsError, pl.exceptions.PanicException)
    try:
        yield
    except faults as error:
        saw = shorten((str(error).splitlines() or [type(error).__name__])[0], 120)
        raise Unsound([SourceProblem(file, saw, expected)]) from None


def _csv_columns(path: Path, file: str) -> tuple[str, ...]:
    with path.open("rb") as stream:
        text = stream.read(_MAX_HEADER).decode("utf-8-sig", errors="ignore")
    columns = next(csv.reader(io.StringIO(text, newline=""), strict=True), [])
    if not any(columns):
        raise Unsound([SourceProblem(file, "no header", "a header with the names of the columns", 1)])
    if len(columns) == 1 and (mark := next((m for m in ";\t|" if m in columns[0]), None)):
        saw = f"one column whose name holds {show(mark) if mark != chr(9) else 'tabs'}"
        raise Unsound([SourceProblem(file, saw, "columns separated by commas", 1)])
    return tuple(columns)


def _check_rows(path: Path, file: str, columns: Sequence[str]) -> None:
    """Stream the whole file with DuckDB. Only if it rejects a line, find the exact lines with the slower csv module."""
    fields = ", ".join(f"{literal(name)}: 'VARCHAR'" for name in columns)
    options = "auto_detect=false, delim=',', quote='\"', escape='\"', header=true, strict_mode=true"
    source = f"read_csv({file_pattern(path)}, columns={{{fields}}}, {options}, store_rejects=true, rejects_limit=100)"
    with open_engine(file, _EXPECTED) as connection:
        # A sum of all counts would be an expression as deep as the table is wide, which the parser refuses.
        present = ", ".join(f"count({quote(name)})" for name in columns)
        rows = connection.execute(f"SELECT count(*), {present} FROM {source}").fetchall()[0][0]
        rejects = connection.execute("SELECT line, error_type FROM reject_errors ORDER BY line").fetchall()
    if rejects:
        line, kind = rejects[0]
        first = SourceProblem(file, f"{kind.lower()} near here", _EXPECTED, line)
        raise Unsound(list(_ragged(path, file, len(columns))) or [first])
    if not rows:
        raise Unsound([SourceProblem(file, "a header and no rows", "a table with rows")])


def _ragged(path: Path, file: str, width: int) -> Iterator[SourceProblem]:
    with path.open(encoding="utf-8", errors="replace", newline="") as stream:
        reader = csv.reader(stream)
        wrong = 0
        start = 1
        try:
            for row in reader:
                line, start = start, reader.line_num + 1
                if row and len(row) != width:
                    wrong += 1
                    if wrong <= _LISTED:
                        yield SourceProblem(file, count(len(row), "cell"), f"{width}, as in the header", line)
        except csv.Error as error:
            yield SourceProblem(file, shorten(str(error)), "a CSV table", start)
    if wrong > _LISTED:
        yield SourceProblem(file, count(wrong - _LISTED, "more such line"), "rows as wide as the header")
