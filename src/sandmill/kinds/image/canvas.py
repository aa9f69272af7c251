"""A stack of small pictures to draw on: all rows at once, each from its own random numbers."""

from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sandmill.mechanism.columns import Floats
from sandmill.mechanism.row_numbers import RowNumbers
from sandmill.rng import Streams

Pixels = NDArray[np.float32]
"""Grey levels from 0 to 255, of shape (colours, pictures, height, width)."""
Cover = NDArray[np.float32]
"""Share of each pixel that a thing covers, of shape (pictures, height, width)."""

Place = tuple[Any, Any]

_RUN = 1 << 17
"""Random numbers of a run that the noise of all pictures is cut from. Two pictures hardly ever share a place."""
_SURFACE = 192
"""Side in pixels of the texture image of a task, from which each picture cuts its texture. Its edges wrap around."""


@dataclass
class Canvas:
    """Pictures of one size. Places and lengths are shares of a side; y runs from top to bottom."""

    row_numbers: RowNumbers
    side: int
    pixels: Pixels = field(init=False)
    across: Cover = field(init=False)
    """Place of each column of pixels."""
    down: Cover = field(init=False)
    """Place of each row of pixels."""
    window: NDArray[np.intp] | None = field(init=False, default=None)
    """Places of these pixels in the whole pictures, laid out in one line; None for whole pictures."""

    def __post_init__(self) -> None:
        """Start with black pictures."""
        self.pixels = np.zeros((3, len(self.row_numbers.numbers), self.side, self.side), np.float32)
        middles = ((np.arange(self.side) + 0.5) / self.side).astype(np.float32)
        self.across, self.down = middles[None, None, :], middles[None, :, None]

    @cached_property
    def sun(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Direction in which light falls across each picture: from the upper left, more or less."""
        angle = np.radians(self.draw("sun", 10, 80))
        return np.cos(angle), np.sin(angle)

    def each(self, amount: Floats, places: Sequence[Place], reach: float) -> Iterator[tuple["Canvas", Any, Any]]:
        """Yield a window around each place, and the place; what is drawn on the window is put into the pictures.

        Places beyond the amount, a share of all, lie far outside. The reach of things is a share of the side.
        """
        size, count = min(self.side, 2 * int(np.ceil(reach * self.side)) + 2), np.rint(amount * len(places))
        steps, pictures = np.arange(size), np.arange(self.pixels.shape[1])[:, None, None]
        flat = self.pixels.reshape(3, -1)
        for number, (x, y) in enumerate(places[: int(count.max(initial=0))]):
            left, top = (np.clip(np.rint(at * self.side - size / 2), 0, self.side - size).astype(int) for at in (x, y))
            columns, rows = left[:, None, None] + steps, top[:, None, None] + steps[:, None]
            part = copy(self)
            part.window = (pictures * self.side + rows) * self.side + columns
            part.across, part.down = (((at + 0.5) / self.side).astype(np.float32) for at in (columns, rows))
            part.pixels = np.take(flat, part.window, axis=1)
            yield part, np.where(number < count, x, -9.0), y
            flat[:, part.window] = part.pixels

    def cut(self, whole: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return what lies in the window, of a cover or of pixels made for whole pictures."""
        if self.window is None:
            return whole
        return np.take(whole.reshape(*whole.shape[:-3], -1), self.window, axis=-1)

    def draw(self, name: str, low: float = 0.0, high: float = 1.0) -> NDArray[np.float64]:
        """Draw an even number for each picture."""
        return low + (high - low) * self.row_numbers.uniforms(name)

    def fill(self, red: ArrayLike, green: ArrayLike, blue: ArrayLike) -> None:
        """Give all pixels a colour; parts of it are numbers, one for each picture, or one for each pixel."""
        for place, value in enumerate((red, green, blue)):
            self.pixels[place] = wide(value)

    def shade(self, change: ArrayLike) -> None:
        """Make pixels brighter or darker."""
        self.pixels += wide(change)

    def light(self, share: ArrayLike) -> None:
        """Multiply all colours, as light on a surface does."""
        self.pixels *= wide(share)

    def paint(self, cover: NDArray[Any], colour: Any) -> None:
        """Put a colour over the pixels that are covered.

        It is an array with one for each picture; or red, green and blue: numbers for all, for pictures or for pixels.
        """
        paints = colour.T if isinstance(colour, np.ndarray) else colour
        for pixels, paint in zip(self.pixels, paints, strict=True):
            pixels += cover * (wide(paint) - pixels)

    def far(self, x: ArrayLike, y: ArrayLike, stretch: ArrayLike = 1.0, angle: ArrayLike | None = None) -> Any:
        """Return places from a middle, in the directions of an ellipse.

        `stretch` is the square root of its width divided by its height, and `angle` turns it clockwise by radians.
        """
        over, under = self.across - wide(x), self.down - wide(y)
        if angle is not None:
            cos, sin = wide(np.cos(angle)), wide(np.sin(angle))
            over, under = cos * over + sin * under, cos * under - sin * over
        return over / wide(stretch), under * wide(stretch)

    def soft(self, inside: Any, pixels: float = 1.0) -> Cover:
        """Cover what lies inside an edge, by distances from it. Shadows and things out of focus have wider edges."""
        return np.asarray(np.clip(inside * (self.side / pixels) + 0.5, 0, 1), np.float32)

    def disc(self, x: ArrayLike, y: ArrayLike, radius: ArrayLike, *ellipse: Any, soft: float = 1.0) -> Cover:
        """Cover a disc, or an ellipse that has its stretch and angle; see `far`."""
        over, under = self.far(x, y, *ellipse)
        return self.soft(wide(radius) - np.sqrt(over**2 + under**2), soft)

    def blob(
        self, name: str, place: Place, radius: ArrayLike, ragged: ArrayLike = 0.3, *ellipse: Any, soft: float = 1.0
    ) -> Cover:
        """Cover something like a disc or an ellipse whose edge goes in and out by chance, by a share of its radius."""
        over, under = self.far(*place, *ellipse)
        around, reach = np.arctan2(under, over), np.float32(0)
        for waves in (2, 3, 5):
            reach = reach + np.cos(waves * around + wide(self.draw(f"{name} edge {waves}", 0, 2 * np.pi))) / waves
        edge = wide(radius) * (1 + wide(ragged) * reach)
        return self.soft(edge - np.sqrt(over**2 + under**2), soft)

    def ball(self, x: ArrayLike, y: ArrayLike, radius: ArrayLike) -> Cover:
        """Return how much light each pixel of a ball gets: 1 towards the sun, 0 on the dark side."""
        over, under = (at / wide(radius) for at in self.far(x, y))
        up = np.sqrt(np.clip(1 - over**2 - under**2, 0, 1))
        return np.asarray(np.clip(0.65 * up - 0.55 * (wide(self.sun[0]) * over + wide(self.sun[1]) * under), 0, 1))

    def shaded(self, x: ArrayLike, y: ArrayLike, far: Any) -> tuple[Any, Any]:
        """Return the place where the shadow of a thing lies that is so far above the ground."""
        return np.asarray(x) + self.sun[0] * far, np.asarray(y) + self.sun[1] * far

    def relief(self, height: Cover) -> Cover:
        """Return how much brighter slopes are that face the sun; heights are pixels."""
        down, across = np.gradient(height, axis=(1, 2))
        return np.asarray(wide(self.sun[0]) * across + wide(self.sun[1]) * down, np.float32)

    def texture(self, name: str, size: float = 0.25, rough: float = 1.5, stretch: float = 1.0) -> Cover:
        """Draw a rough surface: standard normal numbers.

        Structures smaller than `size`, a share of the side, fade: little at `rough` 1, as in sand, more at 2, as in
        clouds. A stretch above 1 gives fibres from left to right.
        """
        surface = _surface(self.row_numbers.streams, name, (self.side, size, rough, stretch))
        return self._pieces(name, surface) * wide(np.where(self.draw(f"{name} sign") < 0.5, -1, 1))

    def grains(self, name: str, size: float) -> tuple[Cover, Cover]:
        """Draw cells side by side, such as gravel.

        Returns how deep each pixel lies in its cell, from 0 to about 1, and an even number for each cell.
        """
        return tuple(  # type: ignore[return-value]
            self._pieces(name, surface) for surface in _cells(self.row_numbers.streams, name, size * self.side)
        )

    def _pieces(self, name: str, surface: NDArray[np.float32]) -> Cover:
        """Cut a piece of a surface for each picture."""
        top, left = (np.floor(self.draw(f"{name} {axis}") * _SURFACE).astype(int) for axis in ("top", "left"))
        wider = np.pad(surface, ((0, self.side), (0, self.side)), mode="wrap")
        return np.asarray(np.lib.stride_tricks.sliding_window_view(wider, (self.side, self.side))[top, left])

    def block(
        self, x: ArrayLike, y: ArrayLike, half_width: ArrayLike, half_height: ArrayLike, angle: ArrayLike | None = None
    ) -> Cover:
        """Cover a block, which may be turned clockwise by radians."""
        over, under = self.far(x, y, 1.0, angle)
        beside, below = wide(half_width) - abs(over), wide(half_height) - abs(under)
        return self.soft(beside) * self.soft(below)

    def line(self, start: Place, end: Place, half_width: ArrayLike, soft: float = 1.0) -> Cover:
        """Cover a straight line from one place to another."""
        (x, y), (to_x, to_y) = ((wide(a), wide(b)) for a, b in (start, end))
        long_x, long_y = to_x - x, to_y - y
        along = ((self.across - x) * long_x + (self.down - y) * long_y) / np.maximum(long_x**2 + long_y**2, 1e-6)
        along = np.clip(along, 0, 1)
        far = np.sqrt((self.across - x - along * long_x) ** 2 + (self.down - y - along * long_y) ** 2)
        return self.soft(wide(half_width) - far, soft)

    def noise(self, name: str, shape: tuple[int, ...]) -> NDArray[np.float32]:
        """Draw standard normal numbers: a piece of a long run for each picture, from a place of its own."""
        size = int(np.prod(shape))
        run = self.row_numbers.streams.generator(f"run of {name}").standard_normal(_RUN + size, np.float32)
        starts = np.floor(self.row_numbers.uniforms(name) * _RUN).astype(np.intp)
        pieces = np.lib.stride_tricks.sliding_window_view(run, size)
        return pieces[starts].reshape(len(starts), *shape)

    def places(self, name: str, cells: int, margin: float = 0.0, jitter: float = 0.12) -> list[tuple[Floats, Floats]]:
        """Draw places in different cells of a grid, in random order, so that things do not touch."""
        ranks = np.stack([self.draw(f"{name} cell {cell}") for cell in range(cells**2)]).argsort(axis=0)
        width = (1 - 2 * margin) / cells
        drawn = []
        for number, cell in enumerate(ranks):
            inside = [0.5 + self.draw(f"{name} {axis} {number}", -jitter, jitter) for axis in ("x", "y")]
            x, y = (margin + (place + inside[axis]) * width for axis, place in enumerate((cell % cells, cell // cells)))
            drawn.append((x, y))
        return drawn


def wide(values: ArrayLike) -> NDArray[np.float32]:
    """Return one number for each picture in a form for arithmetic with rows and columns of pixels."""
    numbers = np.asarray(values, np.float32)
    return numbers[:, None, None] if numbers.ndim == 1 else numbers


def together(covers: list[Cover]) -> Cover:
    """Cover what any of several covers."""
    return np.asarray(np.maximum.reduce(covers))


def each_level(values: ArrayLike, level: Floats) -> Any:
    """Return the value of each picture's level: a number for arithmetic with pixels, or a colour."""
    chosen = np.asarray(values, np.float32)[level.astype(np.intp)]
    return wide(chosen) if chosen.ndim == 1 else chosen


@lru_cache(8)
def _surface(streams: Streams, name: str, form: tuple[float, ...]) -> NDArray[np.float32]:
    """Filter white noise so that structures above a size are equally strong and smaller ones fade."""
    side, size, rough, stretch = form
    white = streams.generator(f"surface of {name}").standard_normal((_SURFACE, _SURFACE))
    down, across = np.fft.fftfreq(_SURFACE)[:, None] / stretch, np.fft.rfftfreq(_SURFACE) * stretch
    fading = (1 + (side * size) ** 2 * (down**2 + across**2)) ** (-rough / 2)
    made = np.fft.irfft2(np.fft.rfft2(white) * fading)
    return np.asarray((made - made.mean()) / made.std(), np.float32)


@lru_cache(4)
def _cells(streams: Streams, name: str, size: float) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Give each pixel to the nearest of many random places."""
    from scipy.spatial import cKDTree

    rng = streams.generator(f"cells of {name}")
    middles = rng.random((round((_SURFACE / size) ** 2), 2)) * _SURFACE
    pixels = np.indices((_SURFACE, _SURFACE)).reshape(2, -1).T
    tree: Any = cKDTree(middles, boxsize=np.full(2, float(_SURFACE)))
    far, nearest = tree.query(pixels, k=2)
    parts = (far[:, 1] - far[:, 0]) / size, rng.random(len(middles))[nearest[:, 0]]
    depth, level = (np.asarray(part, np.float32).reshape(_SURFACE, _SURFACE) for part in parts)
    return depth, level
