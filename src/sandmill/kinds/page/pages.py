"""Read the dirty and clean pages of a task for its solvers, and cache the features that several solvers use."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sandmill.models.package import TaskFacts

Pixels = NDArray[np.float32]
"""Values from 0, black, to 1, white, of shape (pages, height, width)."""
Pair: TypeAlias = tuple[Any, Any]
"""Something made of the training pages, and the same of the test pages."""


@dataclass
class TaskPages:
    """The pages of a task, in the order of their file names."""

    dirty: Pixels
    """Training pages."""
    clean: Pixels
    """The same pages, clean."""
    test: Pixels
    made: dict[str, Any] = field(default_factory=dict)
    """What several solvers use, by name."""

    @property
    def shape(self) -> tuple[int, int]:
        """Test pages and pixels of a page."""
        return len(self.test), self.test[0].size

    def flat(self, pages: NDArray[Any]) -> NDArray[np.float64]:
        """Return predictions of test pages as answers."""
        return np.clip(pages.reshape(self.shape).astype(np.float64), 0, 1)

    @property
    def both(self) -> "Pair":
        """Dirty pages of both parts."""
        return self.dirty, self.test

    def levelled(self, side: int = 11) -> "Pair":
        """Dirty pages of both parts, divided by a wide median of them, which is the background."""
        found: Pair = self.cached(f"levelled {side}", lambda one: each(one.both, partial(over_background, side=side)))
        return found

    def cached(self, name: str, make: Callable[["TaskPages"], Any]) -> Any:
        """Return what was made under a name, which is made on first use."""
        if name not in self.made:
            self.made[name] = make(self)
        return self.made[name]


def read(folder: Path, facts: TaskFacts) -> TaskPages:
    """Read all pages of the public files."""
    dirty, clean, test = (read_folder(folder / part) for part in ("train", "train_cleaned", "test"))
    return TaskPages(dirty, clean, test)


def each(pair: Pair, change: Callable[[Any], Any]) -> Pair:
    """Do the same to the pages of both parts."""
    return change(pair[0]), change(pair[1])


def over_background(stack: Any, side: int) -> Any:
    """Divide each page by a wide median of it, taken of every other row and column."""
    from scipy.ndimage import median_filter

    places = np.zeros((1, side, side), dtype=np.bool_)
    places[:, ::2, ::2] = True
    return stack / np.maximum(median_filter(stack, footprint=places, mode="nearest"), 0.05)


def read_folder(folder: Path) -> Pixels:
    """Read all pictures of a folder in the order of their names."""
    from PIL import Image

    files = sorted(folder.glob("*.png"))
    return np.stack([np.asarray(Image.open(file), dtype=np.float32) / 255 for file in files])
