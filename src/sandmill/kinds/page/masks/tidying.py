"""Masks that are tidied after a limit: regions that are too small are dropped."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sandmill.kinds.page.filters import smooth
from sandmill.kinds.page.masks.pictures import Masks, Shader, TaskPictures
from sandmill.kinds.page.masks.pixel_classifiers import boosted_features, searched_filter, second_look

_WIDTHS = (0.0, 0.7, 1.2)
"""Widths of a Gaussian over what a shader says."""
_LEAST = (0, 4, 8, 14, 22)
"""Fewest pixels of a region that are tried."""


def tidied_filter(pictures: TaskPictures) -> Masks:
    """Search for a chain of filters, smooth what it says, take a limit, and drop small regions."""
    return _tidied(pictures, searched_filter)


def tidied_boosting(pictures: TaskPictures) -> Masks:
    """The same after gradient boosting on filtered pictures."""
    return _tidied(pictures, boosted_features)


def tidied_second_look(pictures: TaskPictures) -> Masks:
    """The same after the second look."""
    return _tidied(pictures, second_look)


def without_small(marked: NDArray[np.bool_], least: int) -> NDArray[np.bool_]:
    """Drop regions of fewer pixels. Pixels that touch at a side are of one region."""
    from scipy.ndimage import label

    beside = np.zeros((3, 3, 3), dtype=np.bool_)
    beside[1] = [[False, True, False], [True, True, True], [False, True, False]]
    regions, _ = label(marked, structure=beside)
    sizes = np.bincount(regions.ravel())
    sizes[0] = 0
    return np.asarray(sizes[regions] >= max(least, 1), dtype=np.bool_)


def _tidied(pictures: TaskPictures, shader: Shader) -> Masks:
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
