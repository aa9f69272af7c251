"""Measure the columns of a table in one streaming pass."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from sandmill.seeds.source_problems import SourceProblem, Unsound
from sandmill.seeds.table_files import TableFile

if TYPE_CHECKING:
    import polars as pl

ColumnKind = Literal["numeric", "categorical", "date", "text", "identifier"]

MIN_IDENTIFIER_ROWS = 20
"""In a shorter table, values may differ by chance."""

TEXT_SPACES = 3.0
"""Mean spaces in a cell from which on a column of words is text."""

PHRASE_SPACES = 1.0
"""Mean spaces in a cell from which on a column is text, if more than half of its cells differ."""

_CELLS_AT_ONCE = 5_000_000

DATE_PATTERN = r"^\d{4}-\d{2}-\d{2}([ T]\d{2}:\d{2}(:\d{2}(\.\d+)?)?( ?(UTC|Z|[+-]\d{2}:?\d{2}))?)?$"
"""ISO dates, with or without a time and a zone."""


@dataclass(frozen=True)
class ColumnFacts:
    """Measurements of one column."""

    name: str
    rows: int
    present: int
    """Cells that are not empty."""
    distinct: int
    """Distinct values among the present cells."""
    is_number: bool
    is_whole: bool
    """A number without fractions in every cell."""
    is_date: bool
    spaces: float
    """Mean number of spaces in a cell; 0 for columns that are not text."""

    @property
    def missing_share(self) -> float:
        """Share of empty cells."""
        return 1 - self.present / self.rows

    @property
    def kind(self) -> ColumnKind:
        """The first kind that fits, in the order date, text, identifier, numeric, categorical."""
        if self.is_date:
            return "date"
        is_phrase = self.spaces >= PHRASE_SPACES and self.present >= MIN_IDENTIFIER_ROWS
        if self.spaces >= TEXT_SPACES or (is_phrase and 2 * self.distinct > self.present):
            return "text"
        never_repeats = self.distinct == self.rows >= MIN_IDENTIFIER_ROWS
        if never_repeats and (self.is_whole or not self.is_number):
            return "identifier"
        return "numeric" if self.is_number else "categorical"


def measure(table: TableFile, columns: tuple[str, ...], labelled: str | None = None) -> dict[str, ColumnFacts]:
    """Profile columns without loading the table.

    Args:
        table: the table, streamed.
        columns: what to measure.
        labelled: rows in which this column is empty are left out.

    Raises:
        Unsound: if the table is empty or holds lists or structs in these columns.
    """
    frame = table.scan()
    schema = frame.collect_schema()
    _refuse_nested(table, {name: schema[name] for name in columns})
    frame = frame if labelled is None else frame.filter(_present_cells(labelled, schema[labelled]))
    row: dict[str, Any] = {}
    for batch in _batches(table, len(columns)):
        asked = [_measurements(name, schema[name]) for name in columns[batch]]
        row |= frame.select(asked).collect(engine="streaming").row(0, named=True)
    if not all(measured["rows"] for measured in row.values()):
        raise Unsound([SourceProblem(table.file, "a table with columns and no rows", "a table with rows")])
    return {name: _facts(name, measured) for name, measured in row.items()}


def _batches(table: TableFile, width: int) -> list[slice]:
    """Split the columns of a Parquet table so that distinct values of a few are held at once.

    A CSV is read whole for any of its columns, so all of them are measured together.
    """
    size = max(1, width if table.is_csv else _CELLS_AT_ONCE // max(1, table.count_rows()))
    return [slice(start, start + size) for start in range(0, width, size)]


def _refuse_nested(table: TableFile, dtypes: "dict[str, pl.DataType]") -> None:
    nested = {name: dtype for name, dtype in dtypes.items() if dtype.is_nested() or dtype.is_object()}
    expected = "columns of single values"
    hint = "Name the column under ignore to leave it out."
    if nested:
        raise Unsound([SourceProblem(table.file, f"{d} in column {n}", expected, hint=hint) for n, d in nested.items()])


def _measurements(name: str, dtype: "pl.DataType") -> "pl.Expr":
    import polars as pl

    cells = pl.col(name)
    is_text = dtype in (pl.String, pl.Categorical, pl.Enum, pl.Binary)
    text = cells.cast(pl.String, strict=False).str.strip_chars() if is_text else pl.lit(None, pl.String)
    is_numeric = is_text or dtype.is_numeric()
    numbers = (text if is_text else cells).cast(pl.Float64, strict=False) if is_numeric else pl.lit(None, pl.Float64)
    values = pl.when(numbers.is_finite()).then(numbers)
    present = _present_cells(name, dtype)
    looks_dated = text.str.contains(DATE_PATTERN) if is_text else pl.lit(dtype.is_temporal())
    return pl.struct(
        rows=pl.len(),
        present=present.sum(),
        distinct=cells.filter(present).n_unique(),
        numbers=(numbers.is_not_null() & present).sum(),
        whole=(values == values.round()).sum(),
        dates=(looks_dated & present).sum(),
        spaces=text.str.count_matches(" ", literal=True).mean(),
    ).alias(name)


def _present_cells(name: str, dtype: "pl.DataType") -> "pl.Expr":
    import polars as pl

    cells = pl.col(name)
    if dtype == pl.Binary:
        return cells.cast(pl.String, strict=False).is_not_null()
    return cells.is_not_null() & cells.is_not_nan() if dtype.is_float() else cells.is_not_null()


def _facts(name: str, measured: dict[str, Any]) -> ColumnFacts:
    present = measured["present"] or 0
    is_number = bool(present) and measured["numbers"] == present
    return ColumnFacts(
        name=name,
        rows=measured["rows"],
        present=present,
        distinct=measured["distinct"] if present else 0,
        is_number=is_number,
        is_whole=is_number and measured["whole"] == present,
        is_date=bool(present) and measured["dates"] == present,
        spaces=0.0 if is_number else measured["spaces"] or 0.0,
    )
