"""Scripts that clean pages or mark regions of pictures, as they are published with a task."""

from collections.abc import Sequence
from typing import TypeAlias

from sandmill.kinds.page.regressions import series_of
from sandmill.kinds.panel import OwnScript
from sandmill.models.calibration import Rung
from sandmill.models.channel import Cue
from sandmill.models.package import TaskFacts
from sandmill.models.structure import MetricName
from sandmill.scoring import get_metric

_HEAD = '''\
"""{asked} Scored by {metric}; {better} is better.

Approach: {approach}.

Usage: python solution.py [PUBLIC_DIR] [OUT_CSV]
"""

import os
import sys

# One thread: the same sums in the same order on every machine
os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1")

from pathlib import Path

{imports}

ID, TARGET = "{id}", "{target}"
PUBLIC = Path(sys.argv[1] if len(sys.argv) > 1 else "public")


def read_{items}(folder):
    """Read all {items} of a folder in the order of their names, from 0 (black) to 1 (white)."""
    files = sorted((PUBLIC / folder).glob("*.png"))
    return np.stack([np.asarray(Image.open(file), dtype=np.float32) / 255 for file in files])


'''

_SAVE = '''\
def save(pages):
    """Write one row for each pixel. Its id is `<page>_<row>_<column>`; rows and columns count from 1."""
    names = [file.stem for file in sorted((PUBLIC / "test").glob("*.png"))]
    places = [f"_{row + 1}_{column + 1}" for row in range(pages.shape[1]) for column in range(pages.shape[2])]
    ids = [name + place for name in names for place in places]
    answer = np.clip(pages, 0, 1).reshape(-1).astype(float).round(4)
    out = sys.argv[2] if len(sys.argv) > 2 else "submission.csv"
    pd.DataFrame({ID: ids, TARGET: answer}).to_csv(out, index=False)
'''

_STRETCH = '''
def stretch(pages):
    """Make the darkest pixels of each page black and the lightest white."""
    low, high = np.percentile(pages, [2, 90], axis=(1, 2), keepdims=True)
    return np.clip((pages - low) / np.maximum(high - low, 0.05), 0, 1)
'''

_LEVEL = '''
def level(pages):
    """Divide each page by a wide median, which is its background."""
    return pages / np.maximum(ndimage.median_filter(pages, (1, 9, 9), mode="nearest"), 0.05)
'''

_PATCHES = '''
def patches(pages):
    """The 3 by 3 pixels around each pixel."""
    padded = np.pad(pages, ((0, 0), (1, 1), (1, 1)), mode="edge").astype(np.float32)
    return np.lib.stride_tricks.sliding_window_view(padded, (3, 3), axis=(1, 2)).reshape(pages.size, 9)
'''

_FEATURES = '''
def contrast(pages):
    """Distance of each pixel from the mean around it, compared with the spread around it."""
    mean = ndimage.uniform_filter(pages, (0, 9, 9), mode="nearest")
    variance = ndimage.uniform_filter(pages**2, (0, 9, 9), mode="nearest") - mean**2
    return (pages - mean) / (np.sqrt(np.maximum(variance, 0)) + 0.5 * pages.std(axis=(1, 2), keepdims=True) + 1e-3)


def features(pages):
    """What is around each pixel: the page filtered in several ways, and its neighbours."""
    levelled = level(pages)
    far = np.pad(levelled, ((0, 0), (2, 2), (2, 2)), mode="edge")
    views = [
        pages,
        stretch(pages),
        contrast(pages),
        ndimage.gaussian_filter(levelled, (0, 1.2, 1.2), mode="nearest"),
        ndimage.uniform_filter(pages, (0, 7, 7), mode="nearest"),
        ndimage.median_filter(levelled, (1, 3, 3), mode="nearest"),
        pages / np.maximum(ndimage.grey_closing(pages, (1, 5, 5), mode="nearest"), 0.05),
        # Lines that run over the whole page show in the means of its rows and columns
        levelled.mean(axis=1, keepdims=True),
        levelled.mean(axis=2, keepdims=True),
        pages.std(axis=(1, 2), keepdims=True),
        np.percentile(levelled, 10, axis=(1, 2), keepdims=True),
        far[:, :-4, 2:-2],
        far[:, 4:, 2:-2],
        far[:, 2:-2, :-4],
        far[:, 2:-2, 4:],
    ]
    flat = np.stack([np.broadcast_to(view, pages.shape) for view in views], axis=-1).reshape(pages.size, -1)
    return np.hstack([flat, patches(levelled)]).astype(np.float32)


def boosting(rounds):
    return HistGradientBoostingRegressor(
        max_iter=rounds, learning_rate=0.1, max_leaf_nodes=31, min_samples_leaf=20, max_bins=64, random_state=0
    )


def some(rows, most):
    """Evenly spread rows."""
    return np.linspace(0, rows - 1, min(rows, most)).astype(int)
'''

