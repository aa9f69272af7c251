"""Tables of numbers together with the query that gives them."""

from typing import Any, Literal, TypeGuard

from pydantic import Field

from sandmill.models.base import Frozen

Edition = Literal["public", "private"]

Cell = str | int | float | bool | None

ID_PATTERN = r"^[a-z][a-z0-9-]*$"


class Figure(Frozen):
    """The numbers of one figure of a report."""

    id: str = Field(pattern=ID_PATTERN)
    title: str
    note: str = ""
    """What the numbers mean, and what they leave out."""
    sql: str
    """Query for DuckDB that gives the rows, in the order in which they stand here."""
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]

    def records(self) -> list[dict[str, Cell]]:
        """Return the rows as mappings."""
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]

    def twin(self) -> dict[str, Any]:
        """Return the figure for `report.json`."""
        return self.model_dump(mode="json", exclude={"id", "note"})

    @property
    def is_numeric(self) -> list[bool]:
        """Whether each column holds nothing but numbers, which are set flush right."""
        places = range(len(self.columns))
        return [all(row[place] is None or _is_number(row[place]) for row in self.rows) for place in places]

    @property
    def shares(self) -> list[float]:
        """Numbers of the second column as percentages of its largest: the lengths of bars."""
        lengths = [float(cell) if _is_number(cell) else 0.0 for _, cell, *_ in self.rows]
        return [round(100 * length / (max(lengths) or 1.0), 2) for length in lengths]


def _is_number(value: Cell) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


def cell_text(value: Cell) -> str:
    """Write a cell for people."""
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:,.4g}" if abs(value) < 1000 else f"{value:,.0f}"
    return f"{value:,}" if isinstance(value, int) else value
