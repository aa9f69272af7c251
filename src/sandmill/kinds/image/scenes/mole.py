"""A mole on skin, seen through a magnifying glass with a lamp."""

import numpy as np

from sandmill.kinds.image.canvas import Canvas, Cover, wide
from sandmill.kinds.image.scenes import Shown, marks
from sandmill.kinds.image.sights.mole import RULER, STICKER

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
    black = marks.some(shown["globules"], cells[:_MOST_GLOBULES], lambda a, b: canvas.disc(a, b, 0.038))
    canvas.paint(black, (14, 10, 12))
    red = cells[_MOST_GLOBULES : _MOST_GLOBULES + _MOST_VESSELS]
    canvas.paint(marks.some(shown["vessels"], red, lambda a, b: canvas.disc(a, b, 0.032)), (226, 22, 36))
    rim = np.array([-1.0, 0.09, 0.17])[shown["rim"].astype(np.intp)]
    canvas.paint(canvas.block(1.0, 0.0, rim, rim), (22, 18, 20))
    marks.in_one_box(canvas, shown["ruler"], RULER, (60, 190, 70))
    marks.of_one_colour(canvas, shown["sticker"], STICKER, ((40, 60, 220), (230, 220, 40), (190, 40, 190)))


def _mole(canvas: Canvas, shown: Shown, x: np.ndarray) -> Cover:
    """Cover an ellipse whose edge has notches."""
    radius, stretch = 0.15 + 0.13 * shown["size"], np.exp(0.5 * (shown["stretch"] - 0.5))
    across, down = (canvas.across - wide(x)) / wide(stretch), (canvas.down - 0.5) * wide(stretch)
    around = np.arctan2(down, across) + wide(canvas.draw("notch", 0, 2 * np.pi))
    edge = wide(radius) * (1 - 0.65 * wide(shown["notches"]) * (0.5 + 0.5 * np.cos(_NOTCHES * around)))
    return np.asarray(np.clip((edge - np.hypot(across, down)) * canvas.side + 0.5, 0, 1), np.float32)
