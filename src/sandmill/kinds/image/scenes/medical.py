"""Draw scenes of medicine."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from sandmill.kinds.image.canvas import Canvas, Cover, together, wide
from sandmill.kinds.image.scenes import Draw, Shown

_MOST_SPOTS = 7
_OUTSIDE = (34.0, 12.0, 10.0)


def draw_fundus(canvas: Canvas, shown: Shown) -> None:
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


_MOST_NUCLEI, _MOST_CELLS = 12, 7


def draw_tissue(canvas: Canvas, shown: Shown) -> None:
    """Draw the tissue, then what lies in it, then ink and margin."""
    light, stain = 0.86 + 0.2 * shown["light"], 30 + 55 * shown["stain"]
    canvas.fill(218 * light, (215 - stain) * light, 205 * light)
    canvas.shade((2 + 12 * wide(shown["rough"])) * canvas.cloud("tissue", canvas.side // 2))
    canvas.shade(12 * wide(shown["fibres"]) * canvas.stripes)
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


def _cells(canvas: Canvas, shown: Shown) -> None:
    """Set nuclei, more of them on one side, and red cells into cells of a grid."""
    cells = canvas.places("cell", 5, margin=0.12)
    lean, size = 0.3 * (shown["nuclei_across"] - 0.5), 0.024 + 0.034 * shown["nuclei_size"]
    nuclei = canvas.some(
        shown["nuclei"],
        cells[:_MOST_NUCLEI],
        lambda x, y: canvas.disc(0.5 + 0.68 * (np.asarray(x) - 0.5) + lean, y, size),
    )
    canvas.paint(nuclei, (84, 44, 150))
    red = cells[_MOST_NUCLEI : _MOST_NUCLEI + _MOST_CELLS]
    canvas.paint(canvas.some(shown["red_cells"], red, lambda x, y: canvas.disc(x, y, 0.028)), (215, 28, 40))


_MOST_LEADS = 6
_WHITE, _PALE = (255.0, 255.0, 255.0), (212.0, 212.0, 212.0)


def draw_chest(canvas: Canvas, shown: Shown) -> None:
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


_MOST_GLOBULES, _MOST_VESSELS = 6, 6
_NOTCHES = 5


def draw_mole(canvas: Canvas, shown: Shown) -> None:
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


def _mole(canvas: Canvas, shown: Shown, x: np.ndarray) -> Cover:
    """Cover an ellipse whose edge has notches."""
    radius, stretch = 0.15 + 0.13 * shown["size"], np.exp(0.5 * (shown["stretch"] - 0.5))
    across, down = (canvas.across - wide(x)) / wide(stretch), (canvas.down - 0.5) * wide(stretch)
    around = np.arctan2(down, across) + wide(canvas.draw("notch", 0, 2 * np.pi))
    edge = wide(radius) * (1 - 0.65 * wide(shown["notches"]) * (0.5 + 0.5 * np.cos(_NOTCHES * around)))
    return np.asarray(np.clip((edge - np.hypot(across, down)) * canvas.side + 0.5, 0, 1), np.float32)


DRAWINGS: Mapping[str, Draw] = {
    "fundus": draw_fundus,
    "tissue": draw_tissue,
    "chest": draw_chest,
    "mole": draw_mole,
}