_READ = """

dirty, clean, test = (read_pages(folder) for folder in ("train", "train_cleaned", "test"))
"""

_BOOSTED = '''
def boosted(train, wanted, test, rounds, most):
    """Fit boosting to some of the pixels, and predict all of the test pages."""
    rows = some(len(train), most)
    return boosting(rounds).fit(train[rows], wanted[rows]).predict(test)
'''

_SLIPS = '''
# The description states by how many pixels lines have slipped to the left, in turn
SLIPS = {slips}


def moved_back(pages):
    """Undo the slips. A page may begin anywhere in the series: where neighbouring lines then fit best."""
    height, width = pages.shape[1:]
    tries = []
    for begin in range(len(SLIPS)):
        slips = [SLIPS[(begin + line) % len(SLIPS)] for line in range(height)]
        columns = (np.arange(width) - np.array(slips)[:, None]) % width
        tries.append(pages[:, np.arange(height)[:, None], columns])
    smooth = [np.diff(ndimage.gaussian_filter(one, (0, 0.4, 0.4), mode="nearest"), axis=1) for one in tries]
    best = np.argmin([(steps**2).mean(axis=(1, 2)) for steps in smooth], axis=0)
    return np.array(tries)[best, np.arange(len(pages))]


dirty, test = moved_back(dirty), moved_back(test)
'''

_TWICE = """
x_train, x_test, y = features(dirty), features(test), clean.ravel()

# First predictions; those of training pages come from a model that has not seen them
half = np.repeat(np.arange(len(dirty)) % 2, dirty[0].size)
first, first_test = np.empty(len(y)), np.zeros(len(x_test))
for part in (0, 1):
    both = np.vstack([x_train[half == part], x_test])
    said = boosted(x_train[half != part], y[half != part], both, 30, 15_000)
    count = (half == part).sum()
    first[half == part] = said[:count]
    first_test += said[count:] / 2

# Second predictions also see what was first said of the neighbours
x_train = np.hstack([x_train, patches(first.reshape(dirty.shape))])
x_test = np.hstack([x_test, patches(first_test.reshape(test.shape))])
answer = boosted(x_train, y, x_test, 70, 32_000)
save(answer.reshape(test.shape))
"""

_SMALL = """
model = HistGradientBoostingRegressor(max_iter=50, learning_rate=0.12, min_samples_leaf=30, random_state=0)
rows = np.linspace(0, dirty.size - 1, min(dirty.size, 30_000)).astype(int)
model.fit(patches(stretch(dirty))[rows], clean.ravel()[rows])
save(model.predict(patches(stretch(test))).reshape(test.shape))
"""

_CURVE = """
# Mean clean value of the training pixels with about the same value
values = level(dirty).ravel()
edges = np.unique(np.quantile(values, np.linspace(0, 1, 25)))
place = np.clip(np.searchsorted(edges, values, side="right") - 1, 0, len(edges) - 2)
counts = np.maximum(np.bincount(place), 1)
knots, means = np.bincount(place, values) / counts, np.bincount(place, clean.ravel()) / counts
save(np.interp(level(test), knots, means))
"""

_LINEAR = """
model = Ridge(1.0).fit(patches(dirty), clean.ravel())
save(model.predict(patches(test)).reshape(test.shape))
"""

_ONLY_TEST = """

test = read_pages("test")
"""

