"""Dry ground from above."""

import numpy as np
from numpy.typing import ArrayLike

from sandmill.kinds.image.canvas import Canvas, Cover, wide
from sandmill.kinds.image.scenes import Shown, marks
from sandmill.kinds.image.sights.ground import CORNERS, FLAG

_MOST = 7
"""Plants, and shrubs. Both stand in cells of one grid, so that none hides another."""
_MOST_STONES = 9


def draw(canvas: Canvas, shown: Shown) -> None:
    """Draw the ground, then what lies and stands on it, then the marks of the camera."""
    light = 105 + 70 * shown["light"]
    red = 24 * (2 * shown["redness"] - 1)
    canvas.fill(light + red, light, light - 24)
    canvas.shade((2 + 18 * wide(shown["rough"])) * canvas.cloud("ground", canvas.side // 2))
    canvas.shade(48 * wide(shown["slope"] - 0.5) * (canvas.across - 0.5) * 2)
    is_high = np.where(np.arange(canvas.side) % 4 < 2, 1.0, -1.0)[None, :, None]
    canvas.shade(16 * wide(shown["furrows"]) * is_high)
    middle = canvas.draw("path", 0.25, 0.75)
    path = canvas.block(middle, 0.5, 0.015 + 0.11 * shown["path"], 0.6)
    canvas.paint(0.9 * path, (215, 185, 125))
    patch = canvas.disc(0.2 + 0.6 * shown["patch_across"], canvas.draw("patch", 0.3, 0.8), 0.07 + 0.13 * shown["patch"])
    canvas.paint(patch, (185, 60, 95))
    _grow(canvas, shown)
    marks.line_below(canvas, shown["edge"], (40, 190, 190))
    marks.in_one_box(canvas, shown["corner"], CORNERS, (190, 40, 190))
    marks.of_one_colour(canvas, shown["flag"], FLAG, ((40, 60, 220), (230, 220, 40), (230, 40, 40)))


def _grow(canvas: Canvas, shown: Shown) -> None:
    """Set shrubs, plants with their shadows, and stones into cells of a grid."""
    cells = canvas.places("plant", 4, margin=0.06)
    pixel, tall = 1 / canvas.side, 0.045 + 0.075 * shown["plant_length"]

    def _shadow(x: ArrayLike, y: ArrayLike) -> Cover:
        return canvas.block(np.asarray(x) + 1.8 * pixel, np.asarray(y) + pixel, pixel, tall)

    shadow = marks.some(
        shown["plants"],
        cells[:_MOST],
        _shadow,
    )
    canvas.paint(0.5 * shadow, (70, 60, 70))
    plants = marks.some(shown["plants"], cells[:_MOST], lambda x, y: canvas.block(x, y, 1.1 * pixel, tall))
    canvas.paint(plants, (45, 140, 55))
    shrubs = marks.some(shown["shrubs"], cells[_MOST : 2 * _MOST], lambda x, y: canvas.disc(x, y, 0.055))
    canvas.paint(shrubs, (32, 34, 28))
    stones = canvas.places("stone", 5, margin=0.1)[:_MOST_STONES]
    canvas.paint(
        marks.some(shown["stones"], stones, lambda x, y: canvas.block(x, y, 1.2 * pixel, 1.2 * pixel)), (205, 225, 255)
    )
