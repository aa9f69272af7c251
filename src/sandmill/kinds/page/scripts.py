"""Scripts that clean pages or mark regions of pictures, as they are published with a task."""

from collections.abc import Sequence
from typing import TypeAlias

from sandmill.kinds.page.filters import over_background, smooth, stretch
from sandmill.kinds.page.regions import best_limit, region_features, tidied
from sandmill.kinds.page.regressions import boosting, features, moved_back, patches, series_of, some
from sandmill.kinds.panel import OwnScript
from sandmill.kinds.script_text import functions_source, spaced
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

_READ = """

dirty, clean, test = (read_pages(folder) for folder in ("train", "train_cleaned", "test"))
"""

_SLIPS = """
# The description states by how many pixels lines have slipped to the left, in turn
SLIPS = {slips}
{train}, test = moved_back({train}, SLIPS), moved_back(test, SLIPS)
"""

_TWICE = """
level, level_test = over_background(dirty, 11), over_background(test, 11)
x_train, x_test, y = features(dirty, level), features(test, level_test), clean.ravel()

# First predictions; those of training pages come from a model that has not seen them
half = np.repeat(np.arange(len(dirty)) % 2, dirty[0].size)
first, first_test = np.empty(len(y)), np.zeros(len(x_test))
for part in (0, 1):
    rows = np.flatnonzero(half != part)
    rows = rows[some(len(rows), 15_000)]
    model = boosting(30).fit(x_train[rows], y[rows])
    first[half == part] = model.predict(x_train[half == part])
    first_test += model.predict(x_test) / 2

# Second predictions also see what was first said of the neighbours
x_train = np.hstack([x_train, patches(first.reshape(dirty.shape))])
x_test = np.hstack([x_test, patches(first_test.reshape(test.shape))])
rows = some(len(y), 32_000)
save(boosting(70).fit(x_train[rows], y[rows]).predict(x_test).reshape(test.shape))
"""

_SMALL = """
rows = some(dirty.size, 30_000)
model = boosting(50).fit(patches(stretch(dirty))[rows], clean.ravel()[rows])
save(model.predict(patches(stretch(test))).reshape(test.shape))
"""

_CURVE = """
# Mean clean value of the training pixels with about the same value
values = over_background(dirty, 11).ravel()
edges = np.unique(np.quantile(values, np.linspace(0, 1, 25)))
place = np.clip(np.searchsorted(edges, values, side="right") - 1, 0, len(edges) - 2)
counts = np.maximum(np.bincount(place), 1)
knots, means = np.bincount(place, values) / counts, np.bincount(place, clean.ravel()) / counts
save(np.interp(over_background(test, 11), knots, means))
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
    ("Ridge", "from sklearn.linear_model import Ridge"),
)
_Script: TypeAlias = tuple[Rung, str, tuple[str, ...]]
"""Rung, approach and parts of the source."""
_SCRIPTS: tuple[_Script, ...] = (
    (
        Rung.REFERENCE,
        "gradient boosting on filtered pages, then once more with the first predictions around each pixel",
        (_READ, _TWICE),
    ),
    (Rung.COMPETENT, "gradient boosting on 3 by 3 pixels of stretched pages", (_READ, _SMALL)),
    (Rung.COMPETENT, "pages divided by their background, then a curve fitted to clean pages", (_READ, _CURVE)),
    (Rung.COMPETENT, "a linear model of 3 by 3 pixels", (_READ, _LINEAR)),
    (Rung.NAIVE, "stretch the values of each page", (_ONLY_TEST, "save(stretch(test))\n")),
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
_MASK_TWICE = """
x, x_test = region_features(seen), region_features(test)
fold, wanted = np.repeat(np.arange(len(seen)) % 3, seen[0].size), ~marked.ravel()


def unseen(x, x_test, rounds):
    \"\"\"Predict pixels by three models, those of training pictures by the one that has not seen them.\"\"\"
    said, said_test = np.zeros(len(x)), np.zeros(len(x_test))
    for part in range(3):
        rows = np.flatnonzero(fold != part)
        rows = rows[some(len(rows), 18_000)]
        model = boosting(rounds).fit(x[rows], wanted[rows])
        said[fold == part] = model.predict(x[fold == part])
        said_test += model.predict(x_test) / 3
    return said.reshape(seen.shape), said_test.reshape(test.shape)


# Second predictions also see what was first said of the neighbours
first = unseen(x, x_test, 40)
x, x_test = (np.hstack([views, patches(stack)]) for views, stack in zip((x, x_test), first))
said, said_test = unseen(x, x_test, 50)
save(tidied(said, marked, said_test, score))
"""

_MASK_SMALL = """
said, said_test = smooth(stretch(seen), 1.2), smooth(stretch(test), 1.2)
save(said_test < best_limit(said, marked, score))
"""
_PLAIN = """
save(test < best_limit(seen, marked, score))
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
        (_MASK_READ, _MASK_TWICE),
    ),
    (Rung.COMPETENT, "smoothed pictures and one limit, tuned on training masks", (_MASK_READ, _MASK_SMALL)),
    (Rung.COMPETENT, "one limit for all pixels, tuned on training masks", (_MASK_READ, _PLAIN)),
    (Rung.NAIVE, "what is nearer to the mean of marked pixels than to that of the others", (_MASK_READ, _NEAREST)),
    (Rung.NAIVE, "empty masks", (_MASK_READ, "save(np.zeros(test.shape))\n")),
)
_FUNCTIONS = (
    *(moved_back, smooth, stretch, patches, some, boosting),
    *(over_background, features, region_features, best_limit, tidied),
)
"""Functions of the library that scripts use."""


def ladder(facts: TaskFacts, data: object, cues: Sequence[Cue] = ()) -> tuple[OwnScript, ...]:
    """Return the scripts that may be published with a task, the preferred ones of each rung first.

    The reference undoes the slips that cues state, after it has read the pages.
    """
    series, has_masks, made = series_of(cues), facts.kind == "image_masks", []
    undo = _SLIPS.replace("{slips}", str(series)).replace("{train}", "seen" if has_masks else "dirty")
    for rung, approach, parts in _MASK_SCRIPTS if has_masks else _SCRIPTS:
        if rung is Rung.REFERENCE and series:
            approach = f"lines moved back by the stated slips, then {approach}"
            parts = tuple(part + undo if part in (_READ, _MASK_READ) else part for part in parts)
        made.append(OwnScript(rung, approach, _source(facts, approach, parts, has_masks=has_masks)))
    return tuple(made)


def _source(facts: TaskFacts, approach: str, parts: tuple[str, ...], *, has_masks: bool) -> str:
    """Return a script: a head with what the task asks for, then parts. Imports that nothing names are left out."""
    cleaning = f"Clean the pages of test/: predict {facts.target_column} of each pixel."
    blocks, save = "\n".join(parts), _MASK_SAVE if has_masks else _SAVE
    used = functions_source(*(one for one in _FUNCTIONS if f"{one.__name__}(" in blocks))
    blocks = spaced("\n".join([_SCORES[facts.metric] if "score)" in blocks else "", *used, blocks]))
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