_IMPORTS = (
    ("np", "import numpy as np"),
    ("pd", "import pandas as pd"),
    ("Image", "from PIL import Image"),
    ("ndimage", "from scipy import ndimage"),
    ("HistGradientBoostingRegressor", "from sklearn.ensemble import HistGradientBoostingRegressor"),
    ("Ridge", "from sklearn.linear_model import Ridge"),
)
_Script: TypeAlias = tuple[Rung, str, tuple[str, ...]]
"""Rung, approach and parts of the source."""
_LEARNED = (_STRETCH, _LEVEL, _PATCHES, _FEATURES, _BOOSTED, _READ)
_SCRIPTS: tuple[_Script, ...] = (
    (
        Rung.REFERENCE,
        "gradient boosting on filtered pages, then once more with the first predictions around each pixel",
        (*_LEARNED, _TWICE),
    ),
    (Rung.COMPETENT, "gradient boosting on 3 by 3 pixels of stretched pages", (_STRETCH, _PATCHES, _READ, _SMALL)),
    (Rung.COMPETENT, "pages divided by their background, then a curve fitted to clean pages", (_LEVEL, _READ, _CURVE)),
    (Rung.COMPETENT, "a linear model of 3 by 3 pixels", (_PATCHES, _READ, _LINEAR)),
    (Rung.NAIVE, "stretch the values of each page", (_STRETCH, _ONLY_TEST, "save(stretch(test))\n")),
    (Rung.NAIVE, "the dirty pages as they are", (_ONLY_TEST, "save(test)\n")),
    (Rung.NAIVE, "white paper", (_ONLY_TEST, "save(np.ones_like(test))\n")),
)


_MASK_SAVE = '''\
def runs(mask):
    """Write a mask as runs. Pixels count from 1, from top to bottom and then from left to right."""
    flat = np.concatenate([[0], mask.T.ravel().astype(int), [0]])
    edges = np.flatnonzero(np.diff(flat))
    return " ".join(f"{start + 1} {end - start}" for start, end in zip(edges[::2], edges[1::2]))


def save(masks):
    """Write one row for each picture."""
    names = [file.stem for file in sorted((PUBLIC / "test/images").glob("*.png"))]
    out = sys.argv[2] if len(sys.argv) > 2 else "submission.csv"
    pd.DataFrame({ID: names, TARGET: [runs(mask) for mask in masks]}).to_csv(out, index=False)
'''

_MASK_READ = """

seen, marked, test = read_pictures("train/images"), read_pictures("train/masks") > 0.5, read_pictures("test/images")
if seen[marked].mean() > seen[~marked].mean():  # regions are bright: invert, so that they are dark
    seen, test = 1 - seen, 1 - test
"""

_SCORES = {
    MetricName.DICE: '''
def score(named, marked):
    """Mean Dice coefficient; two empty masks agree."""
    shared, total = (named & marked).sum(axis=(1, 2)), named.sum(axis=(1, 2)) + marked.sum(axis=(1, 2))
    return np.where(total > 0, 2 * shared / np.maximum(total, 1), 1).mean()
''',
    MetricName.IOU_THRESHOLDS: '''
def score(named, marked):
    """Mean share of the ten thresholds that the intersection over union exceeds; two empty masks agree."""
    shared, either = (named & marked).sum(axis=(1, 2)), (named | marked).sum(axis=(1, 2))
    overlap = np.where(either > 0, shared / np.maximum(either, 1), 1)
    return (overlap[:, None] > np.arange(0.5, 1, 0.05)).mean()
''',
}
_TUNE = '''
def best_limit(said, marked):
    """The limit above which a pixel is marked, by the score of the task."""
    limits = np.quantile(said, np.linspace(0.3, 0.999, 60))
    return max(limits, key=lambda limit: score(said > limit, marked))
'''

_SMOOTH = '''
def smooth(pictures, width=1.2):
    """How dark each picture is, without a plane of light, smoothed."""
    down, across = np.meshgrid(*(np.linspace(-1, 1, side) for side in pictures.shape[1:]), indexing="ij")
    for slope in (down, across):
        pictures = pictures - (pictures * slope).sum(axis=(1, 2), keepdims=True) / (slope**2).sum() * slope
    pictures = pictures - np.median(pictures, axis=(1, 2), keepdims=True)
    return -ndimage.gaussian_filter(pictures, (0, width, width), mode="nearest")
'''

