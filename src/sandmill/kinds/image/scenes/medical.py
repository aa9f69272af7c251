"""Draw scenes of medicine."""

from itertools import pairwise
from typing import Any

import numpy as np

from sandmill.kinds.image.canvas import Canvas, Cover, Place, each_level, together, wide
from sandmill.kinds.image.scenes import Shown
from sandmill.mechanism.columns import Floats

_MOST_SPOTS = 7


def draw_fundus(canvas: Canvas, shown: Shown) -> None:
    """Draw the ground of an eye in a round field: vessels that branch, the disc, a naevus, bleedings and deposits."""
    light = 0.74 + 0.36 * shown["light"]
    canvas.fill(214 * light, (82 + 46 * shown["yellowness"]) * light, 50 * light)
    far = canvas.disc(0.5, 0.5, 0.2, soft=0.5 * canvas.side)
    tilt = wide(1.1 * (shown["tilt"] - 0.5)) * (canvas.across - 0.5)
    canvas.light((0.75 + 0.25 * far) * (1 + tilt + 0.04 * canvas.texture("retina", 0.07, 1.5)))
    away = np.where(shown["half"] == 1, -1.0, 1.0)
    x, y = 0.5 - away * canvas.draw("disc", 0.18, 0.24), 0.36 + 0.28 * shown["disc_down"]
    canvas.paint(0.4 * canvas.disc(x + 0.36 * away, y + 0.02, 0.07, soft=5), (92, 26, 18))
    place = 0.34 + 0.32 * shown["naevus_across"], canvas.draw("naevus", 0.3, 0.7)
    canvas.paint(0.85 * canvas.blob("naevus", place, 0.055 + 0.085 * shown["naevus"], 0.25, soft=3), (80, 64, 54))
    disc = canvas.blob("rim", (x, y), 0.05 + 0.075 * shown["disc_size"], 0.06, 0.95, soft=2)
    canvas.paint(disc, (242, 204, 140))
    canvas.paint(0.7 * canvas.disc(x, y, 0.025 + 0.02 * canvas.draw("cup"), soft=1.5), (255, 240, 210))
    vessels = _vessels(canvas, (x, y), away, 0.009 + 0.012 * shown["vessels"]) * (1 - 0.85 * disc)
    canvas.paint(wide(0.45 + 0.5 * shown["vessels"]) * vessels, (98, 18, 20))
    cells = canvas.places("spot", 5, 0.14, 0.2)
    pale = canvas.draw("pale", 0, 40)
    for number, (part, a, b) in enumerate(canvas.each(shown["deposits"], cells[_MOST_SPOTS : 2 * _MOST_SPOTS], 0.06)):
        size = 0.034 + 0.008 * part.draw(f"deposit {number}")
        part.paint(part.blob(f"deposit {number}", (a, b), size, 0.3), (236, 190 + 0.5 * pale, 84 + pale))
    for number, (part, a, b) in enumerate(canvas.each(shown["bleeds"], cells[:_MOST_SPOTS], 0.11)):
        bleed = part.blob(f"bleed {number}", (a, b), 0.044 + 0.032 * shown["bleed_size"], 0.3)
        part.paint(0.92 * bleed, (70 + pale, 10, 12))
    lid = each_level([-0.3, 0.19, 0.33], shown["lid"])
    canvas.light(1 - 0.45 * canvas.soft(wide(lid) - 1.2 * (canvas.across - 0.5) ** 2 - canvas.down, 6))
    x, y = (each_level(places, shown["notch"]) for places in ([0.5, 0.955, 0.5, 0.045], [0.045, 0.5, 0.955, 0.5]))
    canvas.paint(1 - np.maximum(canvas.disc(0.5, 0.5, 0.455), canvas.disc(x, y, 0.045)), (12, 9, 10))


_ARCS = ((60, 0.8, 0.7), (47, 0.75, 0.5), (-60, 0.8, 0.7), (-47, 0.75, 0.5), (118, 0.5, 0.3), (-125, 0.5, 0.3))
"""Direction in degrees in which each vessel leaves the disc, how much it bends, and its length."""


