"""A grey radiograph of a chest: lungs, ribs, a heart, tubes and leads."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from sandmill.kinds.image.canvas import Box, Canvas, together, wide
from sandmill.kinds.image.scenes import Shown, Sight, number, steps, which_box

UPPER: Box = (0.0, 0.22, 0.8, 0.78)
LOWEST: Box = (0.84, 0.1, 1.0, 0.9)
LUNGS: tuple[Box, Box] = ((0.3, 0.16, 0.62, 0.34), (0.3, 0.66, 0.62, 0.84))
RIBS: Box = (0.28, 0.12, 0.64, 0.88)
HEART: Box = (0.5, 0.4, 0.8, 0.75)
MARKERS: tuple[Box, ...] = ((0.0, 0.0, 0.1, 0.1), (0.0, 0.9, 0.1, 1.0))
SIDE: Box = (0.3, 0.92, 0.7, 1.0)
CLIPS: tuple[Box, ...] = ((0.14, 0.1, 0.22, 0.2), (0.14, 0.8, 0.22, 0.9), (0.7, 0.1, 0.78, 0.2))

SIGHTS: Mapping[str, Sight] = {
    "light": number("middle", "grey", 0, (91.6, 140.0), "brightness of the picture"),
    "rough": number("rough", "grey", 0, (12.9, 16.6), "how much the picture changes from pixel to pixel"),
    "tip_down": number(
        "lower_end", "grey", 232, (0.312, 0.935), "how far down the white tube from above reaches", UPPER
    ),
    "tip_across": number(
        "tip_across", "grey", 232, (0.13, 0.871), "place of the tip of the white tube from left to right", UPPER
    ),
    "reach": number("right_end", "black", -16, (0.137, 0.742), "how far the black tube from the left edge reaches"),
    "reach_down": number("down", "black", -16, (0.26, 0.68), "how far down the black tube lies"),
    "left_lung": number(
        "middle", "grey", 0, (36.1, 96.5), "brightness of the lung on the left of the picture", LUNGS[0]
    ),
    "right_lung": number(
        "middle", "grey", 0, (42.7, 102.0), "brightness of the lung on the right of the picture", LUNGS[1]
    ),
    "heart": number("area", "grey", 158, (0.51, 1.02), "width of the heart in the lower middle", HEART),
    "ribs": number("stripes", "grey", 0, (-0.102, 17.9), "strength of the ribs, two rows bright, two dark", RIBS),
    "leads": number("pieces", "grey", 175, (0.0178, 6.02), "number of white leads along the lower edge", LOWEST),
    "marker": which_box("grey", "upper corner with a white marker (left, right)", *MARKERS),
    "clip": which_box("white", "place of the white clip (upper left, upper right, lower left)", *CLIPS),
    "drape": steps("steps", "grey", 175, (0.2, 0.65), "white drape along the right edge (none, thin, wide)", SIDE),
}


_MOST_LEADS = 6
_WHITE, _PALE = (255.0, 255.0, 255.0), (212.0, 212.0, 212.0)


def draw(canvas: Canvas, shown: Shown) -> None:
    """Draw the body, lungs with ribs, the heart, then what has been put in."""
    light = 92 + 50 * shown["light"]
    canvas.fill(light, light, light)
    for x, name in ((0.25, "left_lung"), (0.75, "right_lung")):
        canvas.paint(canvas.disc(x, 0.46, 0.235, 0.8), _grey(40 + 60 * shown[name]))
    canvas.shade(11 * wide(shown["ribs"]) * canvas.stripes * ((canvas.down > 0.26) & (canvas.down < 0.68)))
    canvas.paint(0.85 * canvas.disc(0.56, 0.64, 0.13 + 0.1 * shown["heart"], 1.1), (192, 192, 192))
    canvas.paint(0.5 * canvas.block(0.5, 0.5, 0.035, 0.6), (182, 182, 182))
    canvas.shade((1 + 9 * wide(shown["rough"])) * canvas.cloud("body", canvas.side // 2))
    canvas.pixels[:] = np.clip(canvas.pixels, 34, 196)
    _tubes(canvas, shown)
    leads = [(0.16 + 0.135 * number, 0.92) for number in range(_MOST_LEADS)]
    count = np.rint(_MOST_LEADS * shown["leads"])
    blocks = [canvas.disc(x, y, np.where(number < count, 0.03, -1.0)) for number, (x, y) in enumerate(leads)]
    canvas.paint(together(blocks), _PALE)
    width = np.array([-1.0, 0.03, 0.075])[shown["drape"].astype(np.intp)]
    canvas.paint(canvas.block(1.0, 0.5, width, 0.22), _PALE)
    canvas.in_one_box(shown["marker"], MARKERS, _PALE)
    canvas.in_one_box(shown["clip"], CLIPS, _PALE)


def _tubes(canvas: Canvas, shown: Shown) -> None:
    """Draw a white tube that comes from above and a black one that comes from the left."""
    thin = 0.9 / canvas.side
    start, x, y = canvas.draw("tube", 0.4, 0.6), 0.28 + 0.44 * shown["tip_across"], 0.24 + 0.5 * shown["tip_down"]
    bend = (start + x) / 2 + canvas.draw("bend", -0.08, 0.08), 0.55 * y
    level = 0.26 + 0.42 * shown["reach_down"]
    black = canvas.line((0.0, level), (0.12 + 0.62 * shown["reach"], level), thin)
    canvas.paint(black, (0, 0, 0))
    canvas.paint(together([canvas.line((start, -0.05), bend, thin), canvas.line(bend, (x, y), thin)]), _WHITE)


def _grey(level: ArrayLike) -> np.ndarray:
    return np.repeat(np.asarray(level)[:, None], 3, axis=1)
