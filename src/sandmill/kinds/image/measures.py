"""Measure on pictures what a description says that they show, here and in scripts."""

# mypy: disable-error-code="no-any-return"
# mypy knows no type for sums of arrays; casts would become part of the published scripts.

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from sandmill.kinds.image.files import reading_lines
from sandmill.kinds.image.scenes import sights_of
from sandmill.kinds.library import load_texts
from sandmill.kinds.memo import once_a_row
from sandmill.kinds.script_text import WIDTH, Reader, functions_source, quoted
from sandmill.models.channel import Cue
from sandmill.models.package import TaskFacts

PARTS = load_texts("image/parts.yaml")
"""Names that measures of sights may use, as source."""
_PICTURES = Reader(reading_lines)
"""Reads ids, cells and targets, and the pixels of both parts."""


def read(folder: Path, facts: TaskFacts, cues: tuple[Cue, ...]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Read ids and targets, and an estimate of the column of each cue."""
    names, lines = _PICTURES.run(folder, facts), measuring_lines(cues)
    train, test = (
        pd.concat([names[part], estimates(names[f"{part}_pixels"], lines)], axis=1) for part in ("train", "test")
    )
    return train, test


def source(facts: TaskFacts, cues: tuple[Cue, ...]) -> list[str]:
    """The same as lines of a script."""
    lines = measuring_lines(cues)
    text = "\n".join(lines)
    used = [function for function in FUNCTIONS if re.search(rf"\b{function.__name__}\(", text)]
    return [
        *functions_source(*used),
        "",
        "",
        *lines,
        *reading_lines(facts),
        "train = pd.concat([train, measure(train_pixels)], axis=1)",
        "test = pd.concat([test, measure(test_pixels)], axis=1)",
    ]


def measuring_lines(cues: Sequence[Cue]) -> tuple[str, ...]:
    """Write a function that estimates the column of each cue: its reading, put on the scale of the column."""
    sights = [sights_of(scene)[name] for scene, _, name in (cue.measure.partition(".") for cue in cues)]
    used, made = set[str](), list[str]()
    for cue, sight in zip(cues, sights, strict=True):
        used |= set(re.findall(r"\w+", sight.measure))
        low, high = sight.ends
        line = f"    made[{quoted(cue.column)}] = on_scale({sight.measure}, {low:g}, {high:g})"
        is_long = len(line) > WIDTH
        made += [f"    reading = {sight.measure}", line.replace(sight.measure, "reading", 1)] if is_long else [line]
    for name, text in reversed(PARTS.items()):
        used |= set(re.findall(r"\w+", text)) if name in used else set()
    return (
        "def measure(pixels):",
        '    """Measure on each picture what the description says that it shows."""',
        *(f"    {name} = {text}" for name, text in PARTS.items() if name in used),
        "    made = {}",
        *made,
        "    return pd.DataFrame(made)",
    )


def estimates(pixels: np.ndarray, lines: tuple[str, ...]) -> pd.DataFrame:
    """Run the function that the lines define."""
    names: dict[str, Any] = {"np": np, "pd": pd, **{function.__name__: function for function in FUNCTIONS}}
    exec("\n".join(lines), names)
    return names["measure"](pixels)


def on_scale(reading: np.ndarray, low: float, high: float) -> np.ndarray:
    """Put a reading on the scale of its column, which is 0 at one end and 1 at the other."""
    return np.round((np.asarray(reading, dtype=float) - low) / (high - low), 5)


def soften(values: np.ndarray, wide: float, high: float = 0) -> np.ndarray:
    """Average every pixel with its neighbours, the nearest most; widths are 64ths of a side."""
    from scipy.ndimage import gaussian_filter

    scale = values.shape[2] / 64
    return gaussian_filter(values, ((high or wide) * scale, wide * scale), axes=(1, 2), truncate=2.5)


def total(pixels: np.ndarray) -> np.ndarray:
    """Sum of the three colours."""
    return pixels @ np.ones(3, np.float32)


def least(pixels: np.ndarray) -> np.ndarray:
    """Smallest of the three colours."""
    return np.minimum(np.minimum(pixels[..., 0], pixels[..., 1]), pixels[..., 2])


def tint(pixels: np.ndarray, red: float, green: float, blue: float) -> np.ndarray:
    """A colour index that light and shadow do not change."""
    return pixels @ np.array([red, green, blue], np.float32) / (total(pixels) + 20)


def beyond(values: np.ndarray) -> np.ndarray:
    """Difference from the median of the picture."""
    return values - np.median(values, axis=(1, 2), keepdims=True)


def peaks(values: np.ndarray, cut: float, apart: int = 5) -> np.ndarray:
    """Number of places with more than a cut that are higher than all around them."""
    from scipy.ndimage import maximum_filter

    return ((values == maximum_filter(values, apart, axes=(1, 2))) & (values > cut)).sum(axis=(1, 2))


def highest_quarter(values: np.ndarray) -> np.ndarray:
    """Quarter with the largest value: 0 top left, 1 top right, 2 bottom left, 3 bottom right."""
    half, end = values.shape[1] // 2, values.shape[1] * 17 // 20
    rows, columns = (slice(half), slice(half, end)), (slice(half), slice(half, None))
    return np.argmax([values[:, row, column].max(axis=(1, 2)) for row in rows for column in columns], axis=0)


def corner_with(values: np.ndarray, high: float, wide: float) -> np.ndarray:
    """Corner with the largest mean: 0 top left, 1 top right, 2 bottom left, 3 bottom right."""
    corners = [(top, left, top + high, left + wide) for top in (0, 1 - high) for left in (0, 1 - wide)]
    return np.argmax([level(box(values, *one)) for one in corners], axis=0)


def waves(values: np.ndarray, low: float, high: float) -> np.ndarray:
    """Strength of parallel waves of which so many fit into the side of a picture."""
    side = values.shape[1]
    strength = np.abs(np.fft.rfft2(beyond(values))) / side**2
    count = np.hypot(np.fft.fftfreq(side, 1 / side)[:, None], np.arange(side // 2 + 1))
    return strength[:, (count >= low) & (count <= high)].max(axis=1) / values.mean(axis=(1, 2))


def border(values: np.ndarray) -> np.ndarray:
    """Median along the edges of each picture."""
    wide = max(2, values.shape[1] // 20)
    parts = values[:, :wide], values[:, -wide:], values[:, :, :wide].swapaxes(1, 2), values[:, :, -wide:].swapaxes(1, 2)
    return np.median(np.concatenate(parts, axis=1), axis=(1, 2), keepdims=True)


def lying(thing: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Place of each pixel across and down an upright thing, from its middle along its own axes, as shares of a side."""
    places = (np.arange(thing.shape[1]) + 0.5) / thing.shape[1]
    total = np.maximum(thing.sum(axis=(1, 2)), 1)[:, None, None]
    over, under = np.broadcast_arrays(
        (places - across(thing)[:, None, None]).astype("f4"), (places - down(thing)[:, None]).astype("f4")[:, :, None]
    )
    spread = [(thing * one).sum(axis=(1, 2), keepdims=True) / total for one in (over**2, under**2, over * under)]
    angle = np.arctan2(-2 * spread[2], spread[1] - spread[0]) / 2
    return np.cos(angle) * over + np.sin(angle) * under, np.cos(angle) * under - np.sin(angle) * over


def within(values: np.ndarray, thing: np.ndarray) -> np.ndarray:
    """Median index of the pixels of the thing, or of all pixels where there is none."""
    thing = thing | ~thing.any(axis=(1, 2), keepdims=True)
    ordered = np.sort(np.where(thing, values, np.inf).reshape(len(values), -1), axis=1)
    return np.take_along_axis(ordered, thing.sum(axis=(1, 2))[:, None] // 2, axis=1)[:, 0]


def filled(thing: np.ndarray) -> np.ndarray:
    """The thing without holes."""
    from scipy.ndimage import binary_fill_holes

    return binary_fill_holes(thing, np.ones((1, 3, 3), int))


def pattern(values: np.ndarray, thing: np.ndarray, turns: np.ndarray) -> np.ndarray:
    """Strength of waves of the index within the thing, whose place in a wave is given in turns."""
    values = np.where(thing, np.clip(values / within(values, thing)[:, None, None] - 1, -0.3, 0.3), 0)
    angles = (2 * np.pi * turns).astype(np.float32)
    parts = [(values * one).sum(axis=(1, 2)) for one in (np.cos(angles), np.sin(angles))]
    return np.hypot(*parts) / np.maximum(thing.sum(axis=(1, 2)), 1)


def unlike_edges(pixels: np.ndarray) -> np.ndarray:
    """How much each pixel differs in brightness and in colour from the left and right end of its row."""
    wide = pixels.shape[2] // 6
    ends = np.median(np.concatenate([pixels[:, :, :wide], pixels[:, :, -wide:]], axis=2), axis=2, keepdims=True)
    hues, of_ends = (values / total(values)[..., None] for values in (pixels, ends))
    return total(np.abs(pixels - ends)) / total(ends) + 4 * total(np.abs(hues - of_ends))


def biggest(thing: np.ndarray) -> np.ndarray:
    """The largest piece of the thing in each picture."""
    from scipy.ndimage import label

    beside = np.zeros((3, 3, 3), int)
    beside[1] = 1
    named, count = label(thing, beside)
    size = np.bincount(named.ravel(), minlength=count + 1)
    size[0] = 0
    sizes = size[named]
    return (sizes > 0) & (sizes == sizes.max(axis=(1, 2), keepdims=True))


def top_width(thing: np.ndarray) -> np.ndarray:
    """Width of the second and third row of the thing, as a share of its greatest width."""
    width = thing.sum(axis=2)
    rows = np.minimum((width > 0).argmax(axis=1)[:, None] + [1, 2], thing.shape[1] - 1)
    return np.take_along_axis(width, rows, axis=1).mean(axis=1) / np.maximum(width.max(axis=1), 1)


def hilly_ends(values: np.ndarray, horizon: np.ndarray) -> np.ndarray:
    """Whether it is dark above the horizon: 1 on the left, 2 on the right, 3 on both sides."""
    places = np.arange(values.shape[1]) / values.shape[1]
    above = horizon[:, None, None] - places[:, None]
    levels = [
        within(values, (above > 0.005) & (above < 0.05) & (places >= start) & (places < start + 0.12))
        for start in (0, 0.44, 0.88)
    ]
    return (levels[0] < 0.75 * levels[1]) + 2 * (levels[2] < 0.75 * levels[1])


def ripples(thing: np.ndarray, count: float) -> np.ndarray:
    """How much the width of the thing goes up and down, so many times over the whole height of a picture."""
    width, places = thing.sum(axis=2), np.arange(thing.shape[1]) / thing.shape[1]
    return np.abs(width @ np.exp(2j * np.pi * count * places)) / np.maximum(width.sum(axis=1), 1)


def box(values: np.ndarray, *edges: float) -> np.ndarray:
    """Cut out a part of each picture: top, left, bottom and right edge as shares of the side."""
    top, left, bottom, right = (round(edge * values.shape[1]) for edge in edges)
    return values[:, top:bottom, left:right]


def level(values: np.ndarray) -> np.ndarray:
    """Mean index."""
    return values.mean(axis=(1, 2))


def middle(values: np.ndarray) -> np.ndarray:
    """Median index in the box, which small things do not change."""
    return np.median(values, axis=(1, 2))


def slope(values: np.ndarray) -> np.ndarray:
    """How much higher the index is in the right quarter than in the left."""
    quarter = values.shape[2] // 4
    return middle(values[:, :, -quarter:]) - middle(values[:, :, :quarter])


def rough(values: np.ndarray) -> np.ndarray:
    """How much pixels that lie two apart typically differ, from top to bottom."""
    return np.median(np.abs(values[:, 2:] - values[:, :-2]), axis=(1, 2))


def area(thing: np.ndarray) -> np.ndarray:
    """Share of the box that the thing covers."""
    return thing.mean(axis=(1, 2))


def inside(values: np.ndarray, thing: np.ndarray) -> np.ndarray:
    """Mean index of the pixels of the object."""
    return (values * thing).sum(axis=(1, 2)) / np.maximum(thing.sum(axis=(1, 2)), 1)


def aspect(thing: np.ndarray) -> np.ndarray:
    """Logarithm of the width of the thing divided by its height: standard deviations of places."""
    found = []
    for line in (thing.sum(axis=1), thing.sum(axis=2)):
        places, total = np.arange(line.shape[1]), np.maximum(line.sum(axis=1), 1)
        middles = (line @ places / total)[:, None]
        found.append(np.sqrt((line * (places - middles) ** 2).sum(axis=1) / total) + 0.3)
    return np.log(found[0] / found[1])


def across(thing: np.ndarray) -> np.ndarray:
    """Place of the thing from left to right; the middle where there is none."""
    places = (np.arange(thing.shape[2]) + 0.5) / thing.shape[2]
    return np.where(thing.any(axis=(1, 2)), inside(places, thing), 0.5)


def down(thing: np.ndarray) -> np.ndarray:
    """Place of the thing from top to bottom; the middle where there is none."""
    return across(thing.swapaxes(1, 2))


def lower_end(thing: np.ndarray) -> np.ndarray:
    """How far down the thing reaches."""
    return (thing.any(axis=2) * np.arange(1, thing.shape[1] + 1)).max(axis=1) / thing.shape[1]


def extent_across(thing: np.ndarray) -> np.ndarray:
    """Widest row of the thing."""
    return np.sort(thing.sum(axis=2), axis=1)[:, -2:].mean(axis=1) / thing.shape[2]


def fullness(thing: np.ndarray) -> np.ndarray:
    """Pixels of the thing, as a share of the disc that would be as wide."""
    wide, high = (thing.any(axis=axis).sum(axis=1) for axis in (1, 2))
    return thing.sum(axis=(1, 2)) / np.maximum(0.785 * wide * high, 4)


def tip_across(thing: np.ndarray) -> np.ndarray:
    """Place of the lowest pixels of the thing from left to right; the middle where there is none."""
    rows = np.arange(2, thing.shape[1] + 2) / thing.shape[1]
    return across(thing & (rows[:, None] >= lower_end(thing)[:, None, None]))


def pieces(thing: np.ndarray) -> np.ndarray:
    """Number of separate pieces of the thing."""
    from scipy.ndimage import label

    beside = np.zeros((3, 3, 3), int)
    beside[1] = [[0, 1, 0], [1, 1, 1], [0, 1, 0]]
    named, count = label(thing, beside)
    first = np.zeros(count + 1, int)
    picture = np.nonzero(named)[0]
    first[named[named > 0]] = picture
    return np.bincount(first[1:], minlength=len(thing)).astype(float)


def piece(thing: np.ndarray) -> np.ndarray:
    """Pixels of a piece of the thing, on average over the pieces, as a share of the box."""
    return area(thing) / np.maximum(pieces(thing), 1)


def line_end(values: np.ndarray, rise: float = 15) -> tuple[np.ndarray, np.ndarray]:
    """Follow a thin bright line from the upper edge down: height and place of its end, as shares of the box."""
    wider = np.pad(values, ((0, 0), (0, 0), (2, 2)), mode="edge")
    ridge = values - np.maximum(wider[:, :, :-4], wider[:, :, 4:])
    total, found = ridge[:, 0] * 0, []
    for row in np.clip(ridge, -rise, 3 * rise).swapaxes(0, 1):
        beside = np.pad(total, ((0, 0), (1, 1)), mode="edge")
        total = np.maximum.reduce([beside[:, :-2], total, beside[:, 2:]]) + row - rise
        found.append(total)
    last = np.stack(found, axis=1).reshape(len(values), -1).argmax(axis=1)
    return last // values.shape[2] / values.shape[1], last % values.shape[2] / values.shape[2]


def dots(values: np.ndarray, far: float, cut: float) -> np.ndarray:
    """Find small round things: brighter by the cut than one of any two opposite places at a distance, a share."""
    from scipy.ndimage import gaussian_filter

    far, found = far * values.shape[1], []
    smooth = gaussian_filter(values, (0, far / 4, far / 4))
    for angle in np.arange(8) * np.pi / 8:
        step = round(far * np.sin(angle)), round(far * np.cos(angle))
        found.append(np.minimum(np.roll(smooth, step, (1, 2)), np.roll(smooth, (-step[0], -step[1]), (1, 2))))
    return smooth - np.maximum.reduce(found) > cut


def layers(values: np.ndarray, strips: int) -> np.ndarray:
    """How much rows differ from rows above and below, in each of several strips side by side."""
    from scipy.ndimage import uniform_filter1d

    rows = np.stack([strip.mean(axis=2) for strip in np.array_split(values, strips, axis=2)], axis=1)
    return (uniform_filter1d(rows, 3, axis=2) - uniform_filter1d(rows, 9, axis=2)).std(axis=2).min(axis=1)


def opened(values: np.ndarray, size: int) -> np.ndarray:
    """Take away what is brighter than its surroundings and narrower than some pixels."""
    from scipy.ndimage import grey_opening

    return grey_opening(values, (1, size, size))


def relative(values: np.ndarray) -> np.ndarray:
    """Divide by the median of the inner part of the picture."""
    return values / np.maximum(middle(box(values, 0.14, 0.14, 0.86, 0.86)), 1e-6)[:, None, None]


def from_middle(thing: np.ndarray) -> np.ndarray:
    """How far the pixels of the thing lie from the middle of the box, on average."""
    places = (np.arange(thing.shape[1]) + 0.5) / thing.shape[1] - 0.5
    return inside(np.hypot(places[:, None], places)[None], thing)


def top(values: np.ndarray, share: float = 0.1) -> np.ndarray:
    """Mean of the largest indices, those of a share of the pixels."""
    ordered = np.sort(values.reshape(len(values), -1), axis=1)
    return ordered[:, -max(1, round(share * ordered.shape[1])) :].mean(axis=1)


FUNCTIONS: Sequence[Any] = (
    on_scale, soften, total, least, tint, beyond, peaks, highest_quarter, corner_with, waves, border, lying, within,
    filled, pattern, unlike_edges, biggest, top_width, hilly_ends, ripples, box, level, middle, slope, rough, area,
    inside, aspect, across, down, lower_end, extent_across, fullness, tip_across, pieces, piece, line_end, dots, layers,
    opened, relative, from_middle, top,
)  # fmt: skip
"""Functions that measures are written with."""


estimates = once_a_row(estimates)


def remembered(cues: Sequence[Cue]) -> dict[str, Callable[[np.ndarray], pd.DataFrame]]:
    """Return a function in place of that of a script, which keeps its estimates."""
    lines = measuring_lines(cues)
    return {"measure": lambda pixels: estimates(pixels, lines)}
