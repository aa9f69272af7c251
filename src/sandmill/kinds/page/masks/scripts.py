"""Scripts that mark regions of pictures, as they are published with a task."""

from collections.abc import Sequence

from sandmill.kinds.page.scripts import write_source
from sandmill.kinds.panel import OwnScript
from sandmill.models.calibration import Rung
from sandmill.models.channel import Cue
from sandmill.models.package import TaskFacts
from sandmill.models.structure import MetricName

_HEAD = '''\
"""Mark the regions of the pictures in test/images/. Scored by {metric}; higher is better.

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


def read_pictures(folder):
    """Read all pictures of a folder in the order of their names, from 0 (black) to 1 (white)."""
    files = sorted((PUBLIC / folder).glob("*.png"))
    return np.stack([np.asarray(Image.open(file), dtype=np.float32) / 255 for file in files])


def runs(mask):
    """Write a mask as runs. Pixels count from 1, from top to bottom and then from left to right."""
    flat = np.concatenate([[0], mask.T.ravel().astype(int), [0]])
    edges = np.flatnonzero(np.diff(flat))
    return " ".join(f"{{start + 1}} {{end - start}}" for start, end in zip(edges[::2], edges[1::2]))


def save(masks):
    """Write one row for each picture."""
    names = [file.stem for file in sorted((PUBLIC / "test/images").glob("*.png"))]
    out = sys.argv[2] if len(sys.argv) > 2 else "submission.csv"
    pd.DataFrame({{ID: names, TARGET: [runs(mask) for mask in masks]}}).to_csv(out, index=False)
'''

_READ = """

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

_FEATURES = '''
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

_SMALL = """
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

_IMPORTS = (
    ("np.", "import numpy as np"),
    ("pd.", "import pandas as pd"),
    ("Image", "from PIL import Image"),
    ("ndimage", "from scipy import ndimage"),
    ("HistGradientBoostingRegressor", "from sklearn.ensemble import HistGradientBoostingRegressor"),
)
_SCRIPTS: tuple[tuple[Rung, str, tuple[str, ...]], ...] = (
    (
        Rung.REFERENCE,
        "gradient boosting on filtered pictures, once more with the first predictions around each pixel, and masks "
        "without small regions",
        (_TUNE, _FEATURES, _TIDY, _READ, _FOLDS, _SECOND),
    ),
    (Rung.COMPETENT, "smoothed pictures and one limit, tuned on training masks", (_TUNE, _SMOOTH, _READ, _SMALL)),
    (Rung.COMPETENT, "one limit for all pixels, tuned on training masks", (_TUNE, _READ, _PLAIN)),
    (Rung.NAIVE, "what is nearer to the mean of marked pixels than to that of the others", (_READ, _NEAREST)),
    (Rung.NAIVE, "empty masks", (_READ, "save(np.zeros(test.shape))\n")),
)


def ladder(facts: TaskFacts, data: object, cues: Sequence[Cue] = ()) -> tuple[OwnScript, ...]:
    """Return the scripts that may be published with a task, the preferred ones of each rung first."""
    return tuple(
        OwnScript(rung, approach, write_source(_HEAD, _IMPORTS, facts, approach, _with_score(parts, facts)))
        for rung, approach, parts in _SCRIPTS
    )


def _with_score(parts: tuple[str, ...], facts: TaskFacts) -> tuple[str, ...]:
    """Put the metric before what tunes for it."""
    return (_SCORES[facts.metric], *parts) if _TUNE in parts else parts
