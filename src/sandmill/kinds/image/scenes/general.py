"""Draw objects, ground from above, signs on stone, and leaves."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sandmill.kinds.image.canvas import Canvas, Cover, Pixels, Place, each_level, together, wide
from sandmill.kinds.image.scenes import Shown
from sandmill.mechanism.columns import Floats

_GULLS, _CRESTS = 6, 8
"""The most that a picture of the sea shows."""


def draw_objects(canvas: Canvas, shown: Shown) -> None:
    """Draw sky, coast and sea, then a buoy, gulls and foam."""
    light, warm = 0.62 + 0.55 * wide(shown["light"]), wide(shown["warmth"])
    level = 0.22 + 0.16 * shown["horizon"]
    above = np.clip(canvas.down / wide(level), 0, 1)
    clouds = 1 + 0.07 * canvas.texture("clouds", 0.4, 1.8, 2.0)
    sky = [(cool + (glow - cool) * warm) * (0.8 + 0.28 * above) * clouds for cool, glow in _SKY]
    canvas.fill(*sky)
    _coast(canvas, shown, level)
    below = canvas.down - wide(level)
    near = np.clip(below / 0.7, 0, 1)
    swell = wide(0.03 + 0.3 * shown["waves"]) * (0.35 + 0.65 * near)
    swells, ripples = canvas.texture("swell", 0.12, 2.0, 3.0), canvas.texture("ripples", 0.05, 1.5, 3.0)
    water = (1.1 - 0.3 * near) * (1 + swell * (swells * near + ripples * (1 - near)))
    canvas.paint(canvas.soft(below), [(deep + 0.28 * one) * water for deep, one in zip((24, 46, 54), sky, strict=True)])
    places = canvas.places("crest", 4, margin=0.02, jitter=0.3)[:_CRESTS]
    crests = [(x, level + 0.1 + 0.88 * y * (0.9 - level)) for x, y in places]
    for part, x, y in canvas.each(shown["foam"], crests, 0.09):
        part.paint(0.9 * part.blob("crest", (x, y), 0.024, 0.3, 1.6), (222, 226, 226))
    _buoy(canvas, shown, level)
    flock, row = canvas.draw("flock"), [canvas.draw(f"gull {number}") for number in range(_GULLS)]
    gulls = [((number / _GULLS + flock) % 1, 0.03 + (level - 0.12) * y) for number, y in enumerate(row)]
    for part, x, y in canvas.each(shown["gulls"], gulls, 0.07):
        wings = [part.line((x, y + 0.018), (x + way, y), 0.011) for way in (-0.032, 0.032)]
        part.paint(together(wings), (50, 50, 54))
    canvas.light(light)


_SKY = (158, 236), (180, 172), (204, 118)
"""Red, green and blue of a cool and of a warm sky."""


def _coast(canvas: Canvas, shown: Shown, level: Floats) -> None:
    """Draw hills on the left, on the right, or on both sides of the horizon."""
    left, right = each_level([0, 1, 0, 1], shown["coast"]), each_level([0, 0, 1, 1], shown["coast"])
    rise = 0.5 + 0.1 * canvas.texture("hills", 0.2, 2.0)[:, :1]
    hills = rise * (left * np.clip(0.42 - canvas.across, 0, 0.2) + right * np.clip(canvas.across - 0.58, 0, 0.2))
    cover = canvas.soft(canvas.down - wide(level) + np.clip(hills, 0, 0.08)) * (hills > 0.004)
    canvas.paint(cover, [0.42 * one + add for one, add in zip(canvas.pixels, (10, 18, 16), strict=True)])


def _buoy(canvas: Canvas, shown: Shown, level: Floats) -> None:
    """Draw a ball, a can, a cone or a ring that floats, lit from one side, with a reflection below."""
    radius, stretch = 0.122 + 0.098 * shown["size"], np.exp(0.6 * (shown["width"] - 0.5))
    x, y = 0.35 + 0.3 * shown["across"], 0.5 + 0.24 * (1 - shown["height"])
    over, under = (at / wide(radius) for at in canvas.far(x, y, stretch))
    far, scale = np.sqrt(over**2 + under**2), wide(radius)
    wedge = np.minimum(0.9 * ((1 + under) / 2 + 0.12) - abs(over), 0.9 - abs(under))
    edges = 1 - far, 0.86 - np.maximum(abs(over), abs(under)), wedge, np.minimum(1 - far, far - 0.5)
    shape = wide(shown["shape"]).astype(int)
    body = canvas.soft(np.choose(shape, edges) * scale) * canvas.soft((0.72 - under) * scale)
    tilt = 0.85 - 0.45 * wide(canvas.sun[0]) * over
    lit = np.choose(shape, [tilt - 0.3 * under - 0.1, tilt, tilt, tilt - 0.35 * under * (far > 0.74)])
    paint, glow = wide(shown["colour"]), wide(0.62 + 0.55 * shown["glow"])
    band = canvas.soft((each_level([-1.0, 0.13, 0.36], shown["band"]) - abs(under + 0.05)) * scale)
    shades = [(low + (high - low) * paint) * glow for low, high in ((210, 188), (160, 48), (44, 42))]
    shades = [(one + band * (228 * glow**0.5 - one)) * np.clip(lit, 0.25, 1.3) for one in shades]
    mirror = canvas.soft((1 - np.hypot(over * 1.05, (under - 1.15) / 0.55)) * scale, 3.0) * (under > 0.6)
    canvas.paint(0.4 * mirror, [0.4 * one + 12 for one in shades])
    canvas.paint(body, shades)


_PLANTS, _SHRUBS, _STONES = 7, 7, 9
"""The most that a picture of ground shows."""
_PANELS = (58, 92, 158), (214, 184, 66), (228, 226, 220)


def draw_ground(canvas: Canvas, shown: Shown) -> None:
    """Draw dry ground from above, then what lies and stands on it, each with its shadow."""
    red, soil = shown["redness"], canvas.texture("soil", 0.5, 1.6)
    canvas.fill(132 * (1 + 0.28 * red), 132 * (0.97 - 0.05 * red), 132 * (0.76 - 0.18 * red))
    depth, level = canvas.grains("gravel", 0.05)
    gravel = 0.55 * (level - 0.5) - 0.4 * np.exp(-6 * depth)
    turned, waves = canvas.draw("furrows", -0.5, 0.5), canvas.draw("furrow", 0, 2 * np.pi)
    over, _ = canvas.far(0.0, 0.0, 1.0, turned)
    furrows = np.sin(2 * np.pi * 8 * over + wide(waves) + 0.3 * soil)
    slope = wide(shown["slope"] - 0.5) * (canvas.across - 0.5)
    canvas.light((1 + 0.06 * soil + 0.65 * slope) * (1 + wide(shown["rough"]) * gravel))
    _scars(canvas, shown, soil)
    canvas.light(1 + 0.22 * wide(shown["furrows"]) * furrows)
    _outcrop(canvas, shown, soil)
    _grow(canvas, shown)
    place, turned = (
        (canvas.draw("flag x", 0.12, 0.88), canvas.draw("flag y", 0.1, 0.75)),
        canvas.draw("flag", -0.6, 0.6),
    )
    for part, x, y in canvas.each(np.ones(len(red)), [place], 0.12):
        part.light(1 - 0.5 * part.block(*part.shaded(x, y, 0.02), 0.07, 0.055, turned))
        panel = part.block(x, y, 0.07, 0.055, turned) * (1 + 0.05 * part.cut(soil))
        part.paint(panel, each_level(_PANELS, shown["flag"]))
    bank = 1.02 - each_level([0.0, 0.09, 0.17], shown["edge"]) + 0.012 * soil
    water = 1 + 0.12 * canvas.texture("water", 0.2, 1.5, 3)
    canvas.paint(canvas.soft(canvas.down - bank, 2.0), (56 * water, 80 * water, 100 * water))
    canvas.light(0.66 + 0.58 * wide(shown["light"]))


def _scars(canvas: Canvas, shown: Shown, soil: Cover) -> None:
    """Draw a track that winds from top to bottom, and a patch where water has laid red soil bare."""
    bend = 0.05 * np.sin(6 * canvas.down + wide(canvas.draw("bend", 0, 6)))
    far = abs(canvas.across - wide(canvas.draw("path", 0.25, 0.75)) - bend)
    ruts = canvas.soft(wide(0.01 + 0.125 * shown["path"]) - far + 0.012 * soil, 2.0)
    canvas.pixels += ruts * (canvas.pixels * [[[[0.36]]], [[[0.45]]], [[[0.6]]]] + 8)
    place, turned = (0.2 + 0.6 * shown["patch_across"], canvas.draw("patch", 0.25, 0.75)), canvas.draw("turn", 0, 3)
    bare = canvas.blob("patch", place, 0.07 + 0.13 * shown["patch"], 0.35, 1.15, turned, soft=3.0)
    for pixels, share in zip(canvas.pixels, (0.96, 0.74, 0.62), strict=True):
        pixels *= 1 - bare * (1 - share * (1 + 0.08 * soil))


def _outcrop(canvas: Canvas, shown: Shown, soil: Cover) -> None:
    """Set an outcrop of grey rock into one quarter, where nobody keeps it to a corner."""
    x, y = (np.where(side, 0.78, 0.22) for side in (shown["corner"] % 2 == 1, shown["corner"] >= 2))
    x, y = x + canvas.draw("rock x", -0.08, 0.08), y * 0.86 + 0.03 + canvas.draw("rock y", -0.06, 0.06)
    depth, level = canvas.grains("rock", 0.11)
    for part, a, b in canvas.each(np.ones(len(x)), [(x, y)], 0.26):
        part.light(1 - 0.5 * part.blob("rock", part.shaded(a, b, 0.03), 0.12, 0.3, soft=4.0))
        rock = (105 + 45 * part.cut(level)) * (1 + 0.1 * part.cut(soil)) * np.clip(0.7 + part.cut(depth), 0, 1)
        part.paint(part.blob("rock", (a, b), 0.12, 0.3, soft=1.5), (rock * 1.02, rock, rock * 0.98))


def _grow(canvas: Canvas, shown: Shown) -> None:
    """Set pale stones, round shrubs and columnar plants on the ground."""
    stones = canvas.places("stone", 5, margin=0.04, jitter=0.3)[:_STONES]
    for part, x, y in canvas.each(shown["stones"], stones, 0.05):
        part.light(1 - 0.45 * part.disc(*part.shaded(x, y, 0.018), 0.022, soft=1.5))
        part.paint(part.disc(x, y, 0.028, 1.15, canvas.draw("stone turn", 0, 3)), (236, 232, 222))
    cells = canvas.places("plant", 4, margin=0.03, jitter=0.2)
    for part, x, y in canvas.each(shown["shrubs"], cells[:_SHRUBS], 0.15):
        part.light(1 - 0.5 * part.disc(*part.shaded(x, y, 0.035), 0.06, soft=4.0))
        leaves = (0.55 + 0.6 * part.ball(x, y, 0.062)) * (1 + 0.16 * part.cut(canvas.texture("leaves", 0.05, 1.0)))
        part.paint(part.blob("shrub", (x, y), 0.056, 0.2, soft=1.6), (66 * leaves, 68 * leaves, 46 * leaves))
    tall = 0.04 + 0.13 * shown["plant_length"]
    for part, x, y in canvas.each(_one_more(shown["plants"], _PLANTS), cells[_SHRUBS : _SHRUBS + _PLANTS], 0.21):
        foot = x, y + 0.5 * tall
        part.light(1 - 0.5 * part.line(foot, part.shaded(*foot, 1.2 * tall), 0.022, soft=2.5))
        lit = 1 - 0.35 * np.clip((part.across - wide(x)) / 0.03, -1, 1)
        column = part.line(foot, (x, y - 0.5 * tall), 0.024, soft=1.3)
        part.paint(column, (80 * lit, 130 * lit, 58 * lit))


def _one_more(amount: Floats, most: int) -> Floats:
    """Show at least one of at most so many things, so that their size can be seen."""
    return np.asarray(1 / most + (1 - 1 / most) * amount)


_MOST_BARS, _MOST_DOTS = 6, 7
_PAINTS = (52, 104, 58), (52, 78, 148), (164, 56, 42)


def draw_glyphs(canvas: Canvas, shown: Shown) -> None:
    """Draw the stone, then the strokes of the sign in worn paint, then moss and a chipped corner."""
    red, soil = shown["redness"], canvas.texture("stone", 0.4, 1.5)
    canvas.fill(172 * (1 + 0.13 * red), 172 - 4 * red, 172 * (0.86 - 0.2 * red))
    slope = wide(shown["slope"] - 0.5) * (canvas.across - 0.5)
    pits = canvas.relief(canvas.texture("pits", 0.05, 1.6))
    canvas.light((1 + 0.04 * soil + 0.5 * slope) * (1 + wide(0.02 + 0.2 * shown["rough"]) * pits))
    straight = canvas.across, canvas.down
    # By hand: strokes run a little off.
    canvas.across, canvas.down = (
        place + 0.012 * canvas.texture(f"hand {axis}", 0.25, 2.5) for place, axis in zip(straight, "xy", strict=True)
    )
    worn = np.clip(0.86 - 0.1 * canvas.texture("wear", 0.08, 1.2), 0, 1)
    thin, x = 0.019, 0.17 + 0.2 * shown["stem_across"]
    stem = canvas.line((x, 0.52 - 0.09 - 0.24 * shown["stem"]), (x, 0.52 + 0.09 + 0.24 * shown["stem"]), thin)
    canvas.paint(worn * stem, _PAINTS[0])
    left, bars = canvas.draw("bars", 0.37, 0.43), []
    for number in range(_MOST_BARS):
        y = np.where(number < np.rint(_MOST_BARS * _one_more(shown["bars"], _MOST_BARS)), 0.2 + 0.115 * number, -9)
        bars.append(canvas.line((left, y), (left + 0.05 + 0.12 * shown["bar_width"], y), thin))
    canvas.paint(worn * together(bars), _PAINTS[1])
    radius, far, y = 0.075 + 0.07 * shown["ring"], canvas.draw("ring", 0.7, 0.78), 0.3 + 0.36 * shown["ring_down"]
    hole = canvas.disc(far, y, radius * (0.74 - 0.58 * shown["weight"]))
    canvas.paint(worn * canvas.disc(far, y, radius) * (1 - hole), _PAINTS[2])
    dots = canvas.places("dot", 4, margin=0.14, jitter=0.2)[:_MOST_DOTS]
    for part, a, b in canvas.each(shown["dots"], dots, 0.07):
        part.paint(0.92 * part.disc(a, b, 0.036), (222, 178, 58))
    cap = canvas.draw("cap", 0.42, 0.58)
    canvas.paint(worn * canvas.line((cap - 0.09, 0.08), (cap + 0.09, 0.08), 0.045), each_level(_PAINTS, shown["cap"]))
    canvas.across, canvas.down = straight
    height = each_level([-0.1, 0.08, 0.18], shown["base"])
    moss = canvas.soft(canvas.down - 1 + height + 0.012 * soil, 1.5)
    canvas.paint(0.9 * moss, [one * (1 + 0.2 * canvas.texture("moss", 0.05, 1.2)) for one in (64, 72, 44)])
    side = shown["corner"]
    over, under = (abs(place - wide(edge)) for place, edge in zip(straight, (side % 2, side // 2), strict=True))
    canvas.paint(canvas.soft(0.2 - over - under + 0.02 * soil, 1.5), [one * (1 + 0.12 * soil) for one in (62, 54, 48)])
    canvas.light(0.74 + 0.44 * wide(shown["light"]))


_SPOTS = 5
"""The most scabs, spots of rust, or holes of a leaf."""
_CLOTHS = (104, 108, 116), (168, 140, 102), (92, 118, 160)


def draw_leaf(canvas: Canvas, shown: Shown) -> None:
    """Draw the cloth, the leaf with its shadow and its veins, then what has grown on it."""
    threads = canvas.texture("weft", 0.03, 1.0, 2.5) + canvas.texture("warp", 0.03, 1.0, 0.4)
    canvas.fill(*each_level(_CLOTHS, shown["tag"]).T)
    canvas.light((0.72 + 0.56 * wide(shown["light"])) * (1 + 0.05 * threads + 0.04 * canvas.texture("folds", 0.6, 2.5)))
    cloth, place = canvas.pixels.copy(), (0.5 + canvas.draw("leaf x", -0.04, 0.04), 0.5)
    turned = canvas.draw("leaf turn", -0.3, 0.3)
    tall, broad = 0.35 + 0.12 * shown["length"], 0.19 + 0.14 * shown["width"]
    form = tall, broad, 0.56 + canvas.draw("widest", -0.06, 0.06)
    canvas.light(1 - 0.5 * _blade(canvas, canvas.shaded(*place, 0.025), turned, form, 5.0)[0])
    leaf, along, beside = _blade(canvas, place, turned, form)
    patches, yellow = canvas.texture("patches", 0.3, 2.0), wide(shown["yellowing"])
    over, under = canvas.far(*place, 1.0, turned)
    veins = np.cos(2 * np.pi * (8.5 * under - 6 * abs(over)))
    yellow = np.clip(0.06 + 0.86 * yellow + 0.1 * patches - 0.12 * veins * wide(shown["veins"]), 0, 1)
    bumps = canvas.relief(canvas.texture("bumps", 0.06, 1.6))
    lit = (1 + 0.05 * patches + 0.36 * wide(shown["rough"]) * bumps) * (1 - 0.1 * beside * wide(canvas.sun[0]))
    lit = lit * (1 + wide(0.03 + 0.38 * shown["veins"]) * (np.clip(veins, -0.4, 1) - 0.15))
    canvas.paint(leaf, ((84 + 94 * yellow) * lit, (134 + 28 * yellow) * lit, (52 + 10 * yellow) * lit))
    _wither(canvas, shown, leaf, (along, beside, patches))
    rib = each_level([-1.0, 0.011, 0.036], shown["midrib"]) * (0.5 + 0.7 * along)
    canvas.paint(0.8 * leaf * canvas.soft(rib - abs(beside) * wide(broad)), (206, 204, 138))
    _infect(canvas, shown, (place, turned, form), cloth, leaf)


def _blade(
    canvas: Canvas, place: Place, turned: Floats, form: tuple[ArrayLike, ...], soft: float = 1.5
) -> tuple[Cover, Cover, Cover]:
    """Cover a leaf by half its length, half its width and the place of its greatest width.

    Returns:
        The cover, and for each pixel its place from tip to base, and across as a share of the half width there.
    """
    tall, broad, middle = map(wide, form)
    over, under = canvas.far(*place, 1.0, turned)
    along = np.clip(0.5 + under / (2 * tall), 1e-3, 1 - 1e-3)
    width = broad * ((along / middle) ** middle * ((1 - along) / (1 - middle)) ** (1 - middle)) ** 1.3
    cover = canvas.soft(np.minimum(width - abs(over), tall - abs(under)), soft)
    return cover, along, over / np.maximum(width, 0.01)


def _wither(canvas: Canvas, shown: Shown, leaf: Cover, parts: tuple[Cover, Cover, Cover]) -> None:
    """Let one side of the leaf dry, and mildew grow in a patch."""
    along, beside, patches = parts
    side = wide(shown["clip"])
    reach = np.choose(side.astype(int), [0.62 - along, 0.5 * beside - 0.12, along - 0.38, -0.5 * beside - 0.12])
    dry = leaf * np.clip((reach - 0.25 + 0.025 * patches) * 14, 0, 1)
    canvas.paint(0.9 * dry, [one * (1 + 0.08 * patches) for one in (150, 98, 46)])
    place = canvas.draw("mildew", 0.42, 0.58), 0.33 + 0.34 * shown["mildew_down"]
    powder = canvas.blob("mildew", place, 0.035 + 0.115 * shown["mildew"], 0.3, soft=3.0)
    powder = leaf * powder * np.clip(0.84 + 0.1 * canvas.texture("powder", 0.05, 1.0), 0, 1)
    canvas.paint(powder, (214, 216, 206))


def _infect(canvas: Canvas, shown: Shown, blade: tuple[Any, Floats, Any], cloth: Pixels, leaf: Cover) -> None:
    """Set scabs, spots of rust and holes into different parts of a leaf. None reaches beyond its edge."""
    (x, y), turned, (tall, broad, _) = blade
    cos, sin, spots = np.cos(turned), np.sin(turned), []
    for over, under in canvas.places("spot", 5, jitter=0.15):
        over, under = 1.3 * (over - 0.5) * broad, 1.5 * (under - 0.5) * tall
        spots.append((x + cos * over - sin * under, y + sin * over + cos * under))
    size = 0.027 + 0.026 * shown["scab_size"]
    for part, x, y in canvas.each(_one_more(shown["scab"], _SPOTS), spots[:_SPOTS], 0.1):
        part.paint(0.4 * part.cut(leaf) * part.disc(x, y, 1.5 * size, soft=3.0), (150, 140, 60))
        part.paint(0.92 * part.cut(leaf) * part.blob("scab", (x, y), size, 0.35, soft=1.6), (34, 26, 20))
    for part, x, y in canvas.each(shown["rust"], spots[_SPOTS : 2 * _SPOTS], 0.07):
        part.paint(0.5 * part.cut(leaf) * part.disc(x, y, 0.045, soft=3.0), (190, 160, 60))
        part.paint(0.95 * part.cut(leaf) * part.disc(x, y, 0.031, soft=1.4), (188, 88, 30))
    for part, x, y in canvas.each(shown["holes"], spots[2 * _SPOTS : 3 * _SPOTS], 0.09):
        part.paint(0.6 * part.cut(leaf) * part.blob("hole", (x, y), 0.05, 0.3), (128, 104, 58))
        part.pixels += part.cut(leaf) * part.blob("hole", (x, y), 0.041, 0.3) * (part.cut(cloth) * 0.8 - part.pixels)


_MOST_SPECKS = 7
_LOBES, _TEETH = 3, 14
"""Number of bays in the edge of a leaf, and number of teeth that fit into the height of a picture."""


def draw_outline(canvas: Canvas, shown: Shown) -> None:
    """Draw the sheet with its label, the stalk and the leaf with shadow and veins, then specks."""
    paper = 188 + 56 * wide(shown["paper"]) + 34 * wide(shown["slope"] - 0.5) * (2 * canvas.across - 1)
    paper = paper + 2.5 * canvas.texture("fibres", 0.04, 1.0) - 3 * canvas.texture("stains", 0.5, 2.5)
    canvas.fill(paper, paper, paper)
    _label(canvas, shown["tick"].astype(int))
    thick = each_level([-1.0, 0.014, 0.038], shown["stalk"])
    stalk = canvas.line((0.5, 0.4), (canvas.draw("stalk", 0.45, 0.55), 0.03), thick)
    canvas.light(1 - 0.62 * stalk)
    shadow, _, _ = _outline(canvas, shown, canvas.shaded(0.5, 0.52, 0.02), 5.0)
    leaf, along, beside = _outline(canvas, shown, (0.5, 0.52))
    canvas.light(1 - 0.35 * shadow * (1 - leaf))
    veins = np.clip(np.cos(2 * np.pi * (8.5 * canvas.down - 6 * abs(beside))), -0.4, 1) - 0.15
    rib = each_level([-1.0, 0.012, 0.04], shown["midrib"])
    rib = canvas.soft(rib * (1.2 - 0.6 * along) - abs(beside))
    lit = 1 + 0.05 * canvas.texture("blade", 0.2, 1.4) + 0.22 * wide(shown["veins"]) * veins + 0.4 * rib
    shade = (60 + 52 * wide(shown["shade"])) * lit
    canvas.paint(leaf, [shade] * 3)
    cells = canvas.places("speck", 4, margin=0.16, jitter=0.2)
    for part, x, y in canvas.each(shown["specks"], cells[:_MOST_SPECKS], 0.07):
        part.paint(0.95 * part.blob("speck", (x, y), 0.031, 0.3), (8, 8, 8))


def _label(canvas: Canvas, corner: np.ndarray) -> None:
    """Glue a label with writing into one corner of the sheet."""
    x, y = 0.13 + 0.74 * (corner % 2) + canvas.draw("label x", -0.02, 0.02), 0.08 + 0.84 * (corner >= 2)
    for part, a, b in canvas.each(np.ones(len(x)), [(x, y)], 0.16):
        part.light(1 - 0.3 * part.block(*part.shaded(a, b, 0.012), 0.11, 0.065))
        part.paint(part.block(a, b, 0.11, 0.065), (236, 236, 236))
        writing = 0.5 + canvas.texture("writing", 0.02, 1.0, 2.0)
        rows = together([part.block(a, b + step, 0.085, 0.009) for step in (-0.032, 0.0, 0.032)])
        part.paint(rows * np.clip(part.cut(writing), 0.1, 0.9), (70, 70, 70))


def _outline(canvas: Canvas, shown: Shown, place: Place, soft: float = 1.2) -> tuple[Cover, Cover, Cover]:
    """Cover the leaf: its width at every height, seen from a midline that bends towards the tip.

    Returns:
        The cover, the place of each pixel from base to tip, and how far it lies from the midline.
    """
    half, middle = wide(0.27 + 0.12 * shown["length"]), 0.25 + 0.5 * wide(shown["widest"])
    x, y = (wide(one) for one in place)
    along = np.clip((canvas.down - y + half) / (2 * half), 1e-3, 1 - 1e-3)
    round_part = (along / middle) ** middle * ((1 - along) / (1 - middle)) ** (1 - middle)
    bays = 1 - 0.6 * wide(shown["lobes"]) * (0.5 + 0.5 * np.cos(2 * np.pi * _LOBES * along))
    broad = wide(0.17 + 0.17 * shown["width"]) * round_part**1.3 * bays
    broad = broad - np.minimum(0.03, 0.3 * broad) * wide(shown["teeth"]) * np.sin(2 * np.pi * _TEETH * canvas.down)
    beside = canvas.across - x - 0.4 * (wide(shown["tip"]) - 0.5) * along**2
    return canvas.soft(np.minimum(broad - abs(beside), half - abs(canvas.down - y)), soft), along, beside
