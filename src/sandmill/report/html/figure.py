"""Tables of numbers together with the query that gives them."""

from collections.abc import Iterable
from typing import Any, Literal

from pydantic import Field

from sandmill.models.base import Frozen
from sandmill.report.html.markup import Markup, element, join

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


def sql_block(figure: Figure) -> Markup:
    """Write the query of a figure, folded until a reader opens it."""
    query = element("pre", element("code", figure.sql), tabindex=0)
    return element("details", element("summary", "SQL behind this figure"), query, class_="sql", data_figure=figure.id)


def figure_table(figure: Figure) -> Markup:
    """Write a figure as a table, numbers to the right."""
    names = [name.replace("_", " ") for name in figure.columns]
    numeric = [all(_is_number(row[place]) for row in figure.rows) for place in range(len(figure.columns))]

    def line(kind: str, row: Iterable[str]) -> Markup:
        cells = zip(row, numeric, names, strict=True)
        return element(
            "tr",
            *(element(kind, cell, class_="number" if right else None, data_label=name) for cell, right, name in cells),
        )

    head = element("thead", line("th", names))
    body = element("tbody", *(line("td", map(cell_text, row)) for row in figure.rows))
    return element("div", element("table", head, body, data_figure=figure.id), class_="wide")


def figure_block(figure: Figure, shown: Markup, *, is_full: bool = False) -> Markup:
    """Write a figure with its title, note, picture or table, and query; a full one takes the width of the page."""
    note = element("p", figure.note, class_="faint") if figure.note else Markup()
    parts = element("figcaption", figure.title), note, shown, sql_block(figure)
    return element("figure", *parts, class_="full" if is_full else None)


def cell_text(value: Cell) -> str:
    """Write a cell for people."""
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:,.4g}" if abs(value) < 1000 else f"{value:,.0f}"
    return f"{value:,}" if isinstance(value, int) else value


def _is_number(value: Cell) -> bool:
    return value is None or (isinstance(value, int | float) and not isinstance(value, bool))


def bars(figure: Figure, label: str, value: str, most: float | None = None) -> Markup:
    """Draw a horizontal bar for each row of a figure, as inline SVG in the colours of the page.

    Columns hold the names of the bars and their lengths. `most` is the longest possible; None: the longest there is.
    """

    def length(number: Cell) -> float:
        return float(number) if isinstance(number, int | float) else 0.0

    def bar(name: Cell, number: Cell) -> Markup:
        share = f"{round(100 * length(number) / whole, 2)}%"
        drawn = element(
            "svg",
            element("rect", x=0, y=0, width="100%", height=12, class_="track"),
            element("rect", x=0, y=0, width=share, height=12, class_="bar"),
            width="100%",
            height=12,
            aria_hidden="true",
        )
        texts = (
            element("span", cell_text(name).replace("_", " "), class_="name"),
            element("span", cell_text(number), class_="number"),
        )
        return element("div", texts[0], drawn, texts[1], class_="barline")

    rows = figure.records()
    whole = most or max((length(row[value]) for row in rows), default=0.0) or 1.0
    return element("div", join(bar(row[label], row[value]) for row in rows), class_="bars")
