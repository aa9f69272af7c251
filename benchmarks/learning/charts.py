"""Charts as SVG text: intervals of arms, and learning curves."""

from collections.abc import Mapping, Sequence
from html import escape

WIDTH, ROW, HEIGHT = 720, 26, 320
LEFT, RIGHT, TOP, BOTTOM = 250, 30, 40, 40
COLOURS = ("#1f6f8b", "#c8553d", "#588157", "#7a4fa3", "#b58900", "#333333", "#d81b60", "#00838f")

Estimate = tuple[str, float, float, float]
"""Label, estimate, lower and upper end of its interval."""


def interval_chart(title: str, axis: str, rows: Sequence[Estimate], zero: float | None = None) -> str:
    """Return a chart with one point and its interval for each row."""
    ends = [value for _, *values in rows for value in values] + ([] if zero is None else [zero])
    low, high = _limits(ends)
    height = TOP + ROW * len(rows) + BOTTOM

    def x(value: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * (value - low) / (high - low)

    marks = [_text(WIDTH / 2, 20, title, "middle", 14), _text((LEFT + WIDTH - RIGHT) / 2, height - 6, axis, "middle")]
    for value in _ticks(low, high):
        marks.append(_line(x(value), TOP - 6, x(value), height - BOTTOM, "#dddddd"))
        marks.append(_text(x(value), height - BOTTOM + 16, f"{value:g}", "middle"))
    if zero is not None:
        marks.append(_line(x(zero), TOP - 6, x(zero), height - BOTTOM, "#888888"))
    for place, (label, estimate, lower, upper) in enumerate(rows):
        y = TOP + ROW * (place + 0.5)
        marks += [_text(LEFT - 10, y + 4, label, "end"), _line(x(lower), y, x(upper), y, COLOURS[0], 2)]
        marks.append(f'<circle cx="{x(estimate):.1f}" cy="{y:.1f}" r="4" fill="{COLOURS[0]}"/>')
    return _svg(height, marks)


def curve_chart(title: str, axes: tuple[str, str], curves: Mapping[str, Sequence[tuple[float, float]]]) -> str:
    """Return a chart with one line for each named curve."""
    drawn = {name: points for name, points in curves.items() if points}
    left, right = _limits([x for points in drawn.values() for x, _ in points])
    low, high = _limits([y for points in drawn.values() for _, y in points])
    start, height = 60, HEIGHT + 18 * len(drawn)

    def place(point: tuple[float, float]) -> str:
        x = start + (WIDTH - start - RIGHT) * (point[0] - left) / (right - left)
        return f"{x:.1f},{TOP + (HEIGHT - TOP - BOTTOM) * (high - point[1]) / (high - low):.1f}"

    marks = [_text(WIDTH / 2, 20, title, "middle", 14), _text(WIDTH / 2, HEIGHT - 8, axes[0], "middle")]
    marks.append(_text(start, TOP - 8, axes[1], "start"))
    for value in _ticks(low, high):
        y = TOP + (HEIGHT - TOP - BOTTOM) * (high - value) / (high - low)
        marks += [_line(start, y, WIDTH - RIGHT, y, "#dddddd"), _text(start - 6, y + 4, f"{value:g}", "end")]
    for value in _ticks(left, right):
        x = start + (WIDTH - start - RIGHT) * (value - left) / (right - left)
        marks.append(_text(x, HEIGHT - BOTTOM + 16, f"{value:g}", "middle"))
    for number, (name, points) in enumerate(drawn.items()):
        colour, y = COLOURS[number % len(COLOURS)], HEIGHT + 18 * number + 4
        path = " ".join(map(place, sorted(points)))
        marks.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="1.8"/>')
        marks += [_line(start, y, start + 24, y, colour, 3), _text(start + 32, y + 4, name, "start")]
    return _svg(height, marks)


def _limits(values: Sequence[float]) -> tuple[float, float]:
    low, high = min(values, default=0.0), max(values, default=1.0)
    margin = 0.05 * (high - low) or 0.5
    return low - margin, high + margin


def _ticks(low: float, high: float) -> list[float]:
    """Return about five round numbers between two ends."""
    from math import ceil, floor, log10

    raw = (high - low) / 5
    unit = 10.0 ** floor(log10(raw))
    step = next(unit * factor for factor in (1, 2, 5, 10) if unit * factor >= raw * 0.999)
    return [round(number * step, 10) for number in range(ceil(low / step), floor(high / step) + 1)]


def _svg(height: float, marks: Sequence[str]) -> str:
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:g}" font-family="sans-serif">'
    ground = f'<rect width="{WIDTH}" height="{height:g}" fill="#ffffff"/>'
    return "\n".join([head, ground, *marks, "</svg>", ""])


def _line(x1: float, y1: float, x2: float, y2: float, colour: str, width: float = 1) -> str:
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}" stroke-width="{width:g}"/>'


def _text(x: float, y: float, text: str, anchor: str, size: int = 11) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}">{escape(text)}</text>'
