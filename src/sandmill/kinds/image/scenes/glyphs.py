"""A painted sign on stone: a stem, bars, a ring and dots in four colours."""

from collections.abc import Mapping

import numpy as np

from sandmill.kinds.image.canvas import Box, Canvas, together, wide
from sandmill.kinds.image.scenes import Shown, Sight, number, steps, which_box, which_colour

CORNERS: tuple[Box, ...] = ((0.0, 0.0, 0.1, 0.1), (0.0, 0.9, 0.1, 1.0), (0.9, 0.0, 1.0, 0.1), (0.9, 0.9, 1.0, 1.0))
EDGE: Box = (0.9, 0.15, 1.0, 0.85)
CAP: Box = (0.0, 0.42, 0.1, 0.58)
FIELD: Box = (0.1, 0.1, 0.9, 0.9)

SIGHTS: Mapping[str, Sight] = {
    "light": number("middle", "grey", 0, (130.0, 193.0), "brightness of the background"),
    "redness": number("middle", "rust", 0, (-20.9, 20.6), "how much more red than green the background is"),
    "rough": number("rough", "grey", 0, (5.1, 14.3), "how much the background changes from pixel to pixel"),
    "slope": number("slope", "grey", 0, (-19.4, 21.3), "how much brighter the right half is than the left half"),
    "stem": number("extent_down", "grassy", 50, (0.24, 0.855), "length of the green stem", FIELD),
    "stem_across": number("across", "grassy", 50, (0.132, 0.376), "place of the green stem from left to right", FIELD),
    "bars": number("pieces", "blue", 40, (-0.0808, 6.13), "number of separate blue bars", FIELD),
    "bar_width": number("extent_across", "blue", 40, (0.0748, 0.216), "length of the blue bars", FIELD),
    "ring": number("extent_across", "rust", 90, (0.0959, 0.273), "width of the red ring", FIELD),
    "ring_down": number("down", "rust", 90, (0.253, 0.746), "place of the red ring from top to bottom", FIELD),
    "weight": number("fullness", "rust", 90, (0.388, 1.05), "thickness of the line of the red ring", FIELD),
    "dots": number("pieces", "yellow", 96, (0.295, 7.26), "number of yellow dots", FIELD),
    "corner": which_box(
        "magenta", "corner with a purple block (top left, top right, bottom left, bottom right)", *CORNERS
    ),
    "base": steps("steps", "black", -62, (0.2, 0.65), "dark line along the bottom edge (none, thin, wide)", EDGE),
    "cap": which_colour(
        "colour of the block in the middle of the top edge (green, blue, red)", CAP, "green", "blue", "red"
    ),
}


_MOST_BARS, _MOST_DOTS = 6, 7


def draw(canvas: Canvas, shown: Shown) -> None:
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
    canvas.in_one_box(shown["corner"], CORNERS, (180, 40, 180))
    canvas.of_one_colour(shown["cap"], CAP, ((30, 170, 50), (40, 60, 220), (230, 40, 40)))


def _bars(canvas: Canvas, shown: Shown, thin: float) -> None:
    """Draw horizontal bars beside the stem, one above the other in even steps."""
    count, left = np.rint(_MOST_BARS * shown["bars"]), canvas.draw("bars", 0.38, 0.44)
    half = 0.03 + 0.06 * shown["bar_width"]
    bars = [
        canvas.block(left + half, 0.17 + 0.135 * number, np.where(number < count, half, -1.0), thin)
        for number in range(_MOST_BARS)
    ]
    canvas.paint(together(bars), (36, 56, 196))
