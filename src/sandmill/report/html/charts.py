"""Charts as inline SVG. Colours come from the classes of the page, so that they suit light and dark mode."""

from sandmill.report.html.figure import Cell, Figure, cell_text
from sandmill.report.html.markup import Markup, element, join


def bars(figure: Figure, label: str, value: str, detail: str = "") -> Markup:
    """Draw a horizontal bar for each row of a figure.

    Args:
        figure: the numbers.
        label: name of the column with the names of the bars.
        value: name of the column with their lengths.
        detail: name of a column with a further text for each bar.
    """
    rows = figure.records()
    most = max((_length(row[value]) for row in rows), default=0.0) or 1.0
    return element("div", join(_bar(row, label, value, detail, most) for row in rows), class_="bars")


def _bar(row: dict[str, Cell], label: str, value: str, detail: str, most: float) -> Markup:
    share = round(100 * _length(row[value]) / most, 2)
    drawn = element(
        "svg",
        element("rect", x=0, y=0, width="100%", height=12, class_="track"),
        element("rect", x=0, y=0, width=f"{share}%", height=12, class_="bar"),
        width="100%",
        height=12,
        aria_hidden="true",
    )
    return element(
        "div",
        element("span", cell_text(row[label]), class_="name"),
        drawn,
        element("span", cell_text(row[value]), class_="number"),
        element("span", cell_text(row[detail]), class_="faint more") if detail else Markup(),
        class_="barline",
    )


def _length(value: Cell) -> float:
    return float(value) if isinstance(value, int | float) else 0.0