def _vessels(canvas: Canvas, start: Place, away: Floats, half: Floats) -> Cover:
    """Draw four arcs around the middle of the retina and two to the other side, with branches."""
    covers = []
    for number, (degrees, bend, long) in enumerate(_ARCS):
        sign, thin = np.sign(degrees), half * (0.8 if number % 2 else 1.25)
        angle = np.radians(degrees + canvas.draw(f"vessel {number}", -7, 7))
        covers.append(_arc(canvas, start, (away, angle, sign * bend), thin, long))
        for at, turn in ((0.16, 25), (0.32, -59))[: 2 if long > 0.5 else 1]:
            aside = sign * bend * at**2
            x = start[0] + away * (at * np.cos(angle) + aside * np.sin(angle))
            y = start[1] + at * np.sin(angle) - aside * np.cos(angle)
            form = away, angle + np.radians(sign * turn), sign * 0.4
            covers.append(_arc(canvas, (x, y), form, 0.6 * thin, 0.4 * long + 0.05))
    return together(covers)


def _arc(canvas: Canvas, start: Place, form: tuple[Floats, Floats, float], half: Floats, long: float) -> Cover:
    """Cover an arc that starts in a direction, bends and becomes thinner."""
    away, angle, bend = form
    over, under = (canvas.across - wide(start[0])) * wide(away), canvas.down - wide(start[1])
    cos, sin = wide(np.cos(angle)), wide(np.sin(angle))
    along, aside = cos * over + sin * under, sin * over - cos * under
    far = abs(aside - bend * along**2 - 0.008 * np.sin(22 * along)) / np.sqrt(1 + (2 * bend * along) ** 2)
    thin = wide(half) * (1.1 - 0.75 * np.clip(along / long, 0, 1))
    return canvas.soft(thin - far) * ((along > 0) & (along < long))


_MOST_HOLES, _MOST_CELLS = 6, 9
_NUCLEI = 9
"""Cells of the grid that nuclei lie in, a side."""


def draw_tissue(canvas: Canvas, shown: Shown) -> None:
    """Draw wavy fibres and nuclei of a stained slice, then what lies between them, and its inked edge."""
    light, stain = 0.76 + 0.26 * shown["light"], 42 + 56 * shown["stain"]
    canvas.fill(232 * light, (222 - stain) * light, (226 - 0.25 * stain) * light)
    angle, large = canvas.draw("fibres", 0, np.pi), canvas.texture("stroma", 0.3, 2)
    run = (wide(np.cos(angle)) * canvas.across + wide(np.sin(angle)) * canvas.down) * wide(canvas.draw("pitch", 7, 10))
    waves = wide(42 * shown["fibres"]) * np.sin(2 * np.pi * run + 1.6 * large)
    for pixels, much in zip(canvas.pixels, (0.35, 1.0, 0.6), strict=True):
        pixels += much * (waves + 4 * canvas.texture("fine", 0.08, 1.4) + 3 * large)
    spot = canvas.places("gap", 4, 0.17, 0.2)
    opening = 0.06 + 0.075 * shown["lumen"]
    canvas.paint(0.35 * canvas.blob("gland", spot[0], opening + 0.035, 0.2, 1.1, angle, soft=2), (150, 90, 150))
    covers, shades = _nuclei(canvas, shown)
    canvas.paint(0.92 * covers, (84 + 40 * shades, 46 + 36 * shades, 132 + 24 * shades))
    brown = canvas.blob("brown", spot[1], 0.05 + 0.09 * shown["pigment"], 0.35, 1.15, angle, soft=3)
    canvas.paint(0.88 * brown, (138, 96, 62))
    cells = canvas.places("cell", 6, 0.1, 0.25)
    for part, a, b in canvas.each(shown["red_cells"], cells[:_MOST_CELLS], 0.06):
        part.paint(0.9 * part.disc(a, b, 0.034, soft=1.5), (204, 52, 66))
    white = (246 * light, 242 * light, 246 * light)
    for part, a, b in canvas.each(shown["holes"], spot[2 : 2 + _MOST_HOLES], 0.1):
        part.paint(0.95 * part.blob("hole", (a, b), 0.042, 0.12), white)
    canvas.paint(0.95 * canvas.blob("gland", spot[0], opening, 0.2, 1.1, angle, soft=1.5), white)
    _margin(canvas, shown, white, large)


