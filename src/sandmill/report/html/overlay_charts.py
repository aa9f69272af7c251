"""Charts that put several sets of rollouts side by side, as inline SVG. Sets differ by the strength of one colour."""

from collections.abc import Sequence
from typing import NamedTuple

from sandmill.report.html.figure import Cell, Figure, cell_text
from sandmill.report.html.markup import Markup, element, join

_STRENGTHS = (1.0, 0.5, 0.25, 0.75, 0.4, 0.15)
_MOST_POINTS = 2_000
_WIDTH, _LINE, _LEFT, _RIGHT = 560, 18, 200, 90
"""Pixels: width of a chart, height of a bar, room for names, room for numbers."""
_HEIGHT, _FOOT = 140, 24
_SIDE, _EDGE = 320, 44


class Bar(NamedTuple):
    """One bar of a group."""

    group: str
    label: str
    value: float
    text: str
    title: str


def grouped_bars(bars: Sequence[Bar], labels: Sequence[str], most: float, title: str) -> Markup:
    """Draw a group of bars for each group name, in the order in which the bars stand. `most` is the whole width."""
    shapes: list[Markup] = []
    y, scale = 0, (_WIDTH - _LEFT - _RIGHT) / (most or 1.0)
    for name in dict.fromkeys(bar.group for bar in bars):
        shapes.append(_text(_LEFT - 8, y + 13, name, "end"))
        for bar in (bar for bar in bars if bar.group == name):
            length = round(bar.value * scale, 2)
            shapes.append(_bar(_LEFT, y + 2, length, _LINE - 4, _strength(labels, bar.label), bar.title))
            shapes.append(_text(round(_LEFT + length + 6, 2), y + 13, bar.text, "start"))
            y += _LINE
        y += 6
    return join([_legend(labels), _svg(_WIDTH, y, title, shapes)])


def solve_rates(figure: Figure, labels: Sequence[str]) -> Markup:
    """Draw solve rates from 0 to 1: a group for each value of the second column, with a bar for each set."""
    bars = []
    for row in figure.records():
        rate, label = _number(row["solve_rate"]), str(row["label"])
        title = f"{label}: {rate:.3f}, {row['rollouts']} rollouts of {row['tasks']} tasks"
        bars.append(Bar(cell_text(row[figure.columns[1]]), label, rate, f"{rate:.1%}", title))
    return grouped_bars(bars, labels, 1.0, figure.title)


def before_and_after(figure: Figure) -> Markup:
    """Draw the columns `before` and `after`, a group for each row, which the first column names."""
    sides = ("before", "after")
    bars = [
        Bar(cell_text(row[figure.columns[0]]), side, _number(row[side]), cell_text(row[side]), f"{side}: {row[side]}")
        for row in figure.records()
        for side in sides
    ]
    return grouped_bars(bars, sides, max((bar.value for bar in bars), default=1.0), figure.title)


def histogram(figure: Figure, labels: Sequence[str]) -> Markup:
    """Draw the number of rollouts in each bin of the reward, one chart a set, all with the same scales."""
    rows = figure.records()
    if not rows:
        return element("p", "No rollout has a reward.")
    bins = max(int(_number(row["bin"])) for row in rows) + 1
    most = max(_number(row["rollouts"]) for row in rows)
    low = min(_number(row["reward_from"]) for row in rows)
    high = max(_number(row["reward_to"]) for row in rows)
    return join(_columns(label, rows, bins, most, (low, high)) for label in labels)


def _columns(label: str, rows: Sequence[dict[str, Cell]], bins: int, most: float, ends: tuple[float, float]) -> Markup:
    step = (_WIDTH - 20) / bins
    shapes = []
    for row in (row for row in rows if row["label"] == label):
        height = round(_number(row["rollouts"]) / most * (_HEIGHT - _FOOT - 20), 2)
        title = f"{cell_text(row['reward_from'])} to {cell_text(row['reward_to'])}: {row['rollouts']} rollouts"
        x = round(10 + int(_number(row["bin"])) * step, 2)
        shapes.append(_bar(x, round(_HEIGHT - _FOOT - height, 2), round(step - 2, 2), height, 1.0, title))
    shapes.append(_text(10, 12, label, "start"))
    shapes.append(_text(10, _HEIGHT - 6, cell_text(ends[0]), "start"))
    shapes.append(_text(_WIDTH - 10, _HEIGHT - 6, cell_text(ends[1]), "end"))
    return _svg(_WIDTH, _HEIGHT, f"Rewards of {label}", shapes)


def points(figure: Figure, columns: tuple[str, str], names: tuple[str, str]) -> Markup:
    """Draw a point for each row; at most some thousands, the first ones. Points above the diagonal went up."""
    rows = figure.records()[:_MOST_POINTS]
    if not rows:
        return element("p", "The sets have no task in common.")
    values = [_number(row[column]) for row in rows for column in columns]
    low, high = min([0.0, *values]), max([1.0, *values])
    inner = _SIDE - 2 * _EDGE

    def place(value: float) -> float:
        return round((value - low) / (high - low) * inner, 2)

    shapes = [
        element(
            "line", x1=_EDGE, y1=_SIDE - _EDGE, x2=_SIDE - _EDGE, y2=_EDGE, style="stroke:var(--faint);stroke-width:1"
        )
    ]
    for row in rows:
        x, y = (_number(row[column]) for column in columns)
        title = element("title", f"{row['task_id']}: {x:.3f} to {y:.3f}")
        where = {"cx": round(_EDGE + place(x), 2), "cy": round(_SIDE - _EDGE - place(y), 2)}
        shapes.append(element("circle", title, **where, r=4, style="fill:var(--accent);fill-opacity:0.6"))
    shapes.append(_text(_SIDE // 2, _SIDE - 10, names[0], "middle"))
    shapes.append(_text(_EDGE, _EDGE - 14, names[1], "start"))
    shapes.append(_text(_EDGE, _SIDE - _EDGE + 16, cell_text(low), "middle"))
    shapes.append(_text(_SIDE - _EDGE, _SIDE - _EDGE + 16, cell_text(high), "middle"))
    return _svg(_SIDE, _SIDE, figure.title, shapes)


def _legend(labels: Sequence[str]) -> Markup:
    swatches = (
        element("span", _svg(12, 12, "", [_bar(0, 0, 12, 12, _strength(labels, label), "")], "inline"), f" {label} ")
        for label in labels
    )
    return element("p", join(swatches), class_="faint")


def _strength(labels: Sequence[str], label: Cell) -> float:
    return _STRENGTHS[list(labels).index(str(label)) % len(_STRENGTHS)]


def _bar(x: float, y: float, width: float, height: float, strength: float, title: str) -> Markup:
    shown = [element("title", title)] if title else []
    style = f"fill:var(--accent);fill-opacity:{strength}"
    return element("rect", *shown, x=x, y=y, width=max(width, 0.0), height=max(height, 0.0), style=style)


def _text(x: float, y: float, words: str, anchor: str) -> Markup:
    return element("text", words, x=x, y=y, text_anchor=anchor, style="fill:var(--ink);font-size:12px")


def _svg(width: int, height: int, title: str, shapes: Sequence[Markup], display: str = "block") -> Markup:
    label = {"role": "img", "aria_label": title} if title else {"aria_hidden": "true"}
    return element(
        "svg",
        *shapes,
        width=width,
        height=height,
        viewBox=f"0 0 {width} {height}",
        style=f"display:{display};height:auto",
        **label,
    )


def _number(value: Cell) -> float:
    return float(value) if isinstance(value, int | float) else 0.0
