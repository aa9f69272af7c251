"""A round field on dark ground: vessels, dark and pale spots, a bright disc and a film."""

from collections.abc import Mapping

import numpy as np

from sandmill.kinds.image.canvas import Box, Canvas, together, wide
from sandmill.kinds.image.scenes import Shown, Sight, number, which_box, which_colour

FIELD: Box = (0.2, 0.2, 0.8, 0.8)
ROUND: Box = (0.08, 0.08, 0.92, 0.92)
LABEL: Box = (0.88, 0.0, 1.0, 0.12)
NOTCHES: tuple[Box, ...] = (
    (0.0, 0.42, 0.1, 0.58),
    (0.42, 0.9, 0.58, 1.0),
    (0.9, 0.42, 1.0, 0.58),
    (0.42, 0.0, 0.58, 0.1),
)
SIDES: tuple[Box, ...] = ((0.2, 0.08, 0.8, 0.4), (0.2, 0.6, 0.8, 0.92))

SIGHTS: Mapping[str, Sight] = {
    "light": number("middle", "red_part", 0, (108.0, 183.0), "brightness of the round field", FIELD),
    "yellowness": number("hue", "rust", 0, (1.01, 0.634), "how little redder than green the round field is", FIELD),
    "haze": number("rough", "grey", 0, (6.9, 12.7), "how much the field changes from pixel to pixel", FIELD),
    "vessels": number("area", "violet", 14, (0.0774, 0.204), "thickness of the violet lines", ROUND),
    "bleeds": number("pieces", "black", -48, (0.073, 6.75), "number of separate dark red spots", FIELD),
    "bleed_size": number("piece", "black", -48, (0.000622, 0.0166), "size of the dark red spots", FIELD),
    "deposits": number("pieces", "grey", 138, (1.34, 7.37), "number of small pale yellow spots", ROUND),
    "disc_size": number("area", "grey", 190, (0.0035, 0.0393), "size of the bright white disc"),
    "disc_down": number("down", "grey", 190, (0.34, 0.66), "place of the bright white disc from top to bottom"),
    "film": number("area", "green", 24, (0.0198, 0.101), "size of the greenish film", ROUND),
    "film_across": number(
        "across", "green", 24, (0.326, 0.662), "place of the greenish film from left to right", ROUND
    ),
    "notch": which_box("cyan", "side on which the rim has a bluish notch (top, right, bottom, left)", *NOTCHES),
    "half": which_box("white", "half in which the bright white disc lies (left, right)", *SIDES),
    "label": which_colour(
        "colour of the block in the lower left corner (blue, yellow, red)", LABEL, "blue", "yellow", "red"
    ),
}


_MOST_SPOTS = 7
_OUTSIDE = (34.0, 12.0, 10.0)


def draw(canvas: Canvas, shown: Shown) -> None:
    """Draw the field, the disc, vessels that leave it, then spots and the film."""
    light = 0.65 + 0.5 * shown["light"]
    canvas.fill(165 * light, (66 + 34 * shown["yellowness"]) * light, 34 * light)
    canvas.shade((1 + 12 * wide(shown["haze"])) * canvas.cloud("field", canvas.side // 2))
    on_right = shown["half"] == 1
    x, y = np.where(on_right, 0.7, 0.3), 0.34 + 0.32 * shown["disc_down"]
    _vessels(canvas, shown, (x, y), on_right)
    spread = 0.3 + 0.4 * shown["film_across"]
    canvas.paint(0.8 * canvas.disc(spread, canvas.draw("film", 0.35, 0.65), 0.06 + 0.1 * shown["film"]), (112, 160, 84))
    cells = canvas.places("spot", 5, margin=0.16)
    size = 0.022 + 0.035 * shown["bleed_size"]
    canvas.paint(canvas.some(shown["bleeds"], cells[:_MOST_SPOTS], lambda a, b: canvas.disc(a, b, size)), (84, 8, 6))
    pale = cells[_MOST_SPOTS : 2 * _MOST_SPOTS]
    canvas.paint(canvas.some(shown["deposits"], pale, lambda a, b: canvas.disc(a, b, 0.03)), (238, 208, 56))
    canvas.paint(canvas.disc(x, y, 0.05 + 0.07 * shown["disc_size"]), (252, 244, 226))
    canvas.paint(1 - canvas.disc(0.5, 0.5, 0.49), _OUTSIDE)
    canvas.in_one_box(shown["notch"], NOTCHES, (20, 130, 150))
    canvas.of_one_colour(shown["label"], LABEL, ((40, 60, 220), (230, 220, 40), (230, 40, 40)))


def _vessels(canvas: Canvas, shown: Shown, start: tuple[np.ndarray, np.ndarray], on_right: np.ndarray) -> None:
    """Draw four vessels from the disc to the other side, bent once."""
    x, y = start
    away, half = np.where(on_right, -1.0, 1.0), 0.006 + 0.022 * shown["vessels"]
    lines = []
    for vessel, rise in enumerate((-0.36, -0.2, 0.2, 0.36)):
        bend = x + 0.28 * away, y + rise * canvas.draw(f"vessel {vessel}", 0.6, 1.0)
        end = x + 0.62 * away, bend[1] - 0.25 * rise
        lines += [canvas.line(start, bend, half), canvas.line(bend, end, half)]
    canvas.paint(together(lines), (120, 40, 96))
