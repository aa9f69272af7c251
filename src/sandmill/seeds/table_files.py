"""Open a CSV or Parquet table that may be huge or broken: its shape is checked by streaming, never by loading it."""

import csv
import io
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sandmill.seeds.cell_size import find_large_cell, large_cell
from sandmill.seeds.engine import literal, open_engine, quote
from sandmill.seeds.parquet import MAX_COLUMNS, check_parquet, parquet_columns, parquet_relation
from sandmill.seeds.regular import require_regular
from sandmill.seeds.source_problems import SourceProblem, Unsound
from sandmill.seeds.wording import shorten, show

if TYPE_CHECKING:
    import duckdb
    import polars as pl

TABLE_SUFFIXES = frozenset({".csv", ".parquet"})

MISSING_WORDS = ("", "NA", "N/A", "NaN", "nan", "null", "NULL")
"""Cells of a CSV that count as empty."""

_MAX_HEADER = 1 << 20
_LISTED = 5


@dataclass(frozen=True)
class TableFile:
    """A table whose header is sound and whose rows all have the header's width."""

    path: Path
    file: str
    """Its name in messages."""
    columns: tuple[str, ...]

    @property
    def is_csv(self) -> bool:
        """Whether every cell is text until it is cast."""
        return self.path.suffix == ".csv"

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

    @contextmanager
    def connect(self, columns: Sequence[str]) -> Iterator["duckdb.DuckDBPyConnection"]:
        """Open some columns as `cells` in DuckDB; cells of a CSV are text, empty ones NULL.

        A CSV is read once, into a table that DuckDB spills to disk where it is large: each query would otherwise
        read the whole file. Parquet gives single columns cheaply and stays a view.
        """
        names = ", ".join(map(quote, columns))
        with open_engine() as connection:
            if self.is_csv:
                source = _csv_relation(self.path, self.columns)
                connection.execute(f"CREATE TEMP TABLE cells AS SELECT {names} FROM ({source})")
            else:
                source = parquet_relation(self.path, connection)
                connection.execute(f"CREATE VIEW cells AS SELECT {names} FROM ({source})")
            yield connection


def open_table(path: Path, file: str) -> TableFile:
    """Check a table's header and row widths.

    Raises:
        Unsound: for a link, an empty, ragged, unreadable or too large table, a repeated or nameless column.
    """
    require_regular(path, file)
    columns = _csv_columns(path, file) if path.suffix == ".csv" else parquet_columns(path, file)
    repeated = [name for name, count in Counter(name.casefold() for name in columns).items() if count > 1]
    findings = [SourceProblem(file, f"column {show(name)} more than once", "each column once", 1) for name in repeated]
    if "" in columns:
        findings.append(
            SourceProblem(file, f"no name for column {columns.index('') + 1}", "a name for every column", 1)
        )
    if len(columns) > MAX_COLUMNS:
        findings.append(SourceProblem(file, f"{len(columns)} columns", f"at most {MAX_COLUMNS}"))
    if findings:
        raise Unsound(findings)
    if path.suffix == ".csv":
        _check_csv_cells(path, file, columns)
        _check_rows(path, file, columns)
    else:
        check_parquet(path, file)
    return TableFile(path, file, columns)


@contextmanager
def readable(file: str) -> Iterator[None]:
    """Report what the table engines refuse as a problem of the file: that a table opens does not prove all of it sound.

    Raises:
        Unsound: if an engine cannot go on.
    """
    import duckdb
    import polars as pl

    try:
        yield
    except (OSError, duckdb.Error, pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        saw = shorten((str(error).splitlines() or [type(error).__name__])[0], 120)
        raise Unsound([SourceProblem(file, saw, "tables that can be read")]) from None


def _csv_relation(path: Path, columns: Sequence[str], extra: str = "") -> str:
    fields = ", ".join(f"{_text(name)}: 'VARCHAR'" for name in columns)
    nulls = ", ".join(_text(word) for word in MISSING_WORDS)
    options = f"auto_detect=false, delim=',', quote='\"', escape='\"', header=true, nullstr=[{nulls}], strict_mode=true"
    return f"SELECT * FROM read_csv({literal(path)}, columns={{{fields}}}, {options}{extra})"


def _text(word: str) -> str:
    return "'" + word.replace("'", "''") + "'"


def _csv_columns(path: Path, file: str) -> tuple[str, ...]:
    try:
        with path.open("rb") as stream:
            head = stream.read(_MAX_HEADER)
        text = head.decode("utf-8-sig", errors="ignore")
        columns = next(csv.reader(io.StringIO(text, newline=""), strict=True), [])
    except (OSError, csv.Error) as error:
        raise Unsound([SourceProblem(file, shorten(str(error), 120), "a CSV table with a header", 1)]) from None
    if not any(columns):
        raise Unsound([SourceProblem(file, "no header", "a header with the names of the columns", 1)])
    if len(columns) == 1 and (mark := next((m for m in ";\t|" if m in columns[0]), None)):
        saw = f"one column whose name holds {show(mark) if mark != chr(9) else 'tabs'}"
        raise Unsound([SourceProblem(file, saw, "columns separated by commas", 1)])
    return tuple(columns)


def _check_csv_cells(path: Path, file: str, columns: Sequence[str]) -> None:
    try:
        found = find_large_cell(path)
    except OSError as error:
        raise Unsound([SourceProblem(file, error.strerror or "an unreadable file", "a readable file")]) from None
    if found:
        line, number = found
        name = columns[number - 1] if number <= len(columns) else ""
        raise Unsound([large_cell(file, name, line)])


def _check_rows(path: Path, file: str, columns: Sequence[str]) -> None:
    """Let DuckDB stream the whole file; only if it refuses a line, look for the exact lines more slowly."""
    import duckdb

    select = _csv_relation(path, columns, ", store_rejects=true, rejects_limit=100")
    with open_engine() as connection:
        try:
            # A sum of all counts would be an expression as deep as the table is wide, which the parser refuses.
            present = ", ".join(f"count({quote(name)})" for name in columns)
            rows = connection.execute(f"SELECT count(*), {present} FROM ({select})").fetchall()[0][0]
            rejects = connection.execute("SELECT line, error_type FROM reject_errors ORDER BY line").fetchall()
        except duckdb.Error as error:
            saw = shorten(str(error).splitlines()[0], 120)
            raise Unsound([SourceProblem(file, saw, "a CSV table in UTF-8 with commas and double quotes")]) from None
    if rejects:
        raise Unsound(list(_ragged(path, file, len(columns))) or [_reject(file, *rejects[0])])
    if not rows:
        raise Unsound([SourceProblem(file, "a header and no rows", "a table with rows")])


def _reject(file: str, line: int, kind: str) -> SourceProblem:
    return SourceProblem(file, f"{kind.lower()} near here", "a CSV table in UTF-8 with commas and double quotes", line)


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
                        yield SourceProblem(
                            file, f"{len(row)} cell{'s' if len(row) != 1 else ''}", f"{width}, as in the header", line
                        )
        except csv.Error as error:
            yield SourceProblem(file, shorten(str(error)), "a CSV table", start)
    if wrong > _LISTED:
        yield SourceProblem(file, f"{wrong - _LISTED} more such lines", "rows as wide as the header")
