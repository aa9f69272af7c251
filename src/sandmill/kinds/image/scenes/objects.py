"""One object on a background, with marks around it."""

from collections.abc import Mapping

import numpy as np

from sandmill.kinds.image.canvas import Box, Canvas, wide
from sandmill.kinds.image.scenes import Shown, Sight, number, steps, which_box

INNER: Box = (0.1, 0.15, 0.8, 0.85)
BORDERS: tuple[Box, ...] = ((0.1, 0.05, 0.75, 0.15), (0.1, 0.85, 0.75, 0.95))
EDGES: tuple[Box, ...] = ((0.0, 0.1, 0.05, 0.9), (0.1, 0.95, 0.9, 1.0))
CORNERS: tuple[Box, ...] = ((0.0, 0.0, 0.1, 0.1), (0.0, 0.9, 0.1, 1.0), (0.9, 0.0, 1.0, 0.1), (0.9, 0.9, 1.0, 1.0))
LOWEST: Box = (0.8, 0.1, 1.0, 0.9)


SIGHTS: Mapping[str, Sight] = {
    "light": number("level", "grey", 0, (68.6, 158.0), "brightness of the background", *BORDERS),
    "warmth": number("level", "warm", 0, (-99.6, 99.4), "how much more red than blue the background is", *BORDERS),
    "slope": number(
        "slope", "grey", 0, (-23.5, 23.1), "how much brighter the background is on the right than on the left"
    ),
    "stripes": number(
        "stripes",
        "grey",
        0,
        (-0.174, 43.8),
        "strength of the horizontal stripes, two rows bright, two dark",
        BORDERS[0],
    ),
    "size": number("area", "object", 75.0, (0.0818, 0.339), "size of the object", INNER),
    "height": number("down", "object", 75.0, (0.748, 0.379), "how high the object stands in the picture", INNER),
    "across": number("across", "object", 75.0, (0.313, 0.683), "place of the object from left to right", INNER),
    "width": number("aspect", "object", 75.0, (-0.6, 0.57), "width of the object divided by its height", INNER),
    "glow": number("inside", "green_part", 75.0, (31.2, 80.5), "brightness of the object", INNER),
    "colour": number("tint_inside", "object", 75.0, (-1.86, 1.86), "colour of the object, from blue to red", INNER),
    "specks": number(
        "amount",
        "grey",
        215,
        (0.265, 8.93),
        "number of single bright pixels along the upper and the right edge",
        *EDGES,
    ),
    "spots": number(
        "amount", "black", -35, (0.396, 10.7), "number of single dark pixels along the upper and the right edge", *EDGES
    ),
    "shape": Sight(
        levels=4,
        measure="form",
        colour="object",
        cut=75.0,
        boxes=(INNER,),
        text="shape of the object (disc, block, wedge that is wide below, ring)",
    ),
    "corner": which_box("green", "corner with a green mark (top left, top right, bottom left, bottom right)", *CORNERS),
    "floor": steps(
        "steps", "black", -56, (0.25, 0.75), "dark band that closes the picture below (none, thin, wide)", LOWEST
    ),
}


_MOST_MARKS = 12
"""Specks or spots in a picture."""


def draw(canvas: Canvas, shown: Shown) -> None:
    """Draw the background, the object, and the marks."""
    _background(canvas, shown)
    _object(canvas, shown)
    canvas.in_one_box(shown["corner"], CORNERS, (30, 200, 60))
    for sight, level in (("specks", 255.0), ("spots", 0.0)):
        _along_edges(canvas, sight, np.rint(_MOST_MARKS * shown[sight]), level)


def _background(canvas: Canvas, shown: Shown) -> None:
    """Draw brightness, warmth, a slope from left to right, stripes, and a band at the bottom."""
    side = canvas.side
    rows = np.arange(side)[None, :, None]
    grey = 70 + 90 * wide(shown["light"]) + 30 * wide(2 * shown["slope"] - 1) * (2 * canvas.across - 1)
    grey = grey + 22 * wide(shown["stripes"]) * np.where(rows % 4 < 2, 1, -1)
    bands = np.array([0, side // 10, side // 5])[shown["floor"].astype(np.intp)]
    grey = np.where(rows >= side - wide(bands), 40.0, grey)
    warmth = 50 * wide(2 * shown["warmth"] - 1)
    canvas.fill(grey + warmth, grey, grey - warmth)


def _object(canvas: Canvas, shown: Shown) -> None:
    """Draw a disc, block, wedge or ring of the size, place, width, brightness and colour that are shown."""
    radius, stretch = 0.12 + 0.13 * shown["size"], np.exp(0.7 * (shown["width"] - 0.5))
    x = (canvas.across - wide(0.36 + 0.28 * shown["across"])) / wide(radius * stretch)
    y = (canvas.down - wide(0.36 + 0.28 * (1 - shown["height"]))) / wide(radius / stretch)
    far = np.sqrt(x**2 + y**2)
    is_disc, is_block = far <= 1.1, np.maximum(abs(x), abs(y)) <= 1
    is_wedge = (abs(y) <= 1) & (abs(x) <= (1 + y) / 2 + 0.2)
    inside = np.choose(wide(shown["shape"]).astype(np.intp), [is_disc, is_block, is_wedge, is_disc & (far >= 0.5)])
    colour, glow = shown["colour"], 90 + 140 * shown["glow"]
    paint = np.stack([glow * (0.35 + 0.65 * colour), 0.35 * glow, glow * (1 - 0.65 * colour)], axis=-1)
    canvas.paint(inside.astype(np.float32), paint)


def _along_edges(canvas: Canvas, sight: str, count: np.ndarray, level: float) -> None:
    """Set single pixels along the upper and the right edge."""
    side, pictures = canvas.side, np.arange(len(count))
    for mark in range(_MOST_MARKS):
        has_mark = mark < count
        along = np.floor(canvas.draw(f"{sight} {mark}") * (side - 4)).astype(np.intp) + 2
        is_beside = canvas.draw(f"{sight} edge {mark}") < 0.5
        down, across = np.where(is_beside, along, 0), np.where(is_beside, side - 1, along)
        canvas.pixels[:, pictures[has_mark], down[has_mark], across[has_mark]] = level
