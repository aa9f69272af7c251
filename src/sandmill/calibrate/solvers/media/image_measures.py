"""Measure on pictures what a description says that they show, here and in scripts."""

# mypy: disable-error-code="no-any-return"
# Sums of arrays are of no known type, and annotations here are part of the scripts.

import inspect
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from sandmill.calibrate.solvers.media.image_files import read_pictures, reading_lines
from sandmill.calibrate.solvers.media.memo import once
from sandmill.models.channels import Cue
from sandmill.models.channels.sights import sights_of
from sandmill.models.package import TaskFacts

INDICES: Mapping[str, tuple[float, float, float]] = {
    "grey": (1 / 3, 1 / 3, 1 / 3),
    "red": (1, -0.5, -0.5),
    "green": (-0.5, 1, -0.5),
    "blue": (-0.5, -0.5, 1),
    "yellow": (0.5, 0.5, -1),
    "magenta": (0.5, -1, 0.5),
    "cyan": (-1, 0.5, 0.5),
    "rust": (1, -1, 0),
    "warm": (1, 0, -1),
    "red_part": (1, 0, 0),
    "violet": (0.25, -1, 0.75),
    "leafy": (0, 1, -1),
    "grassy": (-1, 1, 0),
    "green_part": (0, 1, 0),
    "black": (-1 / 3, -1 / 3, -1 / 3),
}
"""Weights of red, green and blue in each colour index. Those of colours are 0 for greys of any brightness."""


