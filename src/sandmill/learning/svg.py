"""A small writer of charts as SVG. Equal data give equal bytes: no dates, no random ids, no fonts of this machine."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from html import escape
from math import ceil, floor, log10

PALETTE = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#7f7f7f")
"""Colours of the lines in charts. Colour-blind readers can tell them apart (palette by Okabe and Ito; grey is last)."""

_FONT = 'font-family="sans-serif" font-size="12"'


@dataclass(frozen=True)
class PixelScale:
    """Maps values to pixels."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        """Return the place of a value in pixels."""
        return self.start + (value - self.low) / (self.high - self.low) * (self.end - self.start)

    def ticks(self, number: int = 5) -> list[float]:
        """Return about this many round values within the scale."""
        rough = (self.high - self.low) / number
        power = 10.0 ** floor(log10(rough))
        step = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= rough * 0.999)
        places = range(ceil(self.low / step - 1e-9), floor(self.high / step + 1e-9) + 1)
        return [place * step for place in places]


def fit_scale(values: Iterable[float], start: float, end: float) -> PixelScale:
    """Return a scale that holds all values with a margin; 0 to 1 without values."""
    known = [value for value in values if abs(value) < float("inf")] or [0.0, 1.0]
    low, high = min(known), max(known)
    margin = (high - low) * 0.05 or 0.5
    return PixelScale(low - margin, high + margin, start, end)


@dataclass
class Drawing:
    """Shapes of one chart. Coordinates are pixels from the upper left corner."""

    width: int
    height: int
    title: str
    shapes: list[str] = field(default_factory=list)

    def line(self, points: Sequence[tuple[float, float]], colour: str, *, width: float = 1, dash: str = "") -> None:
        """Draw a line through points."""
        path = " ".join(f"{x:.2f},{y:.2f}" for x, y in points)
        dashes = f' stroke-dasharray="{dash}"' if dash else ""
        self.shapes.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="{width}"{dashes}/>')

    def area(self, points: Sequence[tuple[float, float]], colour: str) -> None:
        """Fill an area with a light shade."""
        path = " ".join(f"{x:.2f},{y:.2f}" for x, y in points)
        self.shapes.append(f'<polygon points="{path}" fill="{colour}" fill-opacity="0.15"/>')

    def dot(self, x: float, y: float, colour: str, radius: float = 3.5) -> None:
        """Draw a filled circle."""
        self.shapes.append(f'<circle cx="{x:.2f}" cy="{y:.2f}" r="{radius}" fill="{colour}"/>')

    def text(self, x: float, y: float, words: str, *, anchor: str = "start", colour: str = "#222") -> None:
        """Write words. `anchor` is start, middle or end."""
        self.shapes.append(
            f'<text x="{x:.2f}" y="{y:.2f}" text-anchor="{anchor}" fill="{colour}">{escape(words)}</text>'
        )

    def horizontal_axis(self, scale: PixelScale, top: float, bottom: float, name: str) -> None:
        """Draw ticks with their values below the chart, and the name of the axis."""
        for tick in scale.ticks():
            self.line([(scale(tick), top), (scale(tick), bottom)], "#ddd")
            self.text(scale(tick), bottom + 16, f"{tick:g}" if abs(tick) < 1e5 else f"{tick:.0f}", anchor="middle")
        self.text((scale.start + scale.end) / 2, bottom + 34, name, anchor="middle")

    def vertical_axis(self, scale: PixelScale, left: float, right: float, name: str) -> None:
        """Draw ticks with their values left of the chart, and the name of the axis above it."""
        for tick in scale.ticks():
            self.line([(left, scale(tick)), (right, scale(tick))], "#ddd")
            self.text(left - 6, scale(tick) + 4, f"{tick:.10g}", anchor="end")
        self.text(left - 6, min(scale.start, scale.end) - 10, name)

    def render(self) -> str:
        """Return the SVG file."""
        head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{self.width}" height="{self.height}" '
        head += f'viewBox="0 0 {self.width} {self.height}" {_FONT}>'
        title = f"<title>{escape(self.title)}</title>"
        heading = f'<text x="12" y="20" font-weight="bold" fill="#222">{escape(self.title)}</text>'
        return "\n".join(
            [head, title, '<rect width="100%" height="100%" fill="#fff"/>', heading, *self.shapes, "</svg>\n"]
        )