_MASK_FEATURES = '''
def level(pictures):
    """Subtract from each picture the plane that fits it best, and its median."""
    down, across = np.meshgrid(*(np.linspace(-1, 1, side) for side in pictures.shape[1:]), indexing="ij")
    for slope in (down, across):
        pictures = pictures - (pictures * slope).sum(axis=(1, 2), keepdims=True) / (slope**2).sum() * slope
    return pictures - np.median(pictures, axis=(1, 2), keepdims=True)


def without_lines(pictures):
    """Subtract the medians of rows and columns."""
    for axis in (1, 2):
        lines = np.median(pictures, axis=axis, keepdims=True)
        pictures = pictures - lines + np.median(lines, axis=3 - axis, keepdims=True)
    return pictures


def gaussian(pictures, width):
    return ndimage.gaussian_filter(pictures, (0, width, width), mode="nearest")


def features(pictures):
    """What is around each pixel: the picture filtered in several ways and at several widths."""
    even, bare = level(pictures), without_lines(pictures)
    mean = ndimage.uniform_filter(even, (0, 5, 5), mode="nearest")
    low, high = np.percentile(pictures, [2, 90], axis=(1, 2), keepdims=True)
    wide = ndimage.uniform_filter(pictures, (0, 9, 9), mode="nearest")
    views = [
        pictures,
        even,
        bare,
        (pictures - low) / np.maximum(high - low, 0.05),
        pictures - wide,
        mean,
        np.sqrt(np.maximum(ndimage.uniform_filter(even**2, (0, 5, 5), mode="nearest") - mean**2, 0)),
        np.hypot(ndimage.sobel(gaussian(even, 1.2), axis=1), ndimage.sobel(gaussian(even, 1.2), axis=2)),
        *(gaussian(even, width) for width in (0.8, 1.2, 1.8, 3.0, 6.0)),
        gaussian(bare, 0.8),
        gaussian(bare, 1.6),
        ndimage.median_filter(even, (1, 3, 3), mode="nearest"),
        ndimage.median_filter(even, (1, 5, 5), mode="nearest"),
        # Lines that run over the whole picture show in the means of its rows and columns
        even.mean(axis=1, keepdims=True),
        even.mean(axis=2, keepdims=True),
        pictures.std(axis=(1, 2), keepdims=True),
        np.percentile(even, 5, axis=(1, 2), keepdims=True),
    ]
    for width, reach in ((1.0, 3), (1.0, 5)):
        far = np.pad(gaussian(even, width), ((0, 0), (reach, reach), (reach, reach)), mode="edge")
        views += [far[:, : -2 * reach, reach:-reach], far[:, 2 * reach :, reach:-reach]]
        views += [far[:, reach:-reach, : -2 * reach], far[:, reach:-reach, 2 * reach :]]
    return np.stack([np.broadcast_to(view, pictures.shape) for view in views], axis=-1).astype(np.float32)


def boosted(train, wanted, rounds, most):
    """Fit boosting to evenly spread pixels of pictures."""
    x, y = train.reshape(-1, train.shape[-1]), wanted.ravel()
    rows = np.linspace(0, len(x) - 1, min(len(x), most)).astype(int)
    model = HistGradientBoostingRegressor(
        max_iter=rounds, learning_rate=0.1, max_leaf_nodes=24, min_samples_leaf=25, max_bins=64, random_state=0
    )
    return model.fit(x[rows], y[rows])


def say(model, views):
    return model.predict(views.reshape(-1, views.shape[-1])).reshape(views.shape[:-1])
'''

_TIDY = '''
def without_small(masks, least):
    """Drop regions of fewer pixels."""
    beside = np.zeros((3, 3, 3), dtype=bool)
    beside[1] = ndimage.generate_binary_structure(2, 1)
    regions, _ = ndimage.label(masks, structure=beside)
    sizes = np.bincount(regions.ravel())
    sizes[0] = 0
    return sizes[regions] >= max(least, 1)


def tidy(said, marked, said_of_test):
    """Tune smoothing, limit and least size on training pictures that the models had not seen."""
    tried = []
    for width in (0.01, 0.7, 1.2):
        smoothed = gaussian(said, width)
        limit = best_limit(smoothed, marked)
        tried += [
            (score(without_small(smoothed > limit, least), marked), width, limit, least) for least in (0, 4, 8, 14, 22)
        ]
    _, width, limit, least = max(tried)
    return without_small(gaussian(said_of_test, width) > limit, least)
'''

_FOLDS = """
x, x_test = features(seen), features(test)
fold = np.arange(len(seen)) % 3

# First predictions; those of training pictures come from models that have not seen them
said, said_test = np.zeros(seen.shape), np.zeros(test.shape)
for part in range(3):
    model = boosted(x[fold != part], marked[fold != part], 40, 14_000)
    said[fold == part] = say(model, x[fold == part])
    said_test += say(model, x_test) / 3
"""

