"""A tile of stained tissue."""

import numpy as np

from sandmill.kinds.image.canvas import Canvas, wide
from sandmill.kinds.image.scenes import Shown, marks
from sandmill.kinds.image.sights.tissue import INK, STRIPS

_MOST_NUCLEI, _MOST_CELLS = 12, 7


def draw(canvas: Canvas, shown: Shown) -> None:
    """Draw the tissue, then what lies in it, then ink and margin."""
    light, stain = 0.86 + 0.2 * shown["light"], 30 + 55 * shown["stain"]
    canvas.fill(218 * light, (215 - stain) * light, 205 * light)
    canvas.shade((2 + 12 * wide(shown["rough"])) * canvas.cloud("tissue", canvas.side // 2))
    is_high = np.where(np.arange(canvas.side) % 4 < 2, 1.0, -1.0)[None, :, None]
    canvas.shade(12 * wide(shown["fibres"]) * is_high)
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
    marks.in_one_box(canvas, shown["margin"], STRIPS, (60, 190, 190))
    marks.of_one_colour(canvas, shown["ink"], INK, ((30, 170, 50), (40, 50, 200), (235, 215, 40)))


def _cells(canvas: Canvas, shown: Shown) -> None:
    """Set nuclei, more of them on one side, and red cells into cells of a grid."""
    cells = canvas.places("cell", 5, margin=0.12)
    lean, size = 0.3 * (shown["nuclei_across"] - 0.5), 0.024 + 0.034 * shown["nuclei_size"]
    nuclei = marks.some(
        shown["nuclei"],
        cells[:_MOST_NUCLEI],
        lambda x, y: canvas.disc(0.5 + 0.68 * (np.asarray(x) - 0.5) + lean, y, size),
    )
    canvas.paint(nuclei, (84, 44, 150))
    red = cells[_MOST_NUCLEI : _MOST_NUCLEI + _MOST_CELLS]
    canvas.paint(marks.some(shown["red_cells"], red, lambda x, y: canvas.disc(x, y, 0.028)), (215, 28, 40))