def _nuclei(canvas: Canvas, shown: Shown) -> tuple[Cover, Cover]:
    """Cover nuclei, one in each cell of a grid or none, each with a size, a direction and a shade of its own."""
    numbers = canvas.noise("nuclei", (6, _NUCLEI, _NUCLEI))
    rows, columns = np.indices((_NUCLEI, _NUCLEI), np.float32)
    far = np.hypot(rows / (_NUCLEI - 1) - 0.5, columns / (_NUCLEI - 1) - 0.5)
    order = (numbers[:, 0] + 14 * wide(shown["crowd"] - 0.5) * far).reshape(len(numbers), -1).argsort().argsort()
    is_there = (order < np.rint(6 + 46 * shown["nuclei"])[:, None]).reshape(numbers[:, 0].shape)
    down, across = (np.clip(numbers[:, axis], -1.5, 1.5) * 0.15 + 0.5 for axis in (1, 2))
    down, across = (rows + down) / _NUCLEI, (columns + across) / _NUCLEI
    size = np.where(is_there, wide(0.023 + 0.029 * shown["nuclei_size"]) * np.exp(0.15 * numbers[:, 3]), -9)
    cos, sin = (0.7 * part(3 * numbers[:, 4]) for part in (np.cos, np.sin))
    place = np.floor(np.stack([canvas.down[0, :, 0], canvas.across[0, 0]]) * _NUCLEI).astype(int)
    best, shade = (np.full(canvas.pixels.shape[1:], value, np.float32) for value in (-9, 0))
    for step in np.ndindex(3, 3):
        # A nucleus may reach into the cells beside its own
        row, column = (np.clip(at + one - 1, 0, _NUCLEI - 1) for at, one in zip(place, step, strict=True))
        x, y, radius, own, along, aside = (
            grid[:, row][:, :, column] for grid in (across, down, size, numbers[:, 5], cos, sin)
        )
        x, y = canvas.across - x, canvas.down - y
        inside = radius - np.sqrt(x**2 + y**2 + (along * x + aside * y) ** 2)
        shade = np.where(inside > best, own, shade)
        best = np.maximum(best, inside)
    return canvas.soft(best), np.asarray(np.clip(0.5 + 0.25 * shade, 0, 1), np.float32)


def _margin(canvas: Canvas, shown: Shown, white: tuple[Floats, ...], large: Cover) -> None:
    """End the tissue along an edge, whose surface has been inked."""
    far, depth = _from_edge(canvas, shown["margin"])[0] + 0.012 * large, wide(canvas.draw("margin", 0.07, 0.1))
    half = wide(each_level([0.021, 0.038, 0.06], shown["ink_width"]))
    ink = each_level([[44, 122, 84], [38, 36, 40], [206, 176, 60]], shown["ink"])
    canvas.paint(np.clip(0.85 + 0.15 * large, 0, 1) * canvas.soft(half - abs(far - depth - half)), ink)
    canvas.paint(canvas.soft(depth - far), white)


def _from_edge(canvas: Canvas, edge: Floats) -> tuple[Any, Any]:
    """Return the distance of pixels from the upper, right, lower or left edge, and their place along it."""
    number, upright = wide(edge), wide(edge % 2) == 1
    far, along = (np.where(upright, *pair) for pair in ((canvas.across, canvas.down), (canvas.down, canvas.across)))
    return np.where((number == 1) | (number == 2), 1 - far, far), along


_MOST_LEADS = 7
_LETTERS: tuple[list[list[Place]], ...] = (
    [[(0, 0), (0, 1)], [(0, 0), (0.8, 0)], [(0.9, 0.08), (0.9, 0.45)], [(0, 0.5), (0.8, 0.5)], [(0.4, 0.5), (1, 1)]],
    [[(0, 0), (0, 1)], [(0, 1), (1, 1)]],
)
"""Strokes of the letters R and L, which mark the right side of the body, at the left of a radiograph, and the left."""