_SECOND = """

def around(views, first):
    \"\"\"Features, and what was first said of the pixels around.\"\"\"
    more = [first, *(gaussian(first, width) for width in (0.8, 1.6, 3.2))]
    padded = np.pad(first, ((0, 0), (2, 2), (2, 2)), mode="edge")
    more += [padded[:, :-4, 2:-2], padded[:, 4:, 2:-2], padded[:, 2:-2, :-4], padded[:, 2:-2, 4:]]
    return np.concatenate([views, np.stack(more, axis=-1).astype(np.float32)], axis=-1)


x, x_test = around(x, said), around(x_test, said_test)
second, second_test = np.zeros(seen.shape), np.zeros(test.shape)
for part in range(3):
    model = boosted(x[fold != part], marked[fold != part], 50, 18_000)
    second[fold == part] = say(model, x[fold == part])
    second_test += say(model, x_test) / 3
save(tidy(second, marked, second_test))
"""

_MASK_SMALL = """
said, said_test = smooth(seen), smooth(test)
save(said_test > best_limit(said, marked))
"""
_PLAIN = """
save(-test > best_limit(-seen, marked))
"""
_NEAREST = """
middle = (seen[marked].mean() + seen[~marked].mean()) / 2
save(test < middle)
"""

_MASK_SCRIPTS: tuple[_Script, ...] = (
    (
        Rung.REFERENCE,
        "gradient boosting on filtered pictures, once more with the first predictions around each pixel, and masks "
        "without small regions",
        (_TUNE, _MASK_FEATURES, _TIDY, _MASK_READ, _FOLDS, _SECOND),
    ),
    (
        Rung.COMPETENT,
        "smoothed pictures and one limit, tuned on training masks",
        (_TUNE, _SMOOTH, _MASK_READ, _MASK_SMALL),
    ),
    (Rung.COMPETENT, "one limit for all pixels, tuned on training masks", (_TUNE, _MASK_READ, _PLAIN)),
    (Rung.NAIVE, "what is nearer to the mean of marked pixels than to that of the others", (_MASK_READ, _NEAREST)),
    (Rung.NAIVE, "empty masks", (_MASK_READ, "save(np.zeros(test.shape))\n")),
)


def ladder(facts: TaskFacts, data: object, cues: Sequence[Cue] = ()) -> tuple[OwnScript, ...]:
    """Return the scripts that may be published with a task, the preferred ones of each rung first.

    The reference undoes the slips that cues state.
    """
    series, has_masks = series_of(cues), facts.kind == "image_masks"
    scripts = [_reading(one, series) if series else one for one in (_MASK_SCRIPTS if has_masks else _SCRIPTS)]
    return tuple(
        OwnScript(rung, approach, _source(facts, approach, _with_score(parts, facts), has_masks=has_masks))
        for rung, approach, parts in scripts
    )


def _reading(script: _Script, series: Sequence[int]) -> _Script:
    """Let a reference script undo slips after it has read the pages."""
    rung, approach, parts = script
    if rung is not Rung.REFERENCE:
        return script
    undo = _SLIPS.replace("{slips}", str(list(series)))
    with_slips = (part + undo if part is _READ else part for part in parts)
    return rung, f"lines moved back by the stated slips, then {approach}", tuple(with_slips)


def _with_score(parts: tuple[str, ...], facts: TaskFacts) -> tuple[str, ...]:
    """Put the metric before what tunes for it."""
    return (_SCORES[facts.metric], *parts) if _TUNE in parts else parts


def _source(facts: TaskFacts, approach: str, parts: tuple[str, ...], *, has_masks: bool) -> str:
    """Return a script: a head with what the task asks for, then parts. Imports that nothing names are left out."""
    cleaning = f"Clean the pages of test/: predict {facts.target_column} of each pixel."
    blocks, save = "\n".join(parts).replace("\n\n\n\n", "\n\n\n"), _MASK_SAVE if has_masks else _SAVE
    head = _HEAD.format(
        asked="Mark the regions of the pictures in test/images/." if has_masks else cleaning,
        better="higher" if has_masks else "lower",
        items="pictures" if has_masks else "pages",
        target=facts.target_column,
        metric=get_metric(facts.metric).title,
        approach=approach,
        imports="\n".join(line for name, line in _IMPORTS if name in blocks or name in _HEAD + save),
        id=facts.id_column,
    )
    return f"{head}{save}\n{blocks}"
