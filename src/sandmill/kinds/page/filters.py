"""The pages of a task, and solvers that filter each page by itself, with at most a few numbers fitted."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

Pixels = NDArray[np.float32]
"""Values from 0, black, to 1, white, of shape (pages, height, width)."""
Pair: TypeAlias = tuple[Any, Any]
"""Something made of the training pages, and the same of the test pages."""
Made = TypeVar("Made")


@dataclass
class TaskPages:
    """The pages of a task, in the order of their file names."""

    dirty: Pixels
    """Training pages."""
    clean: Pixels
    """The same pages, clean."""
    test: Pixels
    features: "Callable[[TaskPages], Pair]"
    """Makes what regressions read of both parts: rows for pixels, columns for what is around them."""
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

    @property
    def views(self) -> "Pair":
        """Features of both parts."""
        return self.cached("features", self.features)

    @property
    def levelled(self) -> "Pair":
        """Dirty pages of both parts, divided by a wide median of them, which is the background."""
        return self.cached("levelled", lambda one: each(one.both, lambda stack: over_background(stack, 11)))

    def cached(self, name: str, make: "Callable[[TaskPages], Made]") -> Made:
        """Return what was made under a name, which is made on first use."""
        if name not in self.made:
            self.made[name] = make(self)
        found: Made = self.made[name]
        return found


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


Answer = NDArray[np.float64]
Solver = Callable[[TaskPages], Answer]
Filter = Callable[[TaskPages], Pair]
"""Filters the pages of both parts."""

_KNOTS = 24
"""Pieces of a curve from a filtered value to a clean one."""


def stretch(pages: Pixels) -> Any:
    """Move the 2nd percentile of each page to 0 and the 90th to 1."""
    low, high = np.percentile(pages, [2, 90], axis=(1, 2), keepdims=True)
    return np.clip((pages - low) / np.maximum(high - low, 0.05), 0, 1)


def local_mean(pages: Any, side: int) -> Any:
    """Mean of a square around each pixel."""
    from scipy.ndimage import uniform_filter

    return uniform_filter(pages, (0, side, side), mode="nearest")


def local_median(pages: Any, side: int) -> Any:
    """Median of a square around each pixel."""
    from scipy.ndimage import median_filter as median

    return median(pages, (1, side, side), mode="nearest")


def smooth(pages: Any, width: float) -> Any:
    """Blur each page with a Gaussian."""
    from scipy.ndimage import gaussian_filter

    return gaussian_filter(pages, (0, width, width), mode="nearest")


def over_closing(pages: Any, side: int) -> Any:
    """Divide each page by its grey closing, which is the background if ink is narrower than the side."""
    from scipy.ndimage import grey_closing

    return pages / np.maximum(grey_closing(pages, (1, side, side), mode="nearest"), 0.05)


def local_contrast(pages: Any) -> Any:
    """Distance of each pixel from the mean around it, in standard deviations and part of the page's spread."""
    mean = local_mean(pages, 9)
    spread = np.sqrt(np.maximum(local_mean(pages**2, 9) - mean**2, 0))
    return (pages - mean) / (spread + 0.5 * pages.std(axis=(1, 2), keepdims=True) + 1e-3)


def filtered(*steps: Callable[[Any], Any]) -> Filter:
    """Make a filter of steps, the first one first."""
    return lambda pages: each(pages.both, lambda stack: reduce(lambda made, step: step(made), steps, stack))


def blur(width: float) -> Callable[[Any], Any]:
    """Make a step that blurs."""
    return lambda stack: smooth(stack, width)


def fit_curve(filtered: Any, clean: Any) -> tuple[Any, Any]:
    """Return knots of the curve from a filtered value to the mean clean value."""
    values, wanted = np.asarray(filtered, dtype=np.float64).ravel(), np.asarray(clean, dtype=np.float64).ravel()
    edges = np.unique(np.quantile(values, np.linspace(0, 1, _KNOTS + 1)))
    place = np.clip(np.searchsorted(edges, values, side="right") - 1, 0, max(len(edges) - 2, 0))
    counts = np.maximum(np.bincount(place), 1)
    return np.bincount(place, values) / counts, np.bincount(place, wanted) / counts


def curve_of(pages: TaskPages, pair: Pair) -> Answer:
    """Map the values of filtered pages to the mean clean value of training pixels with that value."""
    knots, means = fit_curve(pair[0], pages.clean)
    return pages.flat(np.interp(pair[1], knots, means))


def best_curve(pages: TaskPages, chains: Sequence[Filter]) -> Answer:
    """Take the chain of filters whose curve fits the training pages best."""
    losses, pairs = [], [chain(pages) for chain in chains]
    for filtered, _ in pairs:
        knots, means = fit_curve(filtered, pages.clean)
        losses.append(float(((np.interp(filtered, knots, means) - pages.clean) ** 2).mean()))
    return curve_of(pages, pairs[int(np.argmin(losses))])


def curve(chain: Filter) -> Solver:
    """Make a solver that maps the values of filtered pages to the mean clean value of training pixels."""
    return lambda pages: curve_of(pages, chain(pages))


CHAINS: Sequence[Filter] = (
    filtered(blur(0.5)),
    filtered(local_contrast, blur(0.5)),
    lambda pages: each(pages.levelled, blur(0.5)),
    lambda pages: each(pages.levelled, blur(0.8)),
)
"""Chains of filters that a search tries."""
SOLVERS: Mapping[str, Solver] = {
    # Answers that look at no dirty page, and dirty pages as they are
    "prior": lambda pages: pages.flat(np.broadcast_to(pages.clean.mean(axis=0), pages.test.shape)),
    "white_page": lambda pages: pages.flat(np.ones_like(pages.test)),
    "dirty_page": lambda pages: pages.flat(pages.test),
    # Misreadings: ink for paper, rows for columns
    "inverted_page": lambda pages: pages.flat(1 - stretch(pages.test)),
    "swapped_places": lambda pages: pages.flat(stretch(pages.test).transpose(0, 2, 1).reshape(pages.test.shape)),
    # One filter or threshold
    "half_threshold": lambda pages: pages.flat(pages.test > 0.5),
    "mean_filter": lambda pages: pages.flat(local_mean(pages.test, 3)),
    "stretched_page": lambda pages: pages.flat(stretch(pages.test)),
    "value_curve": curve(filtered()),
    "smooth_curve": curve(filtered(stretch, blur(0.6))),
    "background_curve": curve(lambda pages: pages.levelled),
    "adaptive_curve": curve(filtered(local_contrast)),
    "searched_filter": lambda pages: best_curve(pages, CHAINS),
}
