"""Strokes of clean pages, how strokes become pixels, and regions that masks mark."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from sandmill.kinds.page.channel import Scene, Style
from sandmill.mechanism.columns import Floats

LETTERS = 14
"""Letters of a font."""
_STROKES = 3
"""Strokes of a letter."""
_CELL, _LINE = 5, 8
"""Pixels from one letter to the next, and from one line to the next."""
MOST_NUMBERS = 320
"""Random numbers that a page may take."""


@dataclass(frozen=True)
class Pages:
    """What the strokes of some pages follow from."""

    height: int
    width: int
    font: int
    numbers: Floats
    """Random numbers in 0..1 of each page, shape (pages, MOST_NUMBERS)."""
    density: Floats
    """Share of the places for a mark that are used, for each page."""

    def is_used(self, place: int) -> Floats:
        """1 for pages that use a place for a mark, which takes one of the random numbers."""
        return (self.numbers[:, place] < self.density).astype(np.float64)


Strokes = list[tuple[Floats, Floats, Floats, Floats, Floats]]
"""Straight strokes, each with x and y of both ends and its relative width for all pages; 0 where it is absent."""


def darkness_of(strokes: Strokes, weight: Floats, slant: Floats, height: int, width: int) -> Floats:
    """Return how much of each pixel is covered, from 0 to 1. Weight and slant are in pixels, for each page."""
    covered, page = np.zeros((len(weight), height, width)), np.arange(len(weight))[:, None, None]
    lean = float(slant.max(initial=0)) * height / 2
    for one in strokes:
        x0, y0, x1, y1, relative = (np.asarray(part, dtype=np.float64)[:, None, None] for part in one)
        half = weight[:, None, None] * relative / 2
        reach = float(half.max(initial=0)) + 1
        rows = _window(y0[:, 0, 0], y1[:, 0, 0], reach, height)[:, :, None]
        columns = _window(x0[:, 0, 0], x1[:, 0, 0], reach + lean, width)[:, None, :]
        below = rows + 0.5 - y0
        right = columns + 0.5 + slant[:, None, None] * (rows + 0.5 - height / 2) - x0
        run, drop = x1 - x0, y1 - y0
        along = np.clip((right * run + below * drop) / np.maximum(run**2 + drop**2, 1e-9), 0, 1)
        far = np.hypot(right - along * run, below - along * drop)
        part = np.where(relative > 0, np.clip(half + 0.5 - far, 0, 1), 0)
        covered[page, rows, columns] = np.maximum(covered[page, rows, columns], part)
    return covered


def _window(begin: Floats, end: Floats, reach: float, side: int) -> NDArray[np.intp]:
    """Pixels of a side that a stroke may touch, as many on each page."""
    low, high = np.minimum(begin, end) - reach, np.maximum(begin, end) + reach
    count = min(side, int(np.ceil((high - low).max(initial=0))) + 1)
    first = np.clip(np.floor(low), 0, side - count).astype(np.intp)
    return np.asarray(first[:, None] + np.arange(count))


def _letters(pages: Pages, top: float, first: int) -> Strokes:
    """Lines of letters from a height downwards. `first` is the first random number to use."""
    font = _font(pages.font)
    strokes, place = Strokes(), first
    for line in range(int((pages.height - top - 4) // _LINE) + 1):
        for cell in range((pages.width - 2) // _CELL):
            used, which = pages.is_used(place), (pages.numbers[:, place + 1] * LETTERS).astype(np.intp)
            left, above = 2.0 + cell * _CELL, top + line * _LINE
            for stroke in font[which].transpose(1, 2, 0):
                x0, y0, x1, y1 = stroke
                strokes.append((left + x0, above + y0, left + x1, above + y1, used))
            place += 2
    return strokes


def _font(number: int) -> Floats:
    """Letters as strokes between points of a lattice, shape (letters, strokes, 4)."""
    rng = np.random.Generator(np.random.Philox(key=number))
    points = rng.integers(0, (3, 3), (LETTERS, _STROKES + 1, 2)) * np.array([1.5, 2.5])
    for letter in points:
        for before, after in pairwise(letter):
            if (before == after).all():
                after[1] = 5.0 - before[1] if before[1] != 2.5 else 0.0
    return np.concatenate([points[:, :-1], points[:, 1:]], axis=2)


def _plan(pages: Pages) -> Strokes:
    """Walls along both directions, and round columns."""
    numbers, strokes = pages.numbers, Strokes()
    for wall in range(11):
        used, start, reach, at = pages.is_used(4 * wall), *numbers[:, 4 * wall + 1 : 4 * wall + 4].T
        long, across = (pages.width, pages.height) if wall % 2 else (pages.height, pages.width)
        begin, place = 1 + np.floor(start * long * 0.6), 1.5 + np.floor(at * (across - 3))
        end = np.minimum(begin + 4 + reach * long * 0.6, long - 1)
        strokes.append((begin, place, end, place, used) if wall % 2 else (place, begin, place, end, used))
    for column in range(2):
        used, across, down, size = pages.is_used(50 + 4 * column), *numbers[:, 51 + 4 * column : 54 + 4 * column].T
        strokes += _ring(4 + across * (pages.width - 8), 4 + down * (pages.height - 8), 2 + 2 * size, used)
    return strokes


def _ring(x: Floats, y: Floats, radius: Floats, used: Floats) -> Strokes:
    corners = np.linspace(0, 2 * np.pi, 9)
    return [
        (x + radius * np.cos(a), y + radius * np.sin(a), x + radius * np.cos(b), y + radius * np.sin(b), used)
        for a, b in pairwise(corners)
    ]


def _map(pages: Pages) -> Strokes:
    """Contours from side to side that wind together, so that none crosses another, and dots."""
    numbers, strokes, steps = pages.numbers, Strokes(), 7
    x = np.linspace(0, pages.width, steps + 1)
    turn, tilt, top, bottom = numbers[:, 2:6].T
    for line in range(5):
        used, middle = pages.is_used(12 * line), 0.2 * line + 0.07 + 0.06 * numbers[:, 12 * line + 1]
        wave = 1 + 3 * (top + (bottom - top) * line / 4)
        y = [
            pages.height * (middle + 0.3 * (tilt - 0.5) * (step - steps / 2) / steps)
            + wave * np.sin(1.3 * step + 2 * np.pi * turn)
            for step in range(steps + 1)
        ]
        whole = np.ones(len(numbers))
        strokes += [(x[step] * whole, y[step], x[step + 1] * whole, y[step + 1], used) for step in range(steps)]
    for dot in range(8):
        used, across, down = pages.is_used(80 + 3 * dot), *numbers[:, 81 + 3 * dot : 83 + 3 * dot].T
        across, down = across * pages.width, down * pages.height
        strokes.append((across, down, across + 0.1, down, 1.8 * used))
    return strokes


def _score(pages: Pages) -> Strokes:
    """Staves of three lines, with notes on and between them."""
    numbers, strokes, whole, place = pages.numbers, Strokes(), np.ones(len(pages.numbers)), 0
    first = np.floor(numbers[:, MOST_NUMBERS - 1] * 8) - 2
    for staff in range(pages.height // 12 + 1):
        top = first + 12 * staff
        for line in range(3):
            level = top + 3 * line + 0.5
            strokes.append((whole, level, (pages.width - 1) * whole, level, 0.7 * whole))
        for note in range((pages.width - 4) // 5):
            used, x = pages.is_used(place), (4 + 5 * note) * whole
            y = top - 1 + np.floor(numbers[:, place + 1] * 9)
            stem = np.where(numbers[:, place + 2] < 0.5, -5.0, 5.0)
            strokes.append((x - 0.4, y, x + 0.4, y, 2.2 * used))
            strokes.append((x + 1, y, x + 1, y + stem, 0.8 * used))
            place += 3
    return strokes


def _label(pages: Pages) -> Strokes:
    """Bars of several widths, with letters below."""
    numbers, strokes, foot = pages.numbers, Strokes(), np.full(len(pages.numbers), float(pages.height - 11))
    for bar in range((pages.width - 4) // 3):
        used, wide = pages.is_used(2 * bar), 0.6 + 1.4 * (numbers[:, 2 * bar + 1] > 0.6)
        x = np.full(len(numbers), 3.0 + 3 * bar)
        strokes.append((x, 0 * x + 2.0, x, foot, wide * used))
    return strokes + _letters(pages, pages.height - 8.0, 40)


STYLES: Mapping[Style, Callable[[Pages], Strokes]] = {
    "writing": lambda pages: _letters(pages, 1.5, 0), "plan": _plan, "map": _map, "score": _score, "label": _label,
}  # fmt: skip
"""Strokes of pages of each style."""


_BODIES, _LAYERS, _GRAINS = 4, 2, 9
"""Most regions of a picture."""
_EACH = 6
"""Random numbers of a region."""
NUMBERS = _EACH * _GRAINS
"""Random numbers of a picture."""


@dataclass(frozen=True)
class Regions:
    """What the regions of some pictures follow from. Arrays have a first axis of pictures."""

    numbers: Floats
    """Random numbers in 0..1, shape (pictures, NUMBERS, 1, 1)."""
    amount: Floats
    """Regions of a picture before rounding, shape (pictures, 1, 1)."""
    size: Floats
    """Radius or thickness in pixels, shape (pictures, 1, 1)."""
    wave: Floats
    """How far an outline leaves a smooth one, shape (pictures, 1, 1)."""
    down: Floats
    """Rows of pixels from the middle, shape (1, height, 1)."""
    across: Floats
    """Columns of pixels from the middle, shape (1, 1, width)."""

    def of(self, region: int) -> Floats:
        """Random numbers of a region, shape (_EACH, pictures, 1, 1)."""
        return np.moveaxis(self.numbers[:, _EACH * region : _EACH * (region + 1)], 1, 0)

    def has(self, region: int) -> Floats:
        """1 for pictures that have a region, shape (pictures, 1, 1)."""
        return (np.rint(self.amount) > region).astype(np.float64)


def _blobs(regions: Regions, most: int, margin: float) -> Floats:
    """Blobs whose middle is at least a share of the picture away from its edge."""
    height, width = regions.down.size, regions.across.size
    mask = np.zeros((len(regions.amount), height, width))
    for blob in range(most):
        x, y, scale, turn, other, long = regions.of(blob)
        right = regions.across - (margin + (1 - 2 * margin) * x - 0.5) * width
        below = regions.down - (margin + (1 - 2 * margin) * y - 0.5) * height
        angle = np.arctan2(below, right)
        outline = 1 + regions.wave * (
            0.6 * np.sin(2 * angle + 2 * np.pi * turn) * (0.5 + long) + 0.4 * np.sin(3 * angle + 2 * np.pi * other)
        )
        inside = np.hypot(right, below) < regions.size * (0.67 + 0.66 * scale) * outline
        mask = np.maximum(mask, inside * regions.has(blob))
    return mask


def _layers(regions: Regions) -> Floats:
    """Layers between two lines, the first in the upper half. All wind together, so that none crosses another."""
    height, width = regions.down.size, regions.across.size
    mask = np.zeros((len(regions.amount), height, width))
    share, (_, tilt, turn, other, _, _) = regions.across / width, regions.of(0)
    for layer in range(_LAYERS):
        top = (0.38 * regions.of(layer)[0] - 0.42 + 0.45 * layer) * height + (tilt - 0.5) * 0.3 * height * share
        bend = np.sin(2 * np.pi * (share + turn)) + 0.5 * np.sin(4 * np.pi * share + 2 * np.pi * other)
        under = regions.down - top - regions.wave * 0.15 * height * bend
        mask = np.maximum(mask, ((under >= 0) & (under < regions.size)) * regions.has(layer))
    return mask


SCENES: Mapping[Scene, Callable[[Regions], Floats]] = {
    "bodies": lambda regions: _blobs(regions, _BODIES, 0.12),
    "layer": _layers,
    "grains": lambda regions: _blobs(regions, _GRAINS, 0.04),
}
"""Makes masks: 1 for each pixel of a region and 0 elsewhere, shape (pictures, height, width)."""
