"""Open a CSV or Parquet table. Its shape is checked by streaming, since it may be huge or broken.

Polars and DuckDB load whole cells, so a check of their sizes reads blocks of bytes first. DuckDB's limit for lines is
no substitute: it passes over a long last line that has no end. A small Parquet file can decode to very many cells.
"""

import codecs
import csv
import glob
import io
import re
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sandmill.errors import count, require_extra, shorten
from sandmill.seeds.explain import show
from sandmill.seeds.regular import require_regular
from sandmill.seeds.source_problems import SourceProblem, Unsound

if TYPE_CHECKING:
    import duckdb
    import polars as pl
    from pyarrow.parquet import FileMetaData

MAX_CELL = 1 << 20
"""Bytes of one cell."""

_BLOCK = MAX_CELL // 4
_MARKS = re.compile(rb'[",\n]')

MAX_COLUMNS = 2000
MAX_PARQUET_ROWS = 10_000_000
MOST_READ = 1 << 30
"""Bytes of a CSV that are measured: of a larger one, about as many from its beginning."""
_HEAD = 1 << 22
MAX_DECODED = 1 << 29
"""Bytes of all decoded cells: 8 for each cell, and the length of each text."""
_CELL = 8
_LENGTH = {"VARCHAR": "strlen({})", "BLOB": "octet_length({})"}
TABLE_SUFFIXES = frozenset({".csv", ".parquet"})
MISSING_WORDS = ("", "NA", "N/A", "NaN", "nan", "null", "NULL")
"""Cells of a CSV that count as empty."""
_EXPECTED = "a CSV table in UTF-8 with commas and double quotes"
_MAX_HEADER = 1 << 20
_LISTED = 5


def find_large_cell(path: Path) -> tuple[int, int] | None:
    """Find the first cell of more than `MAX_CELL` bytes.

    Returns:
        The line that it begins in, and the number of its column, both from 1. None if every cell is small enough.

    Raises:
        OSError: if the file cannot be read.
    """
    return _locate(path) if _is_suspicious(path) else None


def _blocks(path: Path) -> Iterator[bytes]:
    with path.open("rb") as stream:
        while block := stream.read(_BLOCK):
            yield block


def _is_suspicious(path: Path) -> bool:
    """Return whether a block may lie inside one cell. Most files have no such block, and are not read again.

    Inside a plain cell there is no comma and no line end. Inside a quoted one, quotes come only in pairs; a pair may be
    cut by the end of a block, so quotes at its ends prove nothing.
    """
    has_quotes = False
    for block in _blocks(path):
        has_quotes = has_quotes or b'"' in block
        is_plain = b"," not in block and b"\n" not in block
        is_quoted = has_quotes and b'"' not in block.strip(b'"').replace(b'""', b"")
        if len(block) == _BLOCK and (is_plain or is_quoted):
            return True
    return False


def _locate(path: Path) -> tuple[int, int] | None:
    """Scan every comma, quote and line end. A quote opens a cell only at its start; elsewhere it is text."""
    line, column, begin, begin_line, offset = 1, 1, 0, 1, 0
    is_quoted = is_open = False
    for block in _blocks(path):
        for mark in _MARKS.finditer(block):
            kind, place = mark[0], offset + mark.start()
            line += kind == b"\n"
            if kind == b'"':
                is_quoted = is_quoted or place == begin
                is_open = is_quoted and not is_open
            elif not is_open:
                if place - begin > MAX_CELL:
                    return begin_line, column
                column = column + 1 if kind == b"," else 1
                begin, begin_line, is_quoted = place + 1, line, False
        offset += len(block)
        if offset - begin > MAX_CELL:
            return begin_line, column
    return None


