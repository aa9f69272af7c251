"""The panel of pictures whose regions are to be marked: thresholds, filters, and classifiers of pixels."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sandmill.kinds.page.filters import Pixels, TaskPages, local_mean, otsu, read_folder, smooth, stretch
from sandmill.kinds.page.pixel_classifiers import SHADERS
from sandmill.kinds.page.scripts import ladder
from sandmill.kinds.panel import entries
from sandmill.models.calibration import Tier
from sandmill.models.package import TaskFacts
from sandmill.models.structure import MetricName
from sandmill.scoring import get_metric

__all__ = ["ENTRIES", "WITH_MORE_ITEMS", "ladder", "read"]

Masks = NDArray[np.uint8]
"""Masks of test pictures as answers hold them: 0 and 1, column by column, shape (pictures, pixels)."""
Solver = Callable[["TaskPictures"], Masks]

_HELD = 3
"""One training picture in so many is held back to tune what makes a mask of numbers."""
_LIMITS = np.linspace(0.04, 0.96, 47)
"""Limits that are tried."""


@dataclass
class TaskPictures:
    """The pictures of a task, in the order of their file names, with regions darker than what is around them."""

    seen: Pixels
    """Training pictures."""
    marked: NDArray[np.bool_]
    """Their masks, of the same shape."""
    test: Pixels
    metric: MetricName
    """What limits and constant masks are tuned for."""
    made: dict[str, Any] = field(default_factory=dict)
    """What several solvers use, by name."""

    @property
    def shape(self) -> tuple[int, int]:
        """Test pictures and pixels of a picture."""
        return len(self.test), self.test[0].size

    @cached_property
    def pages(self) -> TaskPages:
        """Pictures as dirty pages, and masks as clean ones."""
        return TaskPages(self.seen, _clean(self.marked), self.test)

    @cached_property
    def held(self) -> NDArray[np.bool_]:
        """Which training pictures are held back."""
        return np.asarray(np.arange(len(self.seen)) % _HELD == 0, dtype=np.bool_)

    @cached_property
    def inner(self) -> TaskPages:
        """The training pictures, those held back in place of test pictures."""
        return TaskPages(self.seen[~self.held], _clean(self.marked[~self.held]), self.seen[self.held])

    def said(self, name: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return what a shader says of the pictures held back and of the test pictures, as stacks of pictures."""
        if name not in self.made:
            held, test = SHADERS[name](self.inner), SHADERS[name](self.pages)
            self.made[name] = held.reshape(self.inner.test.shape), test.reshape(self.test.shape)
        found: tuple[NDArray[np.float64], NDArray[np.float64]] = self.made[name]
        return found

    def score(self, named: NDArray[np.bool_], marked: NDArray[np.bool_]) -> float:
        """Return the score of a stack of masks."""
        full = np.broadcast_to(named, marked.shape)
        return get_metric(self.metric).score(_flat(marked), _flat(full))

    def best_limit(self, said: NDArray[Any]) -> float:
        """Return the limit below which what is said of the pictures held back gives the best masks."""
        wanted = self.marked[self.held]
        return float(_LIMITS[int(np.argmax([self.score(said < limit, wanted) for limit in _LIMITS]))])

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
    return TaskPictures(seen, marked, test, facts.metric)


def _by_limit(shader: str) -> Solver:
    """Make a solver that marks what a shader says is darker than a limit, tuned on training pictures held back."""

    def solver(pictures: TaskPictures) -> Masks:
        held, test = pictures.said(shader)
        return pictures.masks(test < pictures.best_limit(held))

    return solver


def _flat(masks: NDArray[np.bool_]) -> NDArray[np.bool_]:
    return masks.reshape(len(masks), -1)


def _clean(marked: NDArray[np.bool_]) -> Pixels:
    return np.asarray(~marked, dtype=np.float32)


_HEIGHTS = np.linspace(0, 1, 21)
"""Shares of training masks from which on a pixel is marked on all pictures."""


def prior(pictures: TaskPictures) -> Masks:
    """Mark the same pixels on all pictures: those that are marked most often, as many as pays on training pictures."""
    often = pictures.marked.mean(axis=0)
    tried = [often >= height for height in np.quantile(often, _HEIGHTS)] + [np.zeros_like(often, dtype=np.bool_)]
    scores = [pictures.score(one, pictures.marked) for one in tried]
    return pictures.masks(tried[int(np.argmax(scores))])


def _between(pictures: TaskPictures) -> float:
    inside, outside = pictures.seen[pictures.marked], pictures.seen[~pictures.marked]
    return float((inside.mean() + outside.mean()) / 2) if inside.size else 0.0


def _smooth_marks(pictures: TaskPictures) -> Any:
    return smooth(stretch(pictures.test), 1.0) < 0.5


_WIDTHS = (0.0, 0.7, 1.2)
"""Widths of a Gaussian over what a shader says."""
_LEAST = (0, 4, 8, 14, 22)
"""Fewest pixels of a region that are tried."""


