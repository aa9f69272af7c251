"""Open a CSV or Parquet table. Its shape is checked by streaming, since it may be huge or broken.

Polars loads whole cells, so their sizes are checked first. A small Parquet file can decode to very many cells.
"""

import csv
import io
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from sandmill.errors import count, shorten
from sandmill.seeds.explain import show
from sandmill.seeds.source_files import SourceProblem, Unsound, require_regular

if TYPE_CHECKING:
    import polars as pl
    from pyarrow.parquet import FileMetaData

MAX_CELL = 1 << 20
"""Bytes of one cell."""

_LONGEST_LINE = 1 << 24
"""Characters of a line that are read at once. The rest of a longer one counts as a line of its own."""

MAX_COLUMNS = 2000
MAX_PARQUET_ROWS = 10_000_000
MOST_READ = 1 << 30
"""Bytes of a CSV that are measured: of a larger one, about as many from its beginning."""
_HEAD = 1 << 22
MAX_DECODED = 1 << 29
"""Bytes of all decoded cells: 8 for each cell, and the length of each text."""
_CELL = 8
TABLE_SUFFIXES = frozenset({".csv", ".parquet"})
MISSING_WORDS = ("", "NA", "N/A", "NaN", "nan", "null", "NULL")
"""Cells of a CSV that count as empty."""
_EXPECTED = "a CSV table in UTF-8 with commas and double quotes"
_MAX_HEADER = 1 << 20
_LISTED = 5


def parquet_columns(path: Path, file: str) -> tuple[str, ...]:
    """Return the columns of a table whose footer shows an acceptable size, and whose texts are not too long.

    Raises:
        Unsound: if it has too many rows, columns or cells, or cells that are too large, alone or together. Parquet has
            no lines, so the column alone is named.
        OSError, ArrowException, PolarsError: if it is no Parquet table.
    """
    import polars as pl
    import pyarrow.parquet as pq

    with pq.ParquetFile(path) as table:
        if problems := list(_oversized(table.metadata, file)):
            raise Unsound(problems)
        columns = [table.schema.column(number) for number in range(table.metadata.num_columns)]
        # In columns of lists and structs, paths are longer than names.
        names = [one.name for one in columns if one.physical_type == "BYTE_ARRAY" and one.path == one.name]
    lengths = {name: _lengths(path, name) for name in names}
    saw = f"a cell of more than {MAX_CELL >> 20} MB in the column"
    if found := [name for name, (longest, _) in lengths.items() if longest > MAX_CELL]:
        expected = f"cells of at most {MAX_CELL >> 20} MB"
        raise Unsound([SourceProblem(file, f"{saw} {show(name)}", expected) for name in found])
    if sum(total for _, total in lengths.values()) > MAX_DECODED:
        raise Unsound([_too_much(file)])
    return tuple(pl.scan_parquet(path, glob=False).collect_schema().names())


def _lengths(path: Path, column: str) -> tuple[int, int]:
    """Return the length of the longest text of a column and the sum of all lengths, in bytes, without decoding.

    One entry of a dictionary may occur in millions of rows.
    """
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    longest = total = 0
    with pq.ParquetFile(path, read_dictionary=[column]) as table:
        for batch in table.iter_batches(columns=[column]):
            cells = batch.column(0)
            if isinstance(cells, pa.DictionaryArray):  # and no decimal number
                sizes = pc.take(pc.binary_length(cells.dictionary), cells.indices).cast(pa.int64())
                longest, total = max(longest, pc.max(sizes).as_py() or 0), total + (pc.sum(sizes).as_py() or 0)
    return longest, total


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

        return int(self._open().select(pl.len()).collect(engine="streaming").item())

    def scan(self, columns: Sequence[str]) -> "pl.LazyFrame":
        """Open some columns lazily. Cells are text without spaces around it, empty ones null.

        Raises:
            Unsound: if a column holds lists or structs.
        """
        import polars as pl

        frame = self._open().select(columns)
        hint = "Name the column under ignore to leave it out."
        nested = {name: dtype for name, dtype in frame.collect_schema().items() if dtype.is_nested()}
        if problems := [f"{dtype} in column {name}" for name, dtype in nested.items()]:
            raise Unsound([SourceProblem(self.file, saw, "columns of single values", hint=hint) for saw in problems])
        text = pl.all().cast(pl.String, strict=False).str.strip_chars()
        return frame.select(pl.when(~text.is_in(["NaN", ""])).then(text))

    def _open(self) -> "pl.LazyFrame":
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
            _check_rows(TableFile(path, file, columns))
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
    text = head.decode("utf-8-sig", errors="ignore")
    columns = next(csv.reader(io.StringIO(text, newline=""), strict=True), [])
    if not any(columns):
        raise Unsound([SourceProblem(file, "no header", "a header with the names of the columns", 1)])
    if len(columns) == 1 and (mark := next((m for m in ";\t|" if m in columns[0]), None)):
        saw = f"one column whose name holds {show(mark) if mark != chr(9) else 'tabs'}"
        raise Unsound([SourceProblem(file, saw, "columns separated by commas", 1)])
    return tuple(columns)


def _check_rows(table: "TableFile") -> None:
    """Read the rows with the csv module: the number of their cells, the sizes of cells, and the ends of lines.

    Raises:
        Unsound: with the first lines that are wrong.
    """
    before = csv.field_size_limit(MAX_CELL)
    try:
        found = list(islice(_row_problems(table), _LISTED + 1))
    finally:
        csv.field_size_limit(before)
    if found:
        raise Unsound(found)


def _row_problems(table: "TableFile") -> Iterator[SourceProblem]:
    file, width, most = table.file, len(table.columns), table.rows_read
    rows, start = 0, 1
    with table.path.open("rb") as stream:
        reader = csv.reader((line.decode() for line in iter(partial(stream.readline, _LONGEST_LINE), b"")), strict=True)
        try:
            for row in reader:
                line, start = start, reader.line_num + 1
                if row and len(row) != width:
                    yield SourceProblem(file, count(len(row), "cell"), f"{width}, as in the header", line)
                rows += 1
                if most and rows > most:
                    return
        except csv.Error as error:
            if "field larger" in str(error):
                expected = f"cells of at most {MAX_CELL >> 20} MB"
                yield SourceProblem(file, f"a cell of more than {MAX_CELL >> 20} MB", expected, start)
            elif "new-line character" in str(error):  # readers disagree whether a line ends there
                saw, hint = "a carriage return without a line feed", "Save the table with line feeds (LF)."
                yield SourceProblem(file, saw, "lines that end in LF or CR LF", reader.line_num, hint=hint)
            else:
                yield SourceProblem(file, shorten(str(error)), _EXPECTED, start)
        except UnicodeDecodeError:
            yield SourceProblem(file, "bytes that are not UTF-8", _EXPECTED, start)
        else:
            if rows < 2:
                yield SourceProblem(file, "a header and no rows", "a table with rows")
