"""Stained tissue: nuclei, a white lumen, fibres, red cells and a brown smear."""

from collections.abc import Mapping

from sandmill.kinds.image.sights.sight import Box, Sight, number

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
    "margin": Sight(
        levels=4,
        measure="which_box",
        colour="cyan",
        boxes=STRIPS,
        text="edge along which the tissue ends in a turquoise margin (top, right, bottom, left)",
    ),
    "fold": Sight(
        levels=3,
        measure="steps",
        colour="black",
        cut=-70,
        boxes=(FOLD,),
        cuts=(0.02, 0.085),
        text="dark fold from top to bottom (none, thin, wide)",
    ),
    "ink": Sight(
        levels=3,
        measure="which_colour",
        boxes=(INK,),
        colours=("green", "blue", "yellow"),
        text="colour of the ink in the middle of the top edge (green, blue, yellow)",
    ),
}
