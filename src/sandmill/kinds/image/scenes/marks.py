"""Marks that several scenes have: some things, a block in a corner, a line along an edge, a block of a colour."""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sandmill.kinds.image.canvas import Canvas, Cover, together
from sandmill.kinds.image.sight import Box
from sandmill.mechanism.columns import Floats

Place = tuple[NDArray[np.float64], ...]


def some(amount: Floats, places: Sequence[Place], cover: Callable[[ArrayLike, ArrayLike], Cover]) -> Cover:
    """Cover as many things as the amount says: none at 0, one at each place at 1."""
    count = np.rint(amount * len(places))
    return together(
        [cover(x, y) * (number < count)[:, None, None].astype(np.float32) for number, (x, y) in enumerate(places)]
    )


def in_one_box(canvas: Canvas, which: Floats, boxes: Sequence[Box], colour: ArrayLike) -> None:
    """Fill the box whose number is shown."""
    covers = [_box(canvas, box) * (which == number)[:, None, None] for number, box in enumerate(boxes)]
    canvas.paint(together(covers), colour)


def of_one_colour(canvas: Canvas, which: Floats, box: Box, colours: Sequence[Sequence[float]]) -> None:
    """Fill a box with the colour whose number is shown."""
    cover = np.broadcast_to(_box(canvas, box), canvas.pixels.shape[1:])
    canvas.paint(cover, np.asarray(colours, np.float32)[which.astype(np.intp)])


def line_below(canvas: Canvas, which: Floats, colour: ArrayLike) -> None:
    """Draw a line along the bottom edge: none, thin or wide."""
    width = np.array([-1.0, 0.045, 0.11])[which.astype(np.intp)]
    canvas.paint(canvas.block(0.5, 1.0, 0.8, width), colour)


def _box(canvas: Canvas, box: Box) -> Cover:
    top, left, bottom, right = box
    is_inside = (canvas.down > top) & (canvas.down < bottom) & (canvas.across > left) & (canvas.across < right)
    return is_inside.astype(np.float32)
