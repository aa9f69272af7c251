"""Solvers that look at each picture by itself, or at no picture, and misreadings of the form of answers."""

from typing import Any

import numpy as np

from sandmill.kinds.page.filters import local_mean, otsu, smooth, stretch
from sandmill.kinds.page.masks.pictures import Masks, TaskPictures

_HEIGHTS = np.linspace(0, 1, 21)
"""Shares of training masks from which on a pixel is marked on all pictures."""


def prior(pictures: TaskPictures) -> Masks:
    """Mark the same pixels on all pictures: those that are marked most often, as many as pays on training pictures."""
    often = pictures.marked.mean(axis=0)
    tried = [often >= height for height in np.quantile(often, _HEIGHTS)] + [np.zeros_like(often, dtype=np.bool_)]
    scores = [pictures.score(one, pictures.marked) for one in tried]
    return pictures.masks(tried[int(np.argmax(scores))])


def empty_mask(pictures: TaskPictures) -> Masks:
    """Mark nothing."""
    return pictures.masks(np.zeros(1))


def full_mask(pictures: TaskPictures) -> Masks:
    """Mark every pixel."""
    return pictures.masks(np.ones(1))


def middle_of_picture(pictures: TaskPictures) -> Masks:
    """Mark the middle of each picture."""
    height, width = pictures.test.shape[1:]
    down, across = np.abs(np.linspace(-1, 1, height)), np.abs(np.linspace(-1, 1, width))
    return pictures.masks((down[:, None] < 0.5) & (across < 0.5))


def usual_pixels(pictures: TaskPictures) -> Masks:
    """Mark the pixels that are marked on most training pictures."""
    return pictures.masks(pictures.marked.mean(axis=0) > 0.5)


def dark_half(pictures: TaskPictures) -> Masks:
    """Mark everything darker than a half."""
    return pictures.masks(pictures.test < 0.5)


def darker_than_most(pictures: TaskPictures) -> Masks:
    """Mark what is darker than the mean of training pixels."""
    return pictures.masks(pictures.test < pictures.seen.mean())


def between_means(pictures: TaskPictures) -> Masks:
    """Mark what is nearer to the mean of marked training pixels than to that of the others."""
    return pictures.masks(pictures.test < _between(pictures))


def usual_share(pictures: TaskPictures) -> Masks:
    """Mark the darkest pixels of each picture, as many as training masks have on average."""
    limits = np.quantile(pictures.test, pictures.marked.mean(), axis=(1, 2), keepdims=True)
    return pictures.masks(pictures.test < limits)


def otsu_split(pictures: TaskPictures) -> Masks:
    """Split each picture at Otsu's threshold."""
    limits = np.array([otsu(picture) for picture in pictures.test])
    return pictures.masks(pictures.test < limits[:, None, None])


def local_threshold(pictures: TaskPictures) -> Masks:
    """Mark what is darker than the mean around it."""
    return pictures.masks(pictures.test < local_mean(pictures.test, 15) - 0.05)


def row_by_row(pictures: TaskPictures) -> Masks:
    """Count pixels row by row in runs."""
    return np.asarray(_smooth_marks(pictures).reshape(pictures.shape), dtype=np.uint8)


def from_zero(pictures: TaskPictures) -> Masks:
    """Count pixels from 0 in runs, so that all runs are one pixel early."""
    right = pictures.masks(_smooth_marks(pictures))
    return np.hstack([right[:, 1:], np.zeros((len(right), 1), dtype=np.uint8)])


def inverted_mask(pictures: TaskPictures) -> Masks:
    """Mark what does not count."""
    return pictures.masks(~_smooth_marks(pictures))


def _between(pictures: TaskPictures) -> float:
    inside, outside = pictures.seen[pictures.marked], pictures.seen[~pictures.marked]
    return float((inside.mean() + outside.mean()) / 2) if inside.size else 0.0


def _smooth_marks(pictures: TaskPictures) -> Any:
    return smooth(stretch(pictures.test), 1.0) < 0.5
