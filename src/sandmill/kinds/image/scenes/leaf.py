"""A leaf on plain cloth."""

import numpy as np

from sandmill.kinds.image.canvas import Canvas, wide
from sandmill.kinds.image.scenes import Shown, marks
from sandmill.kinds.image.sights.leaf import CLIPS, TAG

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
    is_high = np.where(np.arange(canvas.side) % 4 < 2, 1.0, -1.0)[None, :, None]
    canvas.shade(leaf * 12 * wide(shown["veins"]) * is_high)
    width = np.array([-1.0, 0.02, 0.05])[shown["midrib"].astype(np.intp)]
    canvas.paint(leaf * canvas.block(0.5, 0.5, width, 0.6), (236, 236, 140))
    patch = canvas.disc(
        canvas.draw("mildew", 0.38, 0.62), 0.32 + 0.36 * shown["mildew_down"], 0.04 + 0.09 * shown["mildew"]
    )
    canvas.paint(0.9 * patch, (226, 228, 216))
    cells = canvas.places("spot", 5, margin=0.27)
    size = 0.022 + 0.03 * shown["scab_size"]
    canvas.paint(marks.some(shown["scab"], cells[:_MOST_SPOTS], lambda x, y: canvas.disc(x, y, size)), (34, 24, 16))
    rusty = cells[_MOST_SPOTS : 2 * _MOST_SPOTS]
    canvas.paint(marks.some(shown["rust"], rusty, lambda x, y: canvas.disc(x, y, 0.03)), (226, 112, 24))
    eaten = marks.some(shown["holes"], cells[2 * _MOST_SPOTS : 3 * _MOST_SPOTS], lambda x, y: canvas.disc(x, y, 0.034))
    canvas.pixels += eaten * (cloth - canvas.pixels)
    marks.in_one_box(canvas, shown["clip"], CLIPS, (170, 40, 170))
    marks.of_one_colour(canvas, shown["tag"], TAG, ((40, 60, 220), (230, 220, 40), (230, 40, 40)))
