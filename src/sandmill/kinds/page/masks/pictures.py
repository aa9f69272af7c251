"""Read the pictures and masks of a task for its solvers, and make masks of what they say of each pixel."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property, wraps
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sandmill.kinds.page.pages import Pixels, TaskPages, read_folder
from sandmill.models.package import TaskFacts
from sandmill.models.structure import MetricName
from sandmill.scoring import get_metric

Masks = NDArray[np.uint8]
"""Masks of test pictures as answers hold them: 0 and 1, column by column, shape (pictures, pixels)."""
Solver = Callable[["TaskPictures"], Masks]
Shader = Callable[[TaskPages], NDArray[np.float64]]
"""Says how light each test pixel of a clean page is, where a clean page is dark in the mask and light elsewhere."""

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

    def said(self, shader: Shader) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return what a shader says of the pictures held back and of the test pictures, as stacks of pictures."""
        if shader.__name__ not in self.made:
            held, test = shader(self.inner), shader(self.pages)
            self.made[shader.__name__] = held.reshape(self.inner.test.shape), test.reshape(self.test.shape)
        found: tuple[NDArray[np.float64], NDArray[np.float64]] = self.made[shader.__name__]
        return found

    def score(self, named: NDArray[np.bool_], marked: NDArray[np.bool_]) -> float:
        """Return the score of a stack of masks."""
        full = np.broadcast_to(named, marked.shape)
        return get_metric(self.metric).own_score(_flat(marked), _flat(full))

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


def by_limit(shader: Shader) -> Solver:
    """Make a solver that marks what a shader says is darker than a limit, tuned on training pictures held back."""

    @wraps(shader)
    def solver(pictures: TaskPictures) -> Masks:
        held, test = pictures.said(shader)
        return pictures.masks(test < pictures.best_limit(held))

    return solver


def _flat(masks: NDArray[np.bool_]) -> NDArray[np.bool_]:
    return masks.reshape(len(masks), -1)


def _clean(marked: NDArray[np.bool_]) -> Pixels:
    return np.asarray(~marked, dtype=np.float32)
