"""A stack of small pictures to draw on: all rows at once, each from its own random numbers."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sandmill.mechanism.columns import Floats
from sandmill.mechanism.row_numbers import RowNumbers

Pixels = NDArray[np.float32]
"""Grey levels from 0 to 255, of shape (colours, pictures, height, width)."""
Cover = NDArray[np.float32]
"""Share of each pixel that a thing covers, of shape (pictures, height, width)."""

Box = tuple[float, float, float, float]
"""Top, left, bottom and right edge of a part of the picture, as shares of its side."""
Place = tuple[NDArray[np.float64], ...]

_RUN = 1 << 17
"""Random numbers of a run that the noise of all pictures is cut from. Two pictures hardly ever share a place."""


@dataclass
class Canvas:
    """Pictures of one size. Places and lengths are shares of a side; y runs from top to bottom."""

    row_numbers: RowNumbers
    side: int
    pixels: Pixels = field(init=False)

    def __post_init__(self) -> None:
        """Start with black pictures."""
        self.pixels = np.zeros((3, len(self.row_numbers.numbers), self.side, self.side), np.float32)

    @cached_property
    def _middles(self) -> NDArray[np.float32]:
        return ((np.arange(self.side) + 0.5) / self.side).astype(np.float32)

    @cached_property
    def across(self) -> Cover:
        """Place of each column of pixels."""
        return self._middles[None, None, :]

    @cached_property
    def down(self) -> Cover:
        """Place of each row of pixels."""
        return self._middles[None, :, None]

    @cached_property
    def stripes(self) -> Cover:
        """Return 1 for two rows of pixels, -1 for the next two, and so on."""
        return np.where(np.arange(self.side) % 4 < 2, 1.0, -1.0)[None, :, None].astype(np.float32)

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

    def paint(self, cover: Cover, colour: ArrayLike) -> None:
        """Put a colour over the pixels that are covered: one colour, or one for each picture."""
        paints = np.asarray(colour, np.float32).T
        for pixels, paint in zip(self.pixels, paints, strict=True):
            pixels += cover * (wide(paint) - pixels)

    def disc(self, x: ArrayLike, y: ArrayLike, radius: ArrayLike, stretch: ArrayLike = 1.0) -> Cover:
        """Cover a disc, or an ellipse that is wider than high by the square of the stretch."""
        long, radii = wide(stretch), wide(radius)
        far = np.sqrt(((self.across - wide(x)) / long) ** 2 + ((self.down - wide(y)) * long) ** 2)
        return _soft((radii - far) * self.side)

    def block(self, x: ArrayLike, y: ArrayLike, half_width: ArrayLike, half_height: ArrayLike) -> Cover:
        """Cover an upright block."""
        beside = wide(half_width) - abs(self.across - wide(x))
        below = wide(half_height) - abs(self.down - wide(y))
        return _soft(beside * self.side) * _soft(below * self.side)

    def line(
        self, start: tuple[ArrayLike, ArrayLike], end: tuple[ArrayLike, ArrayLike], half_width: ArrayLike
    ) -> Cover:
        """Cover a straight line from one place to another."""
        (x, y), (to_x, to_y) = ((wide(a), wide(b)) for a, b in (start, end))
        long_x, long_y = to_x - x, to_y - y
        along = ((self.across - x) * long_x + (self.down - y) * long_y) / np.maximum(long_x**2 + long_y**2, 1e-6)
        along = np.clip(along, 0, 1)
        far = np.sqrt((self.across - x - along * long_x) ** 2 + (self.down - y - along * long_y) ** 2)
        return _soft((wide(half_width) - far) * self.side)

    def cloud(self, name: str, cells: int) -> Cover:
        """Draw a smooth random surface: standard normal numbers on a grid with a given number of places a side."""
        coarse = self.noise(name, (cells, cells))
        places = np.linspace(0, cells - 1, self.side)
        spread = np.maximum(0, 1 - abs(places[:, None] - np.arange(cells))).astype(np.float32)
        return np.asarray(spread @ coarse @ spread.T, np.float32)

    def noise(self, name: str, shape: tuple[int, ...]) -> NDArray[np.float32]:
        """Draw standard normal numbers: a piece of a long run for each picture, from a place of its own."""
        size = int(np.prod(shape))
        run = self.row_numbers.streams.generator(f"run of {name}").standard_normal(_RUN + size, np.float32)
        starts = np.floor(self.row_numbers.uniforms(name) * _RUN).astype(np.intp)
        pieces = np.lib.stride_tricks.sliding_window_view(run, size)
        return pieces[starts].reshape(len(starts), *shape)

    def places(
        self, name: str, cells: int, margin: float = 0.0
    ) -> list[tuple[NDArray[np.float64], NDArray[np.float64]]]:
        """Draw places in different cells of a grid, in random order, so that things do not touch."""
        ranks = np.stack([self.draw(f"{name} cell {cell}") for cell in range(cells**2)]).argsort(axis=0)
        width = (1 - 2 * margin) / cells
        drawn = []
        for number, cell in enumerate(ranks):
            jitter = [0.5 + self.draw(f"{name} {axis} {number}", -0.12, 0.12) for axis in ("x", "y")]
            x, y = (margin + (place + jitter[axis]) * width for axis, place in enumerate((cell % cells, cell // cells)))
            drawn.append((x, y))
        return drawn

    def some(self, amount: Floats, places: Sequence[Place], cover: Callable[[ArrayLike, ArrayLike], Cover]) -> Cover:
        """Cover as many things as the amount says: none at 0, one at each place at 1."""
        count = np.rint(amount * len(places))
        return together(
            [cover(x, y) * (number < count)[:, None, None].astype(np.float32) for number, (x, y) in enumerate(places)]
        )

    def in_one_box(self, which: Floats, boxes: Sequence[Box], colour: ArrayLike) -> None:
        """Fill the box whose number is shown."""
        covers = [self._box(box) * (which == number)[:, None, None] for number, box in enumerate(boxes)]
        self.paint(together(covers), colour)

    def of_one_colour(self, which: Floats, box: Box, colours: Sequence[Sequence[float]]) -> None:
        """Fill a box with the colour whose number is shown."""
        cover = np.broadcast_to(self._box(box), self.pixels.shape[1:])
        self.paint(cover, np.asarray(colours, np.float32)[which.astype(np.intp)])

    def _box(self, box: Box) -> Cover:
        top, left, bottom, right = box
        is_inside = (self.down > top) & (self.down < bottom) & (self.across > left) & (self.across < right)
        return is_inside.astype(np.float32)


def wide(values: ArrayLike) -> NDArray[np.float32]:
    """Return one number for each picture in a form for arithmetic with rows and columns of pixels."""
    numbers = np.asarray(values, np.float32)
    return numbers[:, None, None] if numbers.ndim == 1 else numbers


def together(covers: list[Cover]) -> Cover:
    """Cover what any of several covers."""
    return np.asarray(np.maximum.reduce(covers))


def _soft(inside: NDArray[np.float32]) -> Cover:
    """Turn distances inside an edge, in pixels, into shares of pixels."""
    return np.asarray(np.clip(inside + 0.5, 0, 1), np.float32)
