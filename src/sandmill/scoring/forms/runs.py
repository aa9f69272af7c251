"""The form `runs`: a mask of the pixels of a picture, written as runs of pixels in one cell.

Predictions and truth are arrays of 0 and 1, shape (items, pixels). Pixels follow each other column by column, as runs
count them: from top to bottom, then from left to right.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sandmill.errors import Problem, shorten
from sandmill.models.package import TaskFacts
from sandmill.scoring.base import Array
from sandmill.scoring.forms.base import NUMBER_BYTES, AnswerForm, Cells, Column, Lengths, others, texts_of

_LONGEST_NUMBER = 9
"""Digits of a number in a run. Longer ones are refused before they are read."""
_SLACK = 2
"""Factor on the characters of the longest plain cell up to which a cell is read."""
_LEAST_LIMIT = 32
"""Characters of a plain cell that are always allowed, however small the picture is."""
_AS_SPACES = str.maketrans("\t", " ")
"""Tabs and spaces separate numbers, and no other blanks of Unicode."""


class Runs(AnswerForm):
    """Pairs of numbers for each picture: the first pixel of a run, counted from 1, and how many pixels it has.

    Runs rise and do not overlap; an empty cell is a mask without a pixel.
    """

    wide = "pixels"

    def read(self, columns: Sequence[Column], lines: Sequence[int], facts: TaskFacts, problems: list[Problem]) -> Array:
        """Return plain runs as texts, shape (rows,). `to_items` makes masks of them once the ids are known."""
        pixels = self.width(facts)
        plain, bad = [], []
        for line, cell in zip(lines, columns[0], strict=True):
            try:
                plain.append(write_runs(parse_runs(cell, pixels)))
            except ValueError as error:
                bad.append((line, cell, str(error)))
        if bad:
            line, cell, reason = bad[0]
            where = f"line {line}, {facts.submission_columns[0]}"
            problems.append(Problem(where, f'"{shorten(cell)}"', f"{reason}{others(bad)}"))
        return texts_of(plain)

    def read_truth(self, cells: Cells, facts: TaskFacts) -> Array:
        """Return runs as texts, shape (rows,).

        Raises:
            ValueError: if a cell does not hold runs of the picture.
        """
        pixels = self.width(facts)
        return texts_of([write_runs(parse_runs(str(cell or ""), pixels)) for cell in cells[facts.target_column]])

    def to_items(self, cells: Array, facts: TaskFacts, lengths: Lengths = None) -> Array:
        """Return a mask for each item."""
        return masks_of(cells, self.width(facts))

    def to_rows(self, values: Array) -> Array:
        """Return the runs of each mask as text."""
        return texts_of([write_runs(runs_of(mask)) for mask in values])

    def settle(self, truth: Array, facts: TaskFacts) -> Array:
        """Return 0 and 1 as small integers."""
        return np.asarray(truth > 0, dtype=np.uint8)

    def write_truth(self, truth: Array, facts: TaskFacts) -> Cells:
        """Write the runs of each mask in one cell."""
        return {facts.target_column: self.to_rows(truth).tolist()}

    def sample(self, facts: TaskFacts, truth: Array) -> list[object]:
        """Choose the first pixel alone."""
        return ["1 1"]

    def guesses(self, facts: TaskFacts, rows: int, numbers: Sequence[float]) -> Iterator[Array]:
        """Yield an empty mask, all pixels, each half, and the middle of the picture."""
        down, across = facts.picture
        place = np.stack(np.meshgrid(np.linspace(0, 1, down), np.linspace(0, 1, across), indexing="ij"))
        middle = np.abs(place - 0.5).max(axis=0) < 0.25
        halves = [half for axis in place for half in (axis < 0.5, axis >= 0.5)]
        for mask in (np.zeros((down, across)), np.ones((down, across)), middle, *halves):
            yield np.tile(mask.T.reshape(-1).astype(np.uint8), (rows, 1))

    def cell_bytes(self, facts: TaskFacts) -> int:
        """Return the bytes of the most runs that a picture can have, one pixel each."""
        return max(NUMBER_BYTES, longest_runs(self.width(facts)))


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