def _has_mixed_lines(path: Path, file: str) -> bool:
    """Whether some lines end in LF and some in CR LF, which Polars reads and DuckDB does not.

    Raises:
        Unsound: if a carriage return outside of quotes stands alone. Readers disagree whether a line ends there.
    """
    returns = pairs = feeds = 0
    last = b""
    for block in _blocks(path):
        both = last + block
        returns += block.count(b"\r")
        feeds += block.count(b"\n")
        pairs += both.count(b"\r\n")
        last = block[-1:] if block.endswith(b"\r") else b""
    if returns > pairs and (line := _lone_return(path)):
        saw, hint = "a carriage return without a line feed", "Save the table with line feeds (LF) as ends of lines."
        raise Unsound([SourceProblem(file, saw, "lines that end in LF or CR LF", line, hint=hint)])
    return 0 < pairs < feeds


def _lone_return(path: Path) -> int:
    """Return the line of the first carriage return outside of quotes that no line feed follows; 0 if there is none."""
    line, is_quoted, after_return = 1, False, False
    for block in _blocks(path):
        for mark in re.finditer(rb'"|\r\n?|\n', block):
            if after_return and not (mark.start() == 0 and mark[0] == b"\n"):
                return line
            after_return = False
            is_quoted ^= mark[0] == b'"'
            if mark[0] == b"\r" and not is_quoted:
                if mark.end() < len(block):
                    return line
                after_return = True
            line += mark[0].endswith(b"\n")
        if after_return and not block.endswith(b"\r"):
            return line
    return line if after_return else 0


def _check_lines(path: Path, file: str, columns: Sequence[str]) -> None:
    """Check row widths with the csv module, which takes any end of a line."""
    if problems := list(_ragged(path, file, len(columns))):
        raise Unsound(problems)


def large_cell(file: str, name: str, line: int = 0) -> SourceProblem:
    """Return the problem for a large cell. Line 0 means that the file has no lines."""
    saw = f"a cell of more than {MAX_CELL >> 20} MB in the column {show(name)}"
    return SourceProblem(file, saw, f"cells of at most {MAX_CELL >> 20} MB", line)


@contextmanager
def open_engine(file: str, expected: str) -> Iterator["duckdb.DuckDBPyConnection"]:
    """Open an engine that spills to the system's temporary folder.

    Raises:
        Unsound: instead of an error of DuckDB on the file, with what was expected of it.
    """
    with require_extra("seeds", file):
        import duckdb

    config: dict[str, str | bool | int | float | list[str]] = {
        "threads": 2,
        "memory_limit": "700MB",
        "temp_directory": tempfile.gettempdir(),
        "autoinstall_known_extensions": False,
    }
    try:
        with duckdb.connect(config=config) as connection:
            yield connection
    except duckdb.Error as error:
        raise Unsound([SourceProblem(file, shorten(str(error).splitlines()[0], 120), expected)]) from None


def quote(name: str) -> str:
    """Write a column's name as an SQL identifier."""
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """Write an SQL string."""
    return "'" + text.replace("'", "''") + "'"


def file_pattern(path: Path) -> str:
    """Write a path as an SQL string that matches this one file, whatever characters its name has."""
    return literal(glob.escape(str(path)))


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
            n_rows=self.rows_read,
            with_column_names=lambda _: list(self.columns),
        )

    @property
    def rows_read(self) -> int | None:
        """Rows at the beginning of a large CSV that are measured. None: all rows of the table."""
        if not self.is_csv or self.path.stat().st_size <= MOST_READ:
            return None
        with self.path.open("rb") as stream:
            return max(1, stream.read(_HEAD).count(b"\n")) * (MOST_READ // _HEAD)


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
            found, is_mixed = find_large_cell(path), _has_mixed_lines(path, file)
        if found:
            line, number = found
            raise Unsound([large_cell(file, columns[number - 1] if number <= len(columns) else "", line)])
        _check_lines(path, file, columns) if is_mixed else _check_rows(path, file, columns)
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
        head = stream.read(_MAX_HEADER)
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise Unsound([SourceProblem(file, "UTF-16", _EXPECTED, 1, hint="Save the table as UTF-8.")])
    text = head.decode("utf-8-sig", errors="ignore")
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
