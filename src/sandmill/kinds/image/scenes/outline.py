"""A leaf laid on white paper."""

import numpy as np

from sandmill.kinds.image.canvas import Canvas, Cover, wide
from sandmill.kinds.image.scenes import Shown, marks
from sandmill.kinds.image.sights.outline import TICKS

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
    canvas.shade(11 * leaf * wide(shown["veins"]) * _two_by_two(canvas))
    rib = np.array([-1.0, 0.0125, 0.055])[shown["midrib"].astype(np.intp)]
    canvas.shade(45 * leaf * canvas.block(0.5, 0.5, rib, 0.5))
    cells = canvas.places("speck", 4, margin=0.16)
    canvas.paint(marks.some(shown["specks"], cells[:_MOST_SPECKS], lambda x, y: canvas.disc(x, y, 0.026)), (2, 2, 2))
    marks.in_one_box(canvas, shown["tick"], TICKS, (30, 30, 30))


def _blade(canvas: Canvas, shown: Shown) -> Cover:
    """Cover the leaf: its width at every height, seen from a midline that bends towards the tip."""
    half, middle = wide(0.27 + 0.11 * shown["length"]), 0.25 + 0.5 * wide(shown["widest"])
    along = np.clip((canvas.down - 0.52 + half) / (2 * half), 1e-3, 1 - 1e-3)
    round_part = (along / middle) ** middle * ((1 - along) / (1 - middle)) ** (1 - middle)
    bays = 1 - 0.6 * wide(shown["lobes"]) * (0.5 + 0.5 * np.cos(2 * np.pi * _LOBES * along))
    broad = wide(0.17 + 0.16 * shown["width"]) * round_part**1.3 * bays
    broad = broad * (1 + 0.2 * wide(shown["teeth"]) * _two_by_two(canvas))
    midline = 0.5 + 0.4 * (wide(shown["tip"]) - 0.5) * along**2
    is_beside = np.clip((broad - abs(canvas.across - midline)) * canvas.side + 0.5, 0, 1)
    is_there = np.clip((half - abs(canvas.down - 0.52)) * canvas.side + 0.5, 0, 1)
    return np.asarray(is_beside * is_there, np.float32)


def _two_by_two(canvas: Canvas) -> Cover:
    """Return 1 for two rows of pixels, -1 for the next two, and so on."""
    return np.where(np.arange(canvas.side) % 4 < 2, 1.0, -1.0)[None, :, None].astype(np.float32)