def without_small(marked: NDArray[np.bool_], least: int) -> NDArray[np.bool_]:
    """Drop regions of fewer pixels. Pixels that touch at a side are of one region."""
    from scipy.ndimage import label

    beside = np.zeros((3, 3, 3), dtype=np.bool_)
    beside[1] = [[False, True, False], [True, True, True], [False, True, False]]
    regions, _ = label(marked, structure=beside)
    sizes = np.bincount(regions.ravel())
    sizes[0] = 0
    return np.asarray(sizes[regions] >= max(least, 1), dtype=np.bool_)


def _tidied(pictures: TaskPictures, shader: str) -> Masks:
    """Smooth what a shader says, take a limit, and drop small regions, all tuned on training pictures held back."""
    held, test = pictures.said(shader)
    wanted = pictures.marked[pictures.held]
    best: tuple[float, Any] = (-1.0, None)
    for width in _WIDTHS:
        smoothed = smooth(held, width) if width else held
        limit = pictures.best_limit(smoothed)
        for least in _LEAST:
            score = pictures.score(without_small(smoothed < limit, least), wanted)
            if score > best[0]:
                best = score, (width, limit, least)
    width, limit, least = best[1]
    return pictures.masks(without_small((smooth(test, width) if width else test) < limit, least))


def _row_by_row(pictures: TaskPictures) -> Masks:
    """Count pixels row by row in runs."""
    return np.asarray(_smooth_marks(pictures).reshape(pictures.shape), dtype=np.uint8)


def _from_zero(pictures: TaskPictures) -> Masks:
    """Count pixels from 0 in runs, so that all runs are one pixel early."""
    right = pictures.masks(_smooth_marks(pictures))
    return np.hstack([right[:, 1:], np.zeros((len(right), 1), dtype=np.uint8)])


def _middle_of_picture(pictures: TaskPictures) -> Masks:
    down, across = (np.abs(np.linspace(-1, 1, side)) < 0.5 for side in pictures.test.shape[1:])
    return pictures.masks(down[:, None] & across)


def _usual_share(pictures: TaskPictures) -> Masks:
    """Mark the darkest pixels of each picture, as many as training masks have on average."""
    limits = np.quantile(pictures.test, pictures.marked.mean(), axis=(1, 2), keepdims=True)
    return pictures.masks(pictures.test < limits)


_SOLVERS: Mapping[str, Solver] = {
    "prior": prior,
    "empty_mask": lambda pictures: pictures.masks(np.zeros(1)),
    "full_mask": lambda pictures: pictures.masks(np.ones(1)),
    "middle_of_picture": _middle_of_picture,
    # Pixels that are marked on most training pictures
    "usual_pixels": lambda pictures: pictures.masks(pictures.marked.mean(axis=0) > 0.5),
    # What is darker than a half, than the mean, than the mean of both groups, than others, than what is around it
    "dark_half": lambda pictures: pictures.masks(pictures.test < 0.5),
    "darker_than_most": lambda pictures: pictures.masks(pictures.test < pictures.seen.mean()),
    "between_means": lambda pictures: pictures.masks(pictures.test < _between(pictures)),
    "usual_share": _usual_share,
    "otsu_split": lambda pictures: pictures.masks(
        pictures.test < np.array([otsu(picture) for picture in pictures.test])[:, None, None]
    ),
    "local_threshold": lambda pictures: pictures.masks(pictures.test < local_mean(pictures.test, 15) - 0.05),
    # Misreadings of the form of answers
    "row_by_row": _row_by_row,
    "from_zero": _from_zero,
    "inverted_mask": lambda pictures: pictures.masks(~_smooth_marks(pictures)),
    **{shader: _by_limit(shader) for shader in SHADERS},
    "tidied_filter": lambda pictures: _tidied(pictures, "searched_filter"),
    "tidied_boosting": lambda pictures: _tidied(pictures, "boosted_features"),
    "tidied_second_look": lambda pictures: _tidied(pictures, "second_look"),
}
ENTRIES = entries(
    {
        Tier.TRIVIAL: "prior",
        Tier.NAIVE: "empty_mask full_mask middle_of_picture usual_pixels dark_half darker_than_most between_means "
        "usual_share otsu_split local_threshold row_by_row from_zero inverted_mask",
        Tier.COMPETENT: "value_curve stretched_curve smooth_curve adaptive_curve median_curve wide_curve plane_curve "
        "difference_curve without_lines_curve linear_patch linear_stretched",
        Tier.STRONG: "linear_features logistic_features forest_features boosted_features",
        Tier.SEARCH: "searched_filter tidied_filter second_look tidied_boosting tidied_second_look",
        Tier.ENSEMBLE: "average_of_two",
    },
    _SOLVERS,
)
"""The ladder, weakest tier first."""
WITH_MORE_ITEMS = ("boosted_features", "tidied_second_look")
"""Entries that are given more pictures to learn from, which bounds the best possible score from below."""
