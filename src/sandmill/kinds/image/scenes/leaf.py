"""A leaf on plain cloth: brown and orange spots, holes, mildew, veins."""

from collections.abc import Mapping

import numpy as np

from sandmill.kinds.image.canvas import Box, Canvas, wide
from sandmill.kinds.image.scenes import Shown, Sight, number, steps, which_box, which_colour

CENTRE: Box = (0.3, 0.35, 0.7, 0.65)
BLADE: Box = (0.26, 0.26, 0.74, 0.74)
HALF: Box = (0.28, 0.26, 0.72, 0.46)
RIB: Box = (0.25, 0.36, 0.75, 0.64)
CLOTH: tuple[Box, ...] = ((0.0, 0.1, 0.2, 0.2), (0.0, 0.8, 0.2, 0.9), (0.8, 0.8, 1.0, 0.9))
TAG: Box = (0.9, 0.02, 1.0, 0.14)
CLIPS: tuple[Box, ...] = (
    (0.0, 0.44, 0.08, 0.56),
    (0.44, 0.92, 0.56, 1.0),
    (0.92, 0.44, 1.0, 0.56),
    (0.44, 0.0, 0.56, 0.08),
)

SIGHTS: Mapping[str, Sight] = {
    "light": number("level", "grey", 0, (153.0, 213.0), "brightness of the cloth behind the leaf", *CLOTH),
    "yellowing": number("middle", "rust", 0, (-52.8, -2.53), "how yellow the green of the leaf has become", CENTRE),
    "length": number("extent_down", "leafy", 30, (0.71, 0.911), "length of the leaf from top to bottom"),
    "width": number("extent_across", "leafy", 30, (0.655, 0.878), "width of the leaf from left to right"),
    "veins": number(
        "stripes", "grey", 0, (0.97, 17.3), "strength of the horizontal veins, two rows bright, two dark", CENTRE
    ),
    "rough": number("rough", "grey", 0, (15.1, 29.6), "how much the leaf changes from pixel to pixel", HALF),
    "scab": number("pieces", "black", -46, (-0.0236, 5.68), "number of separate black scabs", BLADE),
    "scab_size": number("piece", "black", -46, (0.00157, 0.0202), "size of the black scabs", BLADE),
    "rust": number("pieces", "rust", 62, (-0.0407, 6.05), "number of orange spots of rust", BLADE),
    "holes": number("pieces", "blue", 8, (-0.00823, 6.06), "number of holes that show the bluish cloth", BLADE),
    "mildew": number("area", "white", 165, (0.0165, 0.156), "size of the white patch of mildew", BLADE),
    "mildew_down": number("down", "white", 165, (0.217, 0.787), "place of the white mildew from top to bottom", BLADE),
    "clip": which_box("magenta", "edge at which a purple clip holds the cloth (top, right, bottom, left)", *CLIPS),
    "midrib": steps(
        "columns_of", "grey", 16, (0.5, 2.5), "pale yellow midrib from top to bottom (none, thin, wide)", RIB
    ),
    "tag": which_colour("colour of the tag in the lower left corner (blue, yellow, red)", TAG, "blue", "yellow", "red"),
}


_MOST_SPOTS = 6


def draw(canvas: Canvas, shown: Shown) -> None:
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
    canvas.in_one_box(shown["clip"], CLIPS, (170, 40, 170))
    canvas.of_one_colour(shown["tag"], TAG, ((40, 60, 220), (230, 220, 40), (230, 40, 40)))