def draw_chest(canvas: Canvas, shown: Shown) -> None:
    """Draw the body, lungs with ribs, spine and heart, then what has been put in or on."""
    level, over = 108 + 50 * shown["light"], abs(canvas.across - 0.5)
    canvas.fill(level, level, level)
    canvas.shade(9 * canvas.texture("flesh", 0.3, 1.6) + 70 * np.clip(canvas.down - 0.66, 0, 0.3))
    lung = together([_lung(canvas, shown, 0.27, "left_lung"), _lung(canvas, shown, 0.73, "right_lung")])
    canvas.shade(6 * lung * canvas.texture("markings", 0.06, 1.5))
    slope = canvas.down - 0.55 * over**1.3 + 0.3 * np.clip(over - 0.25, 0, 1) ** 2
    slope = slope / wide(canvas.draw("gap", 0.105, 0.118)) + wide(canvas.draw("rib"))
    rib = np.clip(1.5 * np.cos(2 * np.pi * slope) - 0.1, 0, 1)
    canvas.shade((2 + 44 * wide(shown["ribs"])) * rib * (0.25 + 0.75 * lung) * np.clip((over - 0.05) * 20, 0, 1))
    for end in (0.13, 0.87):
        canvas.shade(20 * canvas.line((0.5 + 0.14 * (end - 0.5), 0.17), (end, 0.1), 0.014, 2))
    canvas.shade(38 * canvas.soft(0.06 - over, 2) * (0.8 + 0.2 * np.cos(74 * canvas.down)))
    gas = each_level([-1.0, 0.055, 0.09], shown["gas"])
    canvas.shade(-58 * canvas.blob("gas", (canvas.draw("gas", 0.66, 0.76), 0.89), gas, 0.15, 1.25, soft=2))
    heart = canvas.blob("heart", (0.56, 0.6), 0.1 + 0.085 * shown["heart"], 0.06, 1.16, 0.7, soft=4)
    canvas.paint(0.88 * heart, (level + 74,) * 3)
    canvas.paint(canvas.soft(0.04 + 1.1 * np.clip(over - 0.17, 0, 1) ** 1.6 - canvas.down, 2), (14, 14, 14))
    _tubes(canvas, shown)


def _lung(canvas: Canvas, shown: Shown, x: float, name: str) -> Cover:
    """Fill a lung down to the diaphragm; on the right of the picture, fluid can stand in it."""
    dome = 0.62 + 0.17 * shown["breath"] if x < 0.5 else canvas.draw("dome", 0.7, 0.76)
    above = canvas.soft(wide(dome) + 0.9 * (canvas.across - x) ** 2 - canvas.down, 2)
    cover = canvas.disc(x, 0.45, 0.245, 0.76, (x - 0.5) * -0.5, soft=2.5) * above
    grey = 34 + 50 * shown[name]
    canvas.paint(0.92 * cover, (grey,) * 3)
    if x > 0.5:
        depth = each_level([-0.2, 0.09, 0.19], shown["fluid"])
        surface = wide(0.72 - depth) - 1.2 * abs(canvas.across - x + 0.03) ** 1.5
        canvas.shade(cover * canvas.soft(canvas.down - surface, 2) * wide(132 - grey))
    return cover


def _tubes(canvas: Canvas, shown: Shown) -> None:
    """Draw a tube that comes from above and one that comes from the left, electrodes and a letter."""
    thin = 1.1 / canvas.side
    x, y = 0.34 + 0.32 * shown["tip_across"], 0.26 + 0.46 * shown["tip_down"]
    top, bow = canvas.draw("tube", 0.44, 0.56), canvas.draw("bow", -0.05, 0.05)
    tube = _bent(canvas, (top, -0.06 + 0 * x), ((top + x) / 2 + bow, 0.55 * y), (x, y), thin)
    level, far = 0.26 + 0.36 * shown["reach_down"], 0.16 + 0.28 * shown["reach"]
    sag = canvas.draw("sag", 0.0, 0.1)
    line = _bent(canvas, (-0.06 + 0 * far, level + sag), (far / 2, level - sag), (far, level), thin)
    canvas.shade(64 * together([tube, line]))
    pads = canvas.places("lead", 4, 0.16, 0.2)
    for part, a, b in canvas.each(shown["leads"], pads[:_MOST_LEADS], 0.06):
        part.shade(84 * part.disc(a, b, 0.042))
    x, y = canvas.draw("marker", -0.02, 0.02), canvas.draw("marker down", 0.03, 0.07)
    for side, letter in enumerate(_LETTERS):
        left = x + np.where(shown["marker"] == side, (0.05, 0.88)[side], -9.0)
        strokes = [[(left + 0.06 * over, y + 0.09 * under) for over, under in stroke] for stroke in letter]
        canvas.paint(together([canvas.line(start, end, 0.6 * thin) for start, end in strokes]), (225, 225, 225))


def _bent(canvas: Canvas, start: Place, middle: Place, end: Place, half: float) -> Cover:
    """Cover a line that bends towards a place in its middle."""
    at = [
        tuple((1 - t) ** 2 * a + 2 * t * (1 - t) * b + t**2 * c for a, b, c in zip(start, middle, end, strict=True))
        for t in np.linspace(0, 1, 5)
    ]
    return together([canvas.line(one, other, half) for one, other in pairwise(at)])


_MOST_GLOBULES = 6
_HAIRS = 5


