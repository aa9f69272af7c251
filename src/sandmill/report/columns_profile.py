"""Profiles of the columns of one table of a task: kinds of cells, missing ones, and how values spread."""

from collections import Counter
from collections.abc import Sequence
from math import isfinite
from statistics import median

from sandmill.errors import shorten
from sandmill.models.base import Frozen

BINS = 12
_MOSTLY = 0.9
"""Share of the cells that must be numbers for a column of numbers."""
_TOP = 3
_LONGEST = 60


class ColumnProfile(Frozen):
    """One column."""

    name: str
    kind: str
    """`number` or `text`."""
    missing: int
    distinct: int
    least: float | None = None
    median: float | None = None
    most: float | None = None
    bins: tuple[int, ...] = ()
    """Cells in equal steps from `least` to `most`."""
    top: tuple[tuple[str, int], ...] = ()
    """Most frequent values of a column of text."""


def profile_columns(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[ColumnProfile]:
    """Describe each column of a table."""
    return [_profile(name, [row[place] for row in rows if place < len(row)]) for place, name in enumerate(header)]


def _profile(name: str, cells: Sequence[str]) -> ColumnProfile:
    filled = [cell for cell in cells if cell.strip()]
    numbers = [number for cell in filled if (number := _number(cell)) is not None]
    missing, distinct = len(cells) - len(filled), len(set(filled))
    named = shorten(name, _LONGEST)
    if not numbers or len(numbers) < _MOSTLY * len(filled):
        ordered = sorted(Counter(filled).items(), key=lambda item: (-item[1], item[0]))
        top = tuple((shorten(value, _LONGEST), times) for value, times in ordered[:_TOP])
        return ColumnProfile(name=named, kind="text", missing=missing, distinct=distinct, top=top)
    low, high = min(numbers), max(numbers)
    bins = [0] * BINS
    for number in numbers:
        share = (number / 2 - low / 2) / (high / 2 - low / 2) if high > low else 0.0
        bins[min(BINS - 1, int(share * BINS))] += 1
    return ColumnProfile(
        name=named,
        kind="number",
        missing=missing,
        distinct=distinct,
        least=low,
        median=median(numbers),
        most=high,
        bins=tuple(bins),
    )


def _number(cell: str) -> float | None:
    try:
        number = float(cell)
    except ValueError:
        return None
    return number if isfinite(number) else None
