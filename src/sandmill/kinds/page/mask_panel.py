"""The panel of pictures whose regions are to be marked: solvers of pages, and a limit of what is dark."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sandmill.kinds.page import filters, regressions
from sandmill.kinds.page.filters import (
    Pair,
    TaskPages,
    best_curve,
    blur,
    curve,
    each,
    filtered,
    local_median,
    read_folder,
    smooth,
    stretch,
)
from sandmill.kinds.page.filters import Solver as Cleaner
from sandmill.kinds.page.regions import best_limit, region_features, tidied, without_lines, without_plane
from sandmill.kinds.page.regressions import reading
from sandmill.kinds.page.scripts import ladder
from sandmill.kinds.panel import Entry, entries
from sandmill.models.calibration import Tier
from sandmill.models.package import TaskFacts
from sandmill.models.structure import MetricName
from sandmill.scoring import get_metric

__all__ = ["ADVERSARIES", "ENTRIES", "READERS", "TWINS", "WITH_MORE_ITEMS", "ladder", "read", "reading"]

Masks = NDArray[np.uint8]
"""Masks of test pictures as answers hold them: 0 and 1, column by column, shape (pictures, pixels)."""
Solver = Callable[["TaskPictures"], Masks]

_HELD = 3
"""One training picture in so many is held back to tune what makes a mask of numbers."""


@dataclass
class TaskPictures(TaskPages):
    """Pictures as dirty pages, with regions darker than what is around them; a clean page is 0 in the mask, else 1."""

    metric: MetricName = field(kw_only=True)
    """What limits and constant masks are tuned for."""

    @cached_property
    def marked(self) -> NDArray[np.bool_]:
        """Masks of the training pictures."""
        return np.asarray(self.clean < 0.5, dtype=np.bool_)

    @cached_property
    def is_held(self) -> NDArray[np.bool_]:
        """Which training pictures are held back."""
        return np.asarray(np.arange(len(self.dirty)) % _HELD == 0, dtype=np.bool_)

    @cached_property
    def inner(self) -> TaskPages:
        """The training pictures, those held back in place of test pictures."""
        views = self.views[0].reshape(len(self.dirty), self.dirty[0].size, -1)
        rest, held = (views[some].reshape(-1, views.shape[2]) for some in (~self.is_held, self.is_held))
        stacks = self.dirty[~self.is_held], self.clean[~self.is_held], self.dirty[self.is_held]
        return TaskPages(*stacks, self.features, {"features": (rest, held)})

    def cleaned(self, name: str) -> Pair:
        """Return the prediction of a cleaner for the pictures held back and for the test pictures, as stacks."""

        def stacks(_: TaskPages) -> Pair:
            held, test = CLEANERS[name](self.inner), CLEANERS[name](self)
            return held.reshape(self.inner.test.shape), test.reshape(self.test.shape)

        return self.cached(f"cleaned by {name}", stacks)

    def score(self, named: NDArray[np.bool_], marked: NDArray[np.bool_]) -> float:
        """Return the score of a stack of masks."""
        full = np.broadcast_to(named, marked.shape)
        return get_metric(self.metric).score(*(stack.reshape(len(marked), -1) for stack in (marked, full)))

    def masks(self, marked: NDArray[Any]) -> Masks:
        """Return a stack of masks of test pictures as answers."""
        full = np.broadcast_to(marked, self.test.shape)
        return np.asarray(full.transpose(0, 2, 1).reshape(self.shape) > 0, dtype=np.uint8)


def read(folder: Path, facts: TaskFacts) -> TaskPictures:
    """Read all pictures and masks of the public files. Pictures are inverted where regions are brighter."""
    seen, masks, test = (read_folder(folder / part) for part in ("train/images", "train/masks", "test/images"))
    marked = masks > 0.5
    if marked.any() and seen[marked].mean() > seen[~marked].mean():
        seen, test = 1 - seen, 1 - test
    clean = np.asarray(~marked, dtype=np.float32)
    return TaskPictures(seen, clean, test, lambda one: each(one.both, region_features), metric=facts.metric)


def _by_limit(name: str) -> Solver:
    """Make a solver that marks what a cleaner finds darker than a limit, tuned on training pictures held back."""

    def solver(pictures: TaskPictures) -> Masks:
        held, test = pictures.cleaned(name)
        return pictures.masks(test < best_limit(held, pictures.marked[pictures.is_held], pictures.score))

    return solver


def _tidied(name: str) -> Solver:
    def solver(pictures: TaskPictures) -> Masks:
        held, test = pictures.cleaned(name)
        return pictures.masks(tidied(held, pictures.marked[pictures.is_held], test, pictures.score))

    return solver


def _prior(pictures: TaskPictures) -> Masks:
    """Mark the same pixels on all pictures: those that are marked most often, as many as pays on training pictures."""
    often = pictures.marked.mean(axis=0)
    tried = [often >= height for height in np.quantile(often, np.linspace(0, 1, 21))] + [often > 1]
    return pictures.masks(max(tried, key=lambda mask: pictures.score(mask, pictures.marked)))


def _between(pictures: TaskPictures) -> Masks:
    inside, outside = pictures.dirty[pictures.marked], pictures.dirty[~pictures.marked]
    return pictures.masks(pictures.test < ((inside.mean() + outside.mean()) / 2 if inside.size else 0.0))


def _smooth_marks(pictures: TaskPictures) -> Any:
    return smooth(stretch(pictures.test), 1.0) < 0.5


def _from_zero(pictures: TaskPictures) -> Masks:
    """Count pixels from 0 in runs, so that all runs are one pixel early."""
    right = pictures.masks(_smooth_marks(pictures))
    return np.hstack([right[:, 1:], np.zeros((len(right), 1), dtype=np.uint8)])


def _middle_of_picture(pictures: TaskPictures) -> Masks:
    down, across = (np.abs(np.linspace(-1, 1, side)) < 0.5 for side in pictures.test.shape[1:])
    return pictures.masks(down[:, None] & across)


def _darkest(pictures: TaskPictures) -> Masks:
    """Mark the darkest pixels of each picture, as many as training masks have on average."""
    limits = np.quantile(pictures.test, pictures.marked.mean(), axis=(1, 2), keepdims=True)
    return pictures.masks(pictures.test < limits)


_CHAINS = (
    filtered(stretch, blur(1.2)),
    filtered(without_plane, blur(1.2)),
    filtered(without_lines, without_plane, blur(1.2)),
    filtered(without_plane, lambda stack: local_median(stack, 5)),
)
"""Chains of filters that a search tries."""
CLEANERS: Mapping[str, Cleaner] = {
    **filters.SOLVERS,
    **regressions.SOLVERS,
    # The share of training pixels with a filtered value that are marked
    "plane_curve": curve(filtered(without_plane, blur(1.0))),
    "without_lines_curve": curve(filtered(without_lines, blur(1.0))),
    "searched_filter": lambda pages: best_curve(pages, _CHAINS),
}
"""Solvers of pages; a clean page is dark in the mask and light elsewhere."""
_SOLVERS: Mapping[str, Solver] = {
    **{name: _by_limit(name) for name in CLEANERS},
    "prior": _prior,
    "empty_mask": lambda pictures: pictures.masks(np.zeros(1)),
    "middle_of_picture": _middle_of_picture,
    # What is darker than a half, than the mean of both groups, than others
    "dark_half": lambda pictures: pictures.masks(pictures.test < 0.5),
    "between_means": _between,
    "usual_share": _darkest,
    # Misreadings of the form of answers: runs row by row, from 0 on, of the pixels outside
    "row_by_row": lambda pictures: np.asarray(_smooth_marks(pictures).reshape(pictures.shape), dtype=np.uint8),
    "from_zero": _from_zero,
    "inverted_mask": lambda pictures: pictures.masks(~_smooth_marks(pictures)),
    "tidied_filter": _tidied("searched_filter"),
    "tidied_boosting": _tidied("boosted_features"),
    "tidied_second_look": _tidied("second_look"),
    "average_of_two": _tidied("average_of_two"),
    "average_of_three": _tidied("average_of_three"),
    "aligned_lines": _tidied("aligned_lines"),
}
ENTRIES = entries("mask", _SOLVERS)
WITH_MORE_ITEMS = ("boosted_features", "tidied_second_look")
"""Entries that are given more pictures to learn from, which bounds the best possible score from below."""
TWINS = {"reader_boosted": "tidied_boosting", "reader_second": "tidied_second_look", "reader_average": "average_of_two"}
"""Reader to the entry that does the same without moving lines."""
READERS = tuple(Entry(reader, Tier.READER, solve=_SOLVERS[twin]) for reader, twin in TWINS.items())
"""Solvers that undo the slips of lines which the description states. The pictures that they get are without slips."""
ADVERSARIES = (Entry("aligned_lines", Tier.SEARCH, solve=_SOLVERS["aligned_lines"]),)
"""Blind solvers that are not on the leaderboard."""
