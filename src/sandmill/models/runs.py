"""Masks of pictures as runs of pixels: how they are written in a cell, and read from one that may be hostile."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

_LONGEST_NUMBER = 9
"""Digits of a number in a run. Longer ones are refused before they are read."""
_SLACK = 2
"""Factor on the characters of the longest plain cell up to which a cell is read."""
_LEAST_LIMIT = 32
"""Characters of a plain cell that are always allowed, however small the picture is."""
_AS_SPACES = str.maketrans("\t", " ")
"""Tabs and spaces separate numbers, and no other blanks of Unicode."""


def longest_runs(pixels: int) -> int:
    """Return the characters of the most runs that a picture can have, one pixel each."""
    return (pixels + 1) // 2 * (len(str(pixels)) + 3)


def runs_of(mask: NDArray[np.generic]) -> NDArray[np.int64]:
    """Return the runs of a mask of shape (pixels,): first pixels, counted from 1, and lengths, shape (runs, 2)."""
    edges = np.flatnonzero(np.diff(np.r_[0, mask != 0, 0]))
    return np.column_stack([edges[::2] + 1, edges[1::2] - edges[::2]]).astype(np.int64)


def masks_of(texts: Sequence[object] | NDArray[Any], pixels: int) -> NDArray[np.uint8]:
    """Return the masks of plain runs, shape (items, pixels)."""
    masks = np.zeros((len(texts), pixels), dtype=np.uint8)
    for mask, text in zip(masks, texts, strict=True):
        numbers = np.array(str(text).split(), dtype=np.int64)
        for start, length in numbers.reshape(-1, 2):
            mask[start - 1 : start - 1 + length] = 1
    return masks


def parse_runs(cell: str, pixels: int) -> NDArray[np.int64]:
    """Read the runs of a cell, shape (runs, 2).

    Args:
        cell: of a file, which may be hostile.
        pixels: of the picture.

    Raises:
        ValueError: if it does not hold runs of the picture. The message says what was expected.
    """
    if len(cell) > (most := _SLACK * max(longest_runs(pixels), _LEAST_LIMIT)):
        raise ValueError(f"runs of a picture of {pixels} pixels, at most {most} characters")
    words = [word for word in cell.translate(_AS_SPACES).split(" ") if word]
    if not all(word.isascii() and word.isdigit() and len(word) <= _LONGEST_NUMBER for word in words):
        raise ValueError("whole numbers separated by spaces")
    if len(words) % 2:
        raise ValueError("pairs of numbers: the first pixel of a run and its length")
    runs = np.array(words, dtype=np.int64).reshape(-1, 2)
    start, end = runs[:, 0], runs.sum(axis=1)
    if (runs < 1).any() or (end > pixels + 1).any():
        raise ValueError(f"runs of 1 pixel or more, from pixel 1 to pixel {pixels}")
    if (start[1:] < end[:-1]).any():
        raise ValueError("runs that rise and do not overlap")
    return runs


def write_runs(runs: NDArray[np.int64]) -> str:
    """Write runs as a cell."""
    return " ".join(map(str, runs.ravel().tolist()))
