"""Stained tissue: nuclei, a white lumen, fibres, red cells and a brown smear."""

from collections.abc import Mapping

import numpy as np

from sandmill.kinds.image.canvas import Box, Canvas, wide
from sandmill.kinds.image.scenes import Shown, Sight, number, steps, which_box, which_colour

INK: Box = (0.0, 0.42, 0.1, 0.58)
STRIPS: tuple[Box, ...] = ((0.0, 0.1, 0.06, 0.36), (0.1, 0.94, 0.9, 1.0), (0.94, 0.1, 1.0, 0.9), (0.1, 0.0, 0.9, 0.06))
FOLD: Box = (0.1, 0.1, 0.9, 0.9)
MOST: Box = (0.1, 0.06, 0.94, 0.94)

SIGHTS: Mapping[str, Sight] = {
    "light": number("middle", "grey", 0, (162.0, 201.0), "brightness of the tissue"),
    "stain": number("middle", "magenta", 0, (24.5, 76.3), "strength of the pink stain"),
    "rough": number("rough", "grey", 0, (5.98, 14.9), "how much the tissue changes from pixel to pixel"),
    "fibres": number(
        "stripes", "grey", 0, (-0.0292, 22.3), "strength of the horizontal fibres, two rows bright, two dark"
    ),
    "nuclei": number("pieces", "blue", 58, (0.226, 10.9), "number of separate violet nuclei", MOST),
    "nuclei_size": number("piece", "blue", 58, (0.000284, 0.0127), "size of the violet nuclei", MOST),
    "nuclei_across": number(
        "across", "blue", 58, (0.325, 0.675), "whether the violet nuclei lie on the left or on the right", MOST
    ),
    "lumen": number("area", "white", 222, (0.000172, 0.0549), "size of the round white lumen", MOST),
    "lumen_down": number(
        "down", "white", 222, (0.203, 0.761), "place of the round white lumen from top to bottom", MOST
    ),
    "red_cells": number("pieces", "red", 112, (-0.0342, 7.04), "number of small red cells", MOST),
    "smear": number("area", "yellow", 40, (0.00872, 0.0786), "size of the brown smear", MOST),
    "margin": which_box(
        "cyan", "edge along which the tissue ends in a turquoise margin (top, right, bottom, left)", *STRIPS
    ),
    "fold": steps("steps", "black", -70, (0.02, 0.085), "dark fold from top to bottom (none, thin, wide)", FOLD),
    "ink": which_colour(
        "colour of the ink in the middle of the top edge (green, blue, yellow)", INK, "green", "blue", "yellow"
    ),
}


_MOST_NUCLEI, _MOST_CELLS = 12, 7


def draw(canvas: Canvas, shown: Shown) -> None:
    """Draw the tissue, then what lies in it, then ink and margin."""
    light, stain = 0.86 + 0.2 * shown["light"], 30 + 55 * shown["stain"]
    canvas.fill(218 * light, (215 - stain) * light, 205 * light)
    canvas.shade((2 + 12 * wide(shown["rough"])) * canvas.cloud("tissue", canvas.side // 2))
    canvas.shade(12 * wide(shown["fibres"]) * canvas.stripes)
    canvas.paint(
        0.9
        * canvas.disc(
            canvas.draw("smear", 0.25, 0.75), canvas.draw("smear down", 0.3, 0.7), 0.05 + 0.12 * shown["smear"], 1.4
        ),
        (150, 108, 48),
    )
    canvas.paint(
        canvas.disc(canvas.draw("lumen", 0.3, 0.7), 0.26 + 0.48 * shown["lumen_down"], 0.05 + 0.1 * shown["lumen"]),
        (250, 248, 250),
    )
    width = np.array([-1.0, 0.025, 0.07])[shown["fold"].astype(np.intp)]
    canvas.paint(canvas.block(canvas.draw("fold", 0.3, 0.7), 0.5, width, 0.6), (62, 48, 58))
    _cells(canvas, shown)
    canvas.in_one_box(shown["margin"], STRIPS, (60, 190, 190))
    canvas.of_one_colour(shown["ink"], INK, ((30, 170, 50), (40, 50, 200), (235, 215, 40)))


def _cells(canvas: Canvas, shown: Shown) -> None:
    """Set nuclei, more of them on one side, and red cells into cells of a grid."""
    cells = canvas.places("cell", 5, margin=0.12)
    lean, size = 0.3 * (shown["nuclei_across"] - 0.5), 0.024 + 0.034 * shown["nuclei_size"]
    nuclei = canvas.some(
        shown["nuclei"],
        cells[:_MOST_NUCLEI],
        lambda x, y: canvas.disc(0.5 + 0.68 * (np.asarray(x) - 0.5) + lean, y, size),
    )
    canvas.paint(nuclei, (84, 44, 150))
    red = cells[_MOST_NUCLEI : _MOST_NUCLEI + _MOST_CELLS]
    canvas.paint(canvas.some(shown["red_cells"], red, lambda x, y: canvas.disc(x, y, 0.028)), (215, 28, 40))
