"""A leaf laid on white paper: its outline, margin and veins."""

from collections.abc import Mapping

import numpy as np

from sandmill.kinds.image.canvas import Box, Canvas, Cover, wide
from sandmill.kinds.image.scenes import Shown, Sight, number, steps, which_box

CENTRE: Box = (0.36, 0.4, 0.62, 0.6)
BELOW: Box = (0.91, 0.12, 1.0, 0.88)
PAPER: tuple[Box, ...] = ((0.16, 0.0, 0.84, 0.12), (0.16, 0.88, 0.84, 1.0))
STALK: Box = (0.0, 0.42, 0.13, 0.58)
TICKS: tuple[Box, ...] = ((0.0, 0.0, 0.1, 0.1), (0.0, 0.9, 0.1, 1.0), (0.9, 0.0, 1.0, 0.1), (0.9, 0.9, 1.0, 1.0))
LEAF: Box = (0.13, 0.1, 0.95, 0.9)

SIGHTS: Mapping[str, Sight] = {
    "paper": number("level", "grey", 0, (185.0, 244.0), "brightness of the paper beside the leaf", *PAPER),
    "shade": number("middle", "grey", 0, (66.9, 126.0), "brightness of the leaf", CENTRE),
    "length": number("lower_end", "black", -150, (0.802, 0.931), "how far down the leaf reaches", LEAF),
    "width": number("extent_across", "black", -150, (0.449, 0.845), "width of the leaf at its widest place", LEAF),
    "widest": number("down", "black", -150, (0.403, 0.545), "how far down the leaf has most of its surface", LEAF),
    "tip": number("tip_across", "black", -150, (0.287, 0.707), "place of the lowest point from left to right", LEAF),
    "lobes": number("fullness", "black", -150, (0.78, 0.596), "depth of the bays between the lobes", LEAF),
    "teeth": number("jag", "black", -150, (0.202, 0.637), "teeth of the margin, two rows long, two short", LEAF),
    "veins": number("stripes", "grey", 0, (-0.167, 19.9), "strength of the horizontal veins, two rows bright", CENTRE),
    "slope": number("slope", "grey", 0, (-10.5, 10.7), "how much brighter the paper is on the right side", BELOW),
    "specks": number("pieces", "black", -27, (-0.0803, 6.44), "black specks on the leaf and beside it", LEAF),
    "tick": which_box("black", "corner with a black tick (top left, top right, bottom left, bottom right)", *TICKS),
    "midrib": steps(
        "columns_of", "grey", 14, (0.5, 2.5), "bright midrib from top to bottom (none, thin, wide)", CENTRE
    ),
    "stalk": steps("steps", "black", -150, (0.1, 0.45), "dark stalk above the leaf (none, thin, thick)", STALK),
}


_MOST_SPECKS = 7
_LOBES = 3


def draw(canvas: Canvas, shown: Shown) -> None:
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
    canvas.in_one_box(shown["tick"], TICKS, (30, 30, 30))


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
