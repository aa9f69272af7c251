"""Draw objects, ground from above, signs on stone, and leaves."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from sandmill.kinds.image.canvas import Canvas, Cover, together, wide
from sandmill.kinds.image.scenes import Draw, Shown

_MOST_MARKS = 12
"""Specks or spots in a picture."""


def draw_objects(canvas: Canvas, shown: Shown) -> None:
    """Draw the background, the object, and the marks."""
    _background(canvas, shown)
    _object(canvas, shown)
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


_MOST = 7
"""Plants, and shrubs. Both stand in cells of one grid, so that none hides another."""
_MOST_STONES = 9


def draw_ground(canvas: Canvas, shown: Shown) -> None:
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


_MOST_BARS, _MOST_DOTS = 6, 7


def draw_glyphs(canvas: Canvas, shown: Shown) -> None:
    """Draw the stone, then the strokes of the sign, then the frame."""
    light, red = 140 + 65 * shown["light"], 22 * (2 * shown["redness"] - 1)
    canvas.fill(light + red, light, light - 20)
    canvas.shade((2 + 16 * wide(shown["rough"])) * canvas.cloud("stone", canvas.side // 2))
    canvas.shade(48 * wide(shown["slope"] - 0.5) * (canvas.across - 0.5) * 2)
    thin, x = 1.2 / canvas.side, 0.2 + 0.2 * shown["stem_across"]
    canvas.paint(canvas.block(x, 0.5, thin, 0.1 + 0.26 * shown["stem"]), (26, 128, 48))
    _bars(canvas, shown, thin)
    radius = 0.06 + 0.09 * shown["ring"]
    far, y = canvas.draw("ring", 0.62, 0.74), 0.3 + 0.4 * shown["ring_down"]
    hole = canvas.disc(far, y, radius * (0.85 - 0.75 * shown["weight"]))
    canvas.paint(canvas.disc(far, y, radius) * (1 - hole), (205, 30, 36))
    places = canvas.places("dot", 5, margin=0.12)[:_MOST_DOTS]
    canvas.paint(canvas.some(shown["dots"], places, lambda a, b: canvas.disc(a, b, 0.034)), (246, 224, 30))
    width = np.array([-1.0, 0.045, 0.1])[shown["base"].astype(np.intp)]
    canvas.paint(canvas.block(0.5, 1.0, 0.8, width), (28, 26, 30))


def _bars(canvas: Canvas, shown: Shown, thin: float) -> None:
    """Draw horizontal bars beside the stem, one above the other in even steps."""
    count, left = np.rint(_MOST_BARS * shown["bars"]), canvas.draw("bars", 0.38, 0.44)
    half = 0.03 + 0.06 * shown["bar_width"]
    bars = [
        canvas.block(left + half, 0.17 + 0.135 * number, np.where(number < count, half, -1.0), thin)
        for number in range(_MOST_BARS)
    ]
    canvas.paint(together(bars), (36, 56, 196))


_MOST_SPOTS = 6


def draw_leaf(canvas: Canvas, shown: Shown) -> None:
    """Draw the cloth, the leaf, then what has grown on it."""
    light = 150 + 60 * shown["light"]
    canvas.fill(light - 14, light, light + 22)
    tall, broad = 0.36 + 0.11 * shown["length"], 0.33 + 0.12 * shown["width"]
    stretch = np.sqrt(broad / tall)
    leaf = canvas.disc(0.5, 0.5, np.sqrt(tall * broad), stretch)
    cloth = canvas.pixels.copy()
    blade = np.stack([70 + 85 * shown["yellowing"], 150 + 10 * shown["yellowing"], 0 * light + 52], axis=-1)
    canvas.paint(leaf, blade)
    canvas.shade(leaf * (2 + 24 * wide(shown["rough"])) * canvas.cloud("leaf", canvas.side // 2))
    canvas.shade(leaf * 12 * wide(shown["veins"]) * canvas.stripes)
    width = np.array([-1.0, 0.02, 0.05])[shown["midrib"].astype(np.intp)]
    canvas.paint(leaf * canvas.block(0.5, 0.5, width, 0.6), (236, 236, 140))
    patch = canvas.disc(
        canvas.draw("mildew", 0.38, 0.62), 0.32 + 0.36 * shown["mildew_down"], 0.04 + 0.09 * shown["mildew"]
    )
    canvas.paint(0.9 * patch, (226, 228, 216))
    cells = canvas.places("spot", 5, margin=0.27)
    size = 0.022 + 0.03 * shown["scab_size"]
    canvas.paint(canvas.some(shown["scab"], cells[:_MOST_SPOTS], lambda x, y: canvas.disc(x, y, size)), (34, 24, 16))
    rusty = cells[_MOST_SPOTS : 2 * _MOST_SPOTS]
    canvas.paint(canvas.some(shown["rust"], rusty, lambda x, y: canvas.disc(x, y, 0.03)), (226, 112, 24))
    eaten = canvas.some(shown["holes"], cells[2 * _MOST_SPOTS : 3 * _MOST_SPOTS], lambda x, y: canvas.disc(x, y, 0.034))
    canvas.pixels += eaten * (cloth - canvas.pixels)


_MOST_SPECKS = 7
_LOBES = 3


def draw_outline(canvas: Canvas, shown: Shown) -> None:
    """Draw the paper, the stalk and the leaf, then specks and a tick."""
    paper = 190 + 60 * shown["paper"]
    canvas.fill(paper, paper, paper)
    canvas.shade(30 * wide(shown["slope"] - 0.5) * (2 * canvas.across - 1) - 5)
    thick = np.array([-1.0, 0.018, 0.05])[shown["stalk"].astype(np.intp)]
    canvas.paint(canvas.block(0.5, 0.08, thick, 0.08), (70, 70, 70))
    leaf = _blade(canvas, shown)
    shade = 62 + 58 * shown["shade"]
    canvas.paint(leaf, np.stack([shade] * 3, axis=-1))
    canvas.shade(11 * leaf * wide(shown["veins"]) * canvas.stripes)
    rib = np.array([-1.0, 0.0125, 0.055])[shown["midrib"].astype(np.intp)]
    canvas.shade(45 * leaf * canvas.block(0.5, 0.5, rib, 0.5))
    cells = canvas.places("speck", 4, margin=0.16)
    canvas.paint(canvas.some(shown["specks"], cells[:_MOST_SPECKS], lambda x, y: canvas.disc(x, y, 0.026)), (2, 2, 2))


def _blade(canvas: Canvas, shown: Shown) -> Cover:
    """Cover the leaf: its width at every height, seen from a midline that bends towards the tip."""
    half, middle = wide(0.27 + 0.11 * shown["length"]), 0.25 + 0.5 * wide(shown["widest"])
    along = np.clip((canvas.down - 0.52 + half) / (2 * half), 1e-3, 1 - 1e-3)
    round_part = (along / middle) ** middle * ((1 - along) / (1 - middle)) ** (1 - middle)
    bays = 1 - 0.6 * wide(shown["lobes"]) * (0.5 + 0.5 * np.cos(2 * np.pi * _LOBES * along))
    broad = wide(0.17 + 0.16 * shown["width"]) * round_part**1.3 * bays
    broad = broad * (1 + 0.2 * wide(shown["teeth"]) * canvas.stripes)
    midline = 0.5 + 0.4 * (wide(shown["tip"]) - 0.5) * along**2
    is_beside = np.clip((broad - abs(canvas.across - midline)) * canvas.side + 0.5, 0, 1)
    is_there = np.clip((half - abs(canvas.down - 0.52)) * canvas.side + 0.5, 0, 1)
    return np.asarray(is_beside * is_there, np.float32)


DRAWINGS: Mapping[str, Draw] = {
    "objects": draw_objects,
    "ground": draw_ground,
    "glyphs": draw_glyphs,
    "leaf": draw_leaf,
    "outline": draw_outline,
}