def read(folder: Path, facts: TaskFacts, cues: tuple[Cue, ...]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Read ids and targets, and an estimate of the column of each cue."""
    rows = cue_rows(cues)
    train, test = (
        pd.concat([table, estimates(pixels, rows)], axis=1) for table, pixels in read_pictures(folder, facts)
    )
    return train, test


def source(facts: TaskFacts, cues: tuple[Cue, ...]) -> list[str]:
    """The same as lines of a script."""
    rows = cue_rows(cues)
    used = {row[1] for row in rows}
    functions = [*_SHARED, *(one for name, one in MEASURES.items() if name in used and one not in _SHARED), estimates]
    return [
        *reading_lines(facts),
        f"INDICES = {INDICES!r}",
        "CUES = [",
        *(f"    {row!r}," for row in rows),
        "]",
        *(line for function in functions for line in ("", "", *inspect.getsource(function).splitlines())),
        "",
        "",
        f"MEASURES = {{{', '.join(f'{name!r}: {f.__name__}' for name, f in MEASURES.items() if name in used)}}}",
        "train = pd.concat([train, estimates(train_pixels, CUES)], axis=1)",
        "test = pd.concat([test, estimates(test_pixels, CUES)], axis=1)",
    ]


def cue_rows(cues: Sequence[Cue]) -> list[tuple[Any, ...]]:
    """Return what a script needs to know of each cue: column, measure, colour, cut, ends, boxes."""
    rows = []
    for cue in cues:
        scene, _, name = cue.measure.partition(".")
        sight = sights_of(scene)[name]
        rows.append((cue.column, sight.measure, *sight.reading(is_turned=bool(cue.parameters))))
    return rows


def estimates(pixels: np.ndarray, cues: "list[Any]") -> pd.DataFrame:
    """Estimate the column of each cue: its reading, put on the scale of the column."""
    made = {}
    for column, name, colour, cut, low, high, boxed, *rest in cues:
        count = int(boxed)
        boxes = np.reshape(rest[: 4 * count], (count, 4))
        reading = MEASURES[name](pixels, colour, cut, boxes, rest[4 * count :])
        made[column] = np.round((reading - low) / (high - low), 5)
    return pd.DataFrame(made)


def index_of(pixels: np.ndarray, colour: str) -> np.ndarray:
    """Give each pixel a colour index; bright and dark are relative to the middle of the picture."""
    grey = pixels.mean(axis=3)
    if colour in ("bright", "dark"):
        grey = grey - np.median(grey, axis=(1, 2), keepdims=True)
        return grey if colour == "bright" else -grey
    if colour == "white":
        return pixels.min(axis=3)
    if colour == "object":
        # The background changes in a straight line from left to right: what differs is the object
        left, right = (pixels[:, :, part].mean(axis=2)[:, :, None] for part in (slice(1, 4), slice(-4, -1)))
        run = np.linspace(0, 1, pixels.shape[2], dtype=pixels.dtype)[:, None]
        return np.abs(pixels - left * (1 - run) - right * run).sum(axis=3)
    return pixels @ np.array(INDICES[colour], dtype=pixels.dtype)


def box_of(values: np.ndarray, box: np.ndarray) -> np.ndarray:
    """Cut out a part of each picture."""
    side = values.shape[1]
    top, left, bottom, right = (round(edge * side) for edge in box)
    return values[:, top:bottom, left:right]


def thing_of(pixels: np.ndarray, colour: str, cut: float, boxes: np.ndarray) -> np.ndarray:
    """Say which pixels of the box belong to the thing."""
    return box_of(index_of(pixels, colour), boxes[0]) > cut


def level(pixels: np.ndarray, colour: str, cut: float, boxes: np.ndarray, more: list[float]) -> np.ndarray:
    """Mean index in the boxes."""
    values = index_of(pixels, colour)
    return np.mean([box_of(values, box).mean(axis=(1, 2)) for box in boxes], axis=0)


def middle(pixels: np.ndarray, colour: str, cut: float, boxes: np.ndarray, more: list[float]) -> np.ndarray:
    """Median index in the box, which small things do not change."""
    return np.median(box_of(index_of(pixels, colour), boxes[0]), axis=(1, 2))


def slope(pixels: np.ndarray, colour: str, cut: float, boxes: np.ndarray, more: list[float]) -> np.ndarray:
    """How much the index rises from left to right, things that stand out left aside."""
    values = box_of(index_of(pixels, colour), boxes[0])
    values = values - np.median(values, axis=(1, 2), keepdims=True)
    places = np.linspace(-1, 1, values.shape[2])
    return np.clip(values, -40, 40).mean(axis=1) @ places / (places @ places)


def stripes(pixels: np.ndarray, colour: str, cut: float, boxes: np.ndarray, more: list[float]) -> np.ndarray:
    """Height of stripes of two bright and two dark rows: each row against those two above and two below."""
    values = index_of(pixels, colour)
    rises = values[:, 2:-2] - (values[:, :-4] + values[:, 4:]) / 2
    sign = np.where(np.arange(2, values.shape[1] - 2) % 4 < 2, 1, -1)[None, :, None]
    inner = np.pad(rises * sign, ((0, 0), (2, 2), (0, 0)), mode="edge")
    return np.median(box_of(inner, boxes[0]), axis=(1, 2))


def hue(pixels: np.ndarray, colour: str, cut: float, boxes: np.ndarray, more: list[float]) -> np.ndarray:
    """Median index in the box, relative to the brightness there."""
    bright = np.maximum(middle(pixels, "grey", cut, boxes, more), 10)
    return middle(pixels, colour, cut, boxes, more) / bright


def rough(pixels: np.ndarray, colour: str, cut: float, boxes: np.ndarray, more: list[float]) -> np.ndarray:
    """How much pixels that lie three apart typically differ."""
    values = box_of(index_of(pixels, colour), boxes[0])
    return np.median(np.abs(values[:, :, 3:] - values[:, :, :-3]), axis=(1, 2))


def area(pixels: np.ndarray, colour: str, cut: float, boxes: np.ndarray, more: list[float]) -> np.ndarray:
    """Share of the box that the thing covers."""
    return thing_of(pixels, colour, cut, boxes).mean(axis=(1, 2))


def amount(pixels: np.ndarray, colour: str, cut: float, boxes: np.ndarray, more: list[float]) -> np.ndarray:
    """Pixels of the thing in all boxes."""
    thing = index_of(pixels, colour) > cut
    return np.sum([box_of(thing, box).sum(axis=(1, 2)) for box in boxes], axis=0).astype(float)


def inside(pixels: np.ndarray, colour: str, cut: float, boxes: np.ndarray, more: list[float]) -> np.ndarray:
    """Mean index of the pixels of the object."""
    thing = thing_of(pixels, "object", cut, boxes)
    return (box_of(index_of(pixels, colour), boxes[0]) * thing).sum(axis=(1, 2)) / np.maximum(thing.sum(axis=(1, 2)), 1)


def tint_inside(pixels: np.ndarray, colour: str, cut: float, boxes: np.ndarray, more: list[float]) -> np.ndarray:
    """How much redder than blue the object is, relative to its brightness."""
    warm, green = (inside(pixels, one, cut, boxes, more) for one in ("warm", "green_part"))
    return warm / np.maximum(green, 10)


def spreads(thing: np.ndarray) -> list[np.ndarray]:
    """Standard deviations of the places of pixels across and down."""
    found, total = [], np.maximum(thing.sum(axis=(1, 2)), 1)
    for axis in (1, 2):
        line = thing.sum(axis=axis)
        places = np.arange(line.shape[1])
        middle = line @ places / total
        found.append(np.sqrt((line * (places - middle[:, None]) ** 2).sum(axis=1) / total))
    return found


def aspect(pixels: np.ndarray, colour: str, cut: float, boxes: np.ndarray, more: list[float]) -> np.ndarray:
    """Logarithm of the width of the thing divided by its height."""
    wide, high = spreads(thing_of(pixels, colour, cut, boxes))
    return np.log((wide + 0.3) / (high + 0.3))


def form(pixels: np.ndarray, colour: str, cut: float, boxes: np.ndarray, more: list[float]) -> np.ndarray:
    """Shape of the thing: 0 disc, 1 block, 2 wedge that is wide below, 3 ring."""
    thing = thing_of(pixels, colour, cut, boxes)
    wide, high = spreads(thing)
    size = np.maximum(thing.sum(axis=(1, 2)), 1)
    filled = size / (12 * wide * high + 1)
    half = across(pixels.swapaxes(1, 2), colour, cut, boxes[:, [1, 0, 3, 2]], more)
    rows = (np.arange(thing.shape[1]) + 0.5) / thing.shape[1]
    width = thing.sum(axis=2)
    below, above = ((width * side).max(axis=1) for side in (rows > half[:, None], rows < half[:, None]))
    is_wedge = below > 1.5 * above
    return np.where(filled < 0.8, 3.0, np.where(is_wedge, 2.0, np.where(filled > 0.97, 1.0, 0.0)))


def across(pixels: np.ndarray, colour: str, cut: float, boxes: np.ndarray, more: list[float]) -> np.ndarray:
    """Place of the thing from left to right; the middle where there is none."""
    thing = thing_of(pixels, colour, cut, boxes)
    total, places = thing.sum(axis=(1, 2)), (np.arange(thing.shape[2]) + 0.5) / thing.shape[2]
    return np.where(total, thing.sum(axis=1) @ places / np.maximum(total, 1), 0.5)


def down(pixels: np.ndarray, colour: str, cut: float, boxes: np.ndarray, more: list[float]) -> np.ndarray:
    """Place of the thing from top to bottom; the middle where there is none."""
    return across(pixels.swapaxes(1, 2), colour, cut, boxes[:, [1, 0, 3, 2]], more)


def right_end(pixels: np.ndarray, colour: str, cut: float, boxes: np.ndarray, more: list[float]) -> np.ndarray:
    """How far to the right the thing reaches."""
    columns = thing_of(pixels, colour, cut, boxes).any(axis=1)
    return (columns * np.arange(1, columns.shape[1] + 1)).max(axis=1) / columns.shape[1]


def lower_end(pixels: np.ndarray, colour: str, cut: float, boxes: np.ndarray, more: list[float]) -> np.ndarray:
    """How far down the thing reaches."""
    return right_end(pixels.swapaxes(1, 2), colour, cut, boxes[:, [1, 0, 3, 2]], more)


def extent_across(pixels: np.ndarray, colour: str, cut: float, boxes: np.ndarray, more: list[float]) -> np.ndarray:
    """Widest row of the thing."""
    thing = thing_of(pixels, colour, cut, boxes)
    return np.sort(thing.sum(axis=2), axis=1)[:, -2:].mean(axis=1) / thing.shape[2]


def extent_down(pixels: np.ndarray, colour: str, cut: float, boxes: np.ndarray, more: list[float]) -> np.ndarray:
    """Highest column of the thing."""
    return extent_across(pixels.swapaxes(1, 2), colour, cut, boxes[:, [1, 0, 3, 2]], more)


def fullness(pixels: np.ndarray, colour: str, cut: float, boxes: np.ndarray, more: list[float]) -> np.ndarray:
    """Pixels of the thing, as a share of the disc that would be as wide."""
    thing = thing_of(pixels, colour, cut, boxes)
    wide, high = (thing.any(axis=axis).sum(axis=1) for axis in (1, 2))
    return thing.sum(axis=(1, 2)) / np.maximum(0.785 * wide * high, 4)


def columns_of(pixels: np.ndarray, colour: str, cut: float, boxes: np.ndarray, more: list[float]) -> np.ndarray:
    """Number of limits that the count of columns exceeds whose index is above the middle one by the cut."""
    columns = np.median(box_of(index_of(pixels, colour), boxes[0]), axis=1)
    count = (columns - np.median(columns, axis=1, keepdims=True) > cut).sum(axis=1)
    return np.digitize(count, more).astype(float)


def jag(pixels: np.ndarray, colour: str, cut: float, boxes: np.ndarray, more: list[float]) -> np.ndarray:
    """How much the width of the thing changes from row to row and back, as a share of its mean width."""
    width = thing_of(pixels, colour, cut, boxes).sum(axis=2).astype(float)
    turns = np.abs(width[:, :-4] - 2 * width[:, 2:-2] + width[:, 4:])
    is_inside = (width[:, :-4] > 0) & (width[:, 4:] > 0)
    return (turns * is_inside).sum(axis=1) / np.maximum(width.sum(axis=1), 1)


def tip_across(pixels: np.ndarray, colour: str, cut: float, boxes: np.ndarray, more: list[float]) -> np.ndarray:
    """Place of the lowest pixels of the thing from left to right; the middle where there is none."""
    thing = thing_of(pixels, colour, cut, boxes)
    rows = np.arange(1, thing.shape[1] + 1)
    lowest = (thing.any(axis=2) * rows).max(axis=1)
    tip = thing & (rows[None, :, None] >= lowest[:, None, None] - 1) & (lowest > 0)[:, None, None]
    total, places = tip.sum(axis=(1, 2)), (np.arange(thing.shape[2]) + 0.5) / thing.shape[2]
    return np.where(total, tip.sum(axis=1) @ places / np.maximum(total, 1), 0.5)


def pieces(pixels: np.ndarray, colour: str, cut: float, boxes: np.ndarray, more: list[float]) -> np.ndarray:
    """Number of separate pieces of the thing."""
    from scipy.ndimage import label

    thing = thing_of(pixels, colour, cut, boxes)
    beside = np.zeros((3, 3, 3), int)
    beside[1] = [[0, 1, 0], [1, 1, 1], [0, 1, 0]]
    named, count = label(thing, beside)
    first = np.zeros(count + 1, int)
    picture = np.nonzero(named)[0]
    first[named[named > 0]] = picture
    return np.bincount(first[1:], minlength=len(thing)).astype(float)


def piece(pixels: np.ndarray, colour: str, cut: float, boxes: np.ndarray, more: list[float]) -> np.ndarray:
    """Pixels of a piece of the thing, on average over the pieces, as a share of the box."""
    return area(pixels, colour, cut, boxes, more) / np.maximum(pieces(pixels, colour, cut, boxes, more), 1)


def which_box(pixels: np.ndarray, colour: str, cut: float, boxes: np.ndarray, more: list[float]) -> np.ndarray:
    """Number of the box with the largest mean index."""
    values = index_of(pixels, colour)
    return np.argmax([box_of(values, box).mean(axis=(1, 2)) for box in boxes], axis=0).astype(float)


def which_colour(pixels: np.ndarray, colour: str, cut: float, boxes: np.ndarray, more: list[str]) -> np.ndarray:
    """Number of the colour whose index is largest in the box."""
    return np.argmax([box_of(index_of(pixels, one), boxes[0]).mean(axis=(1, 2)) for one in more], axis=0).astype(float)


def steps(pixels: np.ndarray, colour: str, cut: float, boxes: np.ndarray, more: list[float]) -> np.ndarray:
    """Number of limits that the share of the box exceeds which the thing covers."""
    return np.digitize(area(pixels, colour, cut, boxes, more), more).astype(float)


MEASURES: dict[str, Any] = {
    function.__name__: function
    for function in (
        level, middle, hue, slope, stripes, rough, area, across, down, right_end, lower_end, tip_across, pieces, piece,
        amount, inside, tint_inside, aspect, form, extent_across, extent_down, fullness,
        columns_of, jag,
        which_box, which_colour, steps,
    )
}  # fmt: skip
_SHARED = (index_of, box_of, thing_of, middle, area, across, pieces, spreads, inside, extent_across, right_end)


estimates = once(estimates)
