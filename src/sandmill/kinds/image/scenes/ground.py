"""Dry ground from above: columnar plants, shrubs, stones, a path, a red patch and marks."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from sandmill.kinds.image.canvas import Canvas, Cover, wide
from sandmill.kinds.image.scenes import Shown, Sight, number, steps, which_box, which_colour

BELOW = (0.14, 0.0, 1.0, 1.0)
ABOVE = (0.0, 0.0, 0.88, 1.0)
FLAG = (0.02, 0.42, 0.12, 0.58)
EDGE = (0.88, 0.0, 1.0, 1.0)
CORNERS = ((0.0, 0.0, 0.1, 0.1), (0.0, 0.9, 0.1, 1.0), (0.9, 0.0, 1.0, 0.1), (0.9, 0.9, 1.0, 1.0))

SIGHTS: Mapping[str, Sight] = {
    "light": number("middle", "grey", 0, (102.0, 161.0), "brightness of the ground"),
    "redness": number("middle", "rust", 0, (-21.2, 23.1), "how much more red than green the ground is"),
    "rough": number("rough", "grey", 0, (8.4, 18.3), "how much the ground changes from pixel to pixel"),
    "slope": number("slope", "grey", 0, (-18.9, 18.4), "how much brighter the right half is than the left half"),
    "furrows": number(
        "stripes", "grey", 0, (-0.239, 26.1), "strength of the horizontal stripes, two rows bright, two dark"
    ),
    "path": number("area", "yellow", 54, (0.0261, 0.171), "width of the sandy path that runs from top to bottom"),
    "plants": number("pieces", "green", 48, (0.428, 6.94), "number of green columnar plants", ABOVE),
    "plant_length": number("piece", "green", 48, (0.00745, 0.0182), "length of the green columnar plants", ABOVE),
    "shrubs": number("pieces", "black", -58, (0.0986, 7.37), "number of round dark shrubs"),
    "stones": number("pieces", "blue", 16, (1.65, 9.83), "number of single bluish white stones"),
    "patch": number("area", "red", 60, (0.0321, 0.135), "size of the red patch of soil", BELOW),
    "patch_across": number("across", "red", 60, (0.295, 0.709), "place of the red patch from left to right", BELOW),
    "corner": which_box(
        "magenta", "corner with a purple block (top left, top right, bottom left, bottom right)", *CORNERS
    ),
    "edge": steps("steps", "cyan", 60.0, (0.2, 0.65), "turquoise line along the bottom edge (none, thin, wide)", EDGE),
    "flag": which_colour(
        "colour of the block in the middle of the top edge (blue, yellow, red)", FLAG, "blue", "yellow", "red"
    ),
}


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
    canvas.shade(16 * wide(shown["furrows"]) * canvas.stripes)
    middle = canvas.draw("path", 0.25, 0.75)
    path = canvas.block(middle, 0.5, 0.015 + 0.11 * shown["path"], 0.6)
    canvas.paint(0.9 * path, (215, 185, 125))
    patch = canvas.disc(0.2 + 0.6 * shown["patch_across"], canvas.draw("patch", 0.3, 0.8), 0.07 + 0.13 * shown["patch"])
    canvas.paint(patch, (185, 60, 95))
    _grow(canvas, shown)
    width = np.array([-1.0, 0.045, 0.11])[shown["edge"].astype(np.intp)]
    canvas.paint(canvas.block(0.5, 1.0, 0.8, width), (40, 190, 190))
    canvas.in_one_box(shown["corner"], CORNERS, (190, 40, 190))
    canvas.of_one_colour(shown["flag"], FLAG, ((40, 60, 220), (230, 220, 40), (230, 40, 40)))


def _grow(canvas: Canvas, shown: Shown) -> None:
    """Set shrubs, plants with their shadows, and stones into cells of a grid."""
    cells = canvas.places("plant", 4, margin=0.06)
    pixel, tall = 1 / canvas.side, 0.045 + 0.075 * shown["plant_length"]

    def _shadow(x: ArrayLike, y: ArrayLike) -> Cover:
        return canvas.block(np.asarray(x) + 1.8 * pixel, np.asarray(y) + pixel, pixel, tall)

    shadow = canvas.some(shown["plants"], cells[:_MOST], _shadow)
    canvas.paint(0.5 * shadow, (70, 60, 70))
    plants = canvas.some(shown["plants"], cells[:_MOST], lambda x, y: canvas.block(x, y, 1.1 * pixel, tall))
    canvas.paint(plants, (45, 140, 55))
    shrubs = canvas.some(shown["shrubs"], cells[_MOST : 2 * _MOST], lambda x, y: canvas.disc(x, y, 0.055))
    canvas.paint(shrubs, (32, 34, 28))
    stones = canvas.places("stone", 5, margin=0.1)[:_MOST_STONES]
    canvas.paint(
        canvas.some(shown["stones"], stones, lambda x, y: canvas.block(x, y, 1.2 * pixel, 1.2 * pixel)), (205, 225, 255)
    )