def draw_mole(canvas: Canvas, shown: Shown) -> None:
    """Draw skin with its fine lines, a mole and what lies in it, then hairs, a ruler and the rim of the lens."""
    light, flush = 0.78 + 0.27 * shown["light"], 30 * (shown["flush"] - 0.5)
    canvas.fill((226 + flush) * light, 172 * light, (158 - flush) * light)
    canvas.light(1 + 0.03 * canvas.texture("skin", 0.4, 2) + 0.1 * (canvas.grains("lines", 0.1)[0].clip(0, 1) - 0.5))
    place = canvas.draw("mole x", 0.45, 0.55), canvas.draw("mole y", 0.45, 0.55)
    half, form = 0.22 + 0.1 * shown["size"], (1 + 0.38 * shown["stretch"], canvas.draw("turn of mole", 0, np.pi))
    radius, share = wide(half), np.hypot(*canvas.far(*place, *form)) / wide(half)
    halo = wide(canvas.draw("halo", 0, 0.25)) * np.clip(2.6 - 1.6 * share, 0, 1)
    canvas.paint(halo, (218 * light, 96 * light, 104 * light))
    ragged = wide(canvas.draw("ragged", 0.02, 0.1)) * canvas.texture("edge", 0.16, 2.6)
    cover = canvas.soft((1 + ragged - share) * radius, 2)
    across, _ = canvas.far(*place, 1.0, canvas.draw("dark side", 0, 2 * np.pi))
    dark_side = wide(canvas.draw("uneven", 0, 0.35)) * np.clip(0.5 + 0.6 * across / radius, 0, 1)
    network = 0.12 * canvas.grains("network", 0.09)[0].clip(0, 1) + 0.05 * canvas.texture("pigment", 0.15, 1.5)
    brown = wide(0.66 + 0.7 * shown["depth"]) * (1 - dark_side) * (0.95 + network)
    canvas.paint(0.94 * cover, (126 * brown, 82 * brown, 56 * brown))
    white, spots = 250 * light, canvas.places("spot of mole", 2, 0.0, 0.2)
    for name, spot, colour in (("veil", spots[0], (92, 104, 128)), ("scar", spots[1], (white, white - 14, white - 20))):
        x, y = (middle + 0.9 * half * (at - 0.5) for middle, at in zip(place, spot, strict=True))
        canvas.paint(0.8 * canvas.blob(name, (x, y), 0.03 + 0.08 * shown[name], 0.3, soft=3), colour)
    points = _around(canvas, place, 0.6 * half, *form)
    for part, a, b in canvas.each(shown["globules"], points, 0.08):
        part.paint(0.92 * part.disc(a, b, 0.04, soft=1.5), (24, 16, 18))
    for hair in range(_HAIRS):
        x, y = canvas.draw(f"hair {hair} x") - 9 * (shown["hairs"] == 0), canvas.draw(f"hair {hair} y")
        angle, bow = canvas.draw(f"hair {hair}", 0, 2 * np.pi), canvas.draw(f"bow of hair {hair}", -0.15, 0.15)
        over, under = 0.42 * np.cos(angle), 0.42 * np.sin(angle)
        ends = (x - over, y - under), (x + over, y + under)
        canvas.paint(0.8 * _bent(canvas, ends[0], (x + 2 * bow, y + 2 * bow), ends[1], 0.5 / canvas.side), (58, 42, 36))
    far, along = _from_edge(canvas, shown["ruler"])
    ticks = abs((along / 0.085 + wide(canvas.draw("tick"))) % 1 - 0.5) < 0.16
    canvas.paint(0.75 * (ticks & (far < 0.075)), (52, 46, 44))
    lens = canvas.disc(0.5, 0.5, each_level([1.0, 0.64, 0.57], shown["rim"]), soft=3)
    canvas.light(0.12 + 0.88 * lens)


def _around(canvas: Canvas, place: Place, radius: Floats, stretch: Floats, turn: Floats) -> list[Place]:
    """Return places around the middle of an ellipse, far enough from each other for globules, in random order."""
    order = np.stack([canvas.draw(f"globule {number}") for number in range(_MOST_GLOBULES)]).argsort(axis=0)
    angle, (cos, sin) = 2 * np.pi * (order + canvas.draw("globules")) / _MOST_GLOBULES, (np.cos(turn), np.sin(turn))
    over, under = radius * stretch * np.cos(angle), radius / stretch * np.sin(angle)
    return list(zip(place[0] + cos * over - sin * under, place[1] + sin * over + cos * under, strict=True))
