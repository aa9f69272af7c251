"""A mole on skin, seen through a magnifying glass with a lamp."""

from collections.abc import Mapping

import numpy as np

from sandmill.kinds.image.canvas import Box, Canvas, Cover, wide
from sandmill.kinds.image.scenes import Shown, Sight, number, steps, which_box, which_colour

SKIN: Box = (0.1, 0.1, 0.25, 0.8)
CENTRE: Box = (0.38, 0.38, 0.62, 0.62)
FIELD: Box = (0.1, 0.08, 0.92, 0.92)
RULER: tuple[Box, ...] = ((0.0, 0.3, 0.07, 0.7), (0.3, 0.93, 0.7, 1.0), (0.93, 0.3, 1.0, 0.7), (0.3, 0.0, 0.7, 0.07))
STICKER: Box = (0.9, 0.0, 1.0, 0.16)
RIM: Box = (0.0, 0.83, 0.17, 1.0)

SIGHTS: Mapping[str, Sight] = {
    "light": number("level", "grey", 0, (150.0, 190.0), "brightness of the skin around the spot", SKIN),
    "flush": number("level", "warm", 0, (31.4, 83.9), "how much more red than blue the skin is", SKIN),
    "size": number("area", "dark", 30, (0.136, 0.289), "size of the dark spot", FIELD),
    "stretch": number("aspect", "dark", 30, (-0.278, 0.0775), "width of the spot compared with its height", FIELD),
    "depth": number("middle", "grey", 0, (61.4, 110.0), "brightness of the middle of the spot", CENTRE),
    "place": number("across", "dark", 30, (0.412, 0.572), "place of the spot from left to right", FIELD),
    "notches": number("fullness", "dark", 30, (0.707, 0.473), "depth of the notches in the edge of the spot", FIELD),
    "veil": number("area", "blue", 14, (-0.00517, 0.0506), "size of the bluish patch below the spot", FIELD),
    "globules": number("pieces", "black", -32, (0.184, 5.32), "number of black globules", FIELD),
    "vessels": number("pieces", "red", 100, (0.138, 5.43), "number of red points", FIELD),
    "scar": number("area", "white", 205, (-0.00591, 0.0326), "size of the white scar", FIELD),
    "grain": number("rough", "grey", 0, (4.67, 10.2), "how much the skin changes from pixel to pixel", SKIN),
    "ruler": which_box("green", "edge with a green piece of the ruler (top, right, bottom, left)", *RULER),
    "rim": steps(
        "steps", "black", -60, (0.12, 0.6), "dark rim of the glass in the upper right corner (none, narrow, wide)", RIM
    ),
    "sticker": which_colour(
        "colour of the sticker in the lower left corner (blue, yellow, purple)", STICKER, "blue", "yellow", "magenta"
    ),
}


_MOST_GLOBULES, _MOST_VESSELS = 6, 6
_NOTCHES = 5


def draw(canvas: Canvas, shown: Shown) -> None:
    """Draw the skin, the mole, what lies on it and beside it, then ruler, rim and sticker."""
    light, flush = 0.82 + 0.22 * shown["light"], 28 * (shown["flush"] - 0.5)
    canvas.fill((218 + flush) * light, 176 * light, (156 - flush) * light)
    canvas.shade((1 + 14 * wide(shown["grain"])) * canvas.cloud("skin", canvas.side // 2))
    brown = 0.55 + 0.55 * shown["depth"]
    x = 0.4 + 0.2 * shown["place"]
    canvas.paint(_mole(canvas, shown, x), np.stack([142 * brown, 92 * brown, 62 * brown], axis=-1))
    canvas.paint(canvas.disc(canvas.draw("veil", 0.25, 0.4), 0.82, 0.02 + 0.09 * shown["veil"]), (92, 98, 172))
    canvas.paint(canvas.disc(canvas.draw("scar", 0.62, 0.76), 0.82, 0.02 + 0.08 * shown["scar"], 1.4), (246, 240, 240))
    cells = canvas.places("point", 4, margin=0.26)
    black = canvas.some(shown["globules"], cells[:_MOST_GLOBULES], lambda a, b: canvas.disc(a, b, 0.038))
    canvas.paint(black, (14, 10, 12))
    red = cells[_MOST_GLOBULES : _MOST_GLOBULES + _MOST_VESSELS]
    canvas.paint(canvas.some(shown["vessels"], red, lambda a, b: canvas.disc(a, b, 0.032)), (226, 22, 36))
    rim = np.array([-1.0, 0.09, 0.17])[shown["rim"].astype(np.intp)]
    canvas.paint(canvas.block(1.0, 0.0, rim, rim), (22, 18, 20))
    canvas.in_one_box(shown["ruler"], RULER, (60, 190, 70))
    canvas.of_one_colour(shown["sticker"], STICKER, ((40, 60, 220), (230, 220, 40), (190, 40, 190)))


def _mole(canvas: Canvas, shown: Shown, x: np.ndarray) -> Cover:
    """Cover an ellipse whose edge has notches."""
    radius, stretch = 0.15 + 0.13 * shown["size"], np.exp(0.5 * (shown["stretch"] - 0.5))
    across, down = (canvas.across - wide(x)) / wide(stretch), (canvas.down - 0.5) * wide(stretch)
    around = np.arctan2(down, across) + wide(canvas.draw("notch", 0, 2 * np.pi))
    edge = wide(radius) * (1 - 0.65 * wide(shown["notches"]) * (0.5 + 0.5 * np.cos(_NOTCHES * around)))
    return np.asarray(np.clip((edge - np.hypot(across, down)) * canvas.side + 0.5, 0, 1), np.float32)
