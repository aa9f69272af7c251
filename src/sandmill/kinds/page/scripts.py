"""Scripts that clean pages, as they are published with a task."""

from collections.abc import Sequence
from typing import TypeAlias

from sandmill.kinds.page.slips import series_of
from sandmill.kinds.panel import OwnScript
from sandmill.models.calibration import Rung
from sandmill.models.channel import Cue
from sandmill.models.package import TaskFacts
from sandmill.scoring import get_metric

_HEAD = '''\
"""Clean the pages of test/: predict {target} of each pixel. Scored by {metric}; lower is better.

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


def read_pages(folder):
    """Read all pages of a folder in the order of their names, from 0 (black) to 1 (white)."""
    files = sorted((PUBLIC / folder).glob("*.png"))
    return np.stack([np.asarray(Image.open(file), dtype=np.float32) / 255 for file in files])


def save(pages):
    """Write one row for each pixel. Its id is `<page>_<row>_<column>`; rows and columns count from 1."""
    names = [file.stem for file in sorted((PUBLIC / "test").glob("*.png"))]
    places = [f"_{{row + 1}}_{{column + 1}}" for row in range(pages.shape[1]) for column in range(pages.shape[2])]
    ids = [name + place for name in names for place in places]
    answer = np.clip(pages, 0, 1).reshape(-1).astype(float).round(4)
    out = sys.argv[2] if len(sys.argv) > 2 else "submission.csv"
    pd.DataFrame({{ID: ids, TARGET: answer}}).to_csv(out, index=False)
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


def ladder(facts: TaskFacts, data: object, cues: Sequence[Cue] = ()) -> tuple[OwnScript, ...]:
    """Return the scripts that may be published with a task, the preferred ones of each rung first.

    The reference undoes the slips that cues state.
    """
    series = series_of(cues)
    return tuple(
        OwnScript(rung, approach, write_source(_HEAD, _IMPORTS, facts, approach, parts))
        for rung, approach, parts in (_reading(one, series) if series else one for one in _SCRIPTS)
    )


def _reading(script: _Script, series: Sequence[int]) -> _Script:
    """Let a reference script undo slips after it has read the pages."""
    rung, approach, parts = script
    if rung is not Rung.REFERENCE:
        return script
    undo = _SLIPS.replace("{slips}", str(list(series)))
    with_slips = (part + undo if part is _READ else part for part in parts)
    return rung, f"lines moved back by the stated slips, then {approach}", tuple(with_slips)


def write_source(
    head: str, imports: Sequence[tuple[str, str]], facts: TaskFacts, approach: str, parts: tuple[str, ...]
) -> str:
    """Return a script: a head with what the task asks for, then parts. Imports that nothing names are left out.

    Args:
        head: with fields for target, metric, approach, imports and id.
        imports: names, each with the line that imports it.
        facts: what the task asks for.
        approach: of the script, as a clause.
        parts: of its source.
    """
    blocks = "\n".join(parts).replace("\n\n\n\n", "\n\n\n")
    written = head.format(
        target=facts.target_column,
        metric=get_metric(facts.metric).title,
        approach=approach,
        imports="\n".join(line for name, line in imports if name in blocks or name in head),
        id=facts.id_column,
    )
    return f"{written}\n{blocks}"
