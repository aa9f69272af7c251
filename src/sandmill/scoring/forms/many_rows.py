"""The forms with several answer rows an item: `pairs`, `dense` and `strings`.

The id of an answer row is that of its item and what the row answers, joined by underscores. Rows of an item follow
each other.
"""

import re
from collections.abc import Iterator, Sequence
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from sandmill.errors import Problem, shorten
from sandmill.models.package import TaskFacts
from sandmill.scoring.base import Array
from sandmill.scoring.forms.base import (
    AnswerForm,
    Cells,
    Column,
    Lengths,
    others,
    read_columns,
    rising,
    texts_of,
)
from sandmill.scoring.forms.names import LabelList
from sandmill.scoring.forms.numbers import LabelProbabilities, Range, read_numbers

PIXEL_DECIMALS = 4
"""Decimals of a pixel's value. Steps of 8-bit grey are forty times as large."""
LONGEST_STRING = 500
"""Characters of one cell of `strings`."""
MOST_PLACES = 20_000_000
"""Items times places of the longest item of `strings`: the cells of one array."""
_LONGEST = 200
"""Most places of an item of `strings` in a micro task."""
_STRING_BYTES = 128
"""Bytes of one usual cell of `strings`, with its separator."""
CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
"""Characters that no text of `strings` holds."""


class _Suffixed(AnswerForm):
    """A number in each answer row, as many rows for every item, told apart by the ends of their ids."""

    allowed: ClassVar[Range]

    def suffixes(self, facts: TaskFacts) -> list[str]:
        """Return the ends of the ids of an item's rows, in the order of the files."""
        raise NotImplementedError

    def row_ids(self, ids: Sequence[str], facts: TaskFacts, lengths: Lengths = None) -> list[str]:
        """Join the id of each item with each end."""
        ends = self.suffixes(facts)
        return [name + end for name in ids for end in ends]

    def rows_each(self, facts: TaskFacts) -> int:
        """Return the number of ends."""
        return self.width(facts)

    def item_ids(self, row_ids: Sequence[str], facts: TaskFacts) -> tuple[list[str], Lengths]:
        """Cut the ends off."""
        ends = self.suffixes(facts)
        return [name.removesuffix(ends[0]) for name in row_ids[:: len(ends)]], None

    def to_items(self, cells: Array, facts: TaskFacts, lengths: Lengths = None) -> Array:
        """Return a row of numbers for each item."""
        return cells.reshape(-1, self.width(facts))

    def to_rows(self, values: Array) -> Array:
        """Return one number for each answer row."""
        return values.reshape(-1)

    def read(self, columns: Sequence[Column], lines: Sequence[int], facts: TaskFacts, problems: list[Problem]) -> Array:
        """Return numbers, shape (answer rows,)."""
        return read_numbers(columns, lines, facts, self.allowed, problems)[:, 0]

    def read_truth(self, cells: Cells, facts: TaskFacts) -> Array:
        """Return numbers, shape (answer rows,)."""
        return read_columns(cells, [facts.target_column])[:, 0]

    def write_answers(self, truth: Array, facts: TaskFacts) -> Cells:
        """Write a number for each answer row."""
        return {facts.target_column: self.to_rows(truth).tolist()}


class Pairs(_Suffixed):
    """P(label) of each pair of an item and a label, a row a pair. Ids are `<item>_<label>`.

    Training files name the labels of an item in one cell, separated by spaces.
    """

    wide = "classes"

    allowed = (0.0, 1.0, "a probability from 0 to 1")

    def suffixes(self, facts: TaskFacts) -> list[str]:
        """Return the labels."""
        return [f"_{name}" for name in facts.classes]

    def read_truth(self, cells: Cells, facts: TaskFacts) -> Array:
        """Return 0 or 1, shape (answer rows,)."""
        return super().read_truth(cells, facts).astype(np.int64)

    def write_truth(self, truth: Array, facts: TaskFacts) -> Cells:
        """Write the names of labels in one cell."""
        return LabelList().write_truth(truth, facts)

    def guesses(self, facts: TaskFacts, rows: int, numbers: Sequence[float]) -> Iterator[Array]:
        """Yield even chances, ranks by item, and labels in the order of their names."""
        yield from LabelProbabilities().guesses(facts, rows, numbers)
        names = rising(len(facts.classes))
        yield from (np.tile(side, (rows, 1)) for side in (names, names[::-1]))


class Dense(_Suffixed):
    """A number from 0 to 1 for each pixel of a picture, a row a pixel. Ids are `<item>_<row>_<column>`, from 1.

    Training items hold the target as bytes, one a pixel, row by row: 255 is 1.
    """

    wide = "pixels"

    allowed = (0.0, 1.0, "a number from 0 to 1")

    def suffixes(self, facts: TaskFacts) -> list[str]:
        """Return the places of pixels, row by row."""
        rows, columns = facts.picture
        return [f"_{row}_{column}" for row in range(1, rows + 1) for column in range(1, columns + 1)]

    def settle(self, truth: Array, facts: TaskFacts) -> Array:
        """Round to the decimals of the files."""
        return np.round(truth, PIXEL_DECIMALS)

    def write_truth(self, truth: Array, facts: TaskFacts) -> Cells:
        """Write the pixels of each picture as bytes."""
        grey = np.rint(255 * truth).astype(np.uint8)
        return {facts.target_column: [picture.tobytes() for picture in grey]}

    def sample(self, facts: TaskFacts, truth: Array) -> list[object]:
        """Choose black or white, whichever is rarer."""
        return [1.0 if truth.mean() < 0.5 else 0.0]

    def guesses(self, facts: TaskFacts, rows: int, numbers: Sequence[float]) -> Iterator[Array]:
        """Yield constants that the description names."""
        width = self.width(facts)
        constants = dict.fromkeys([0.0, 0.5, 1.0, *(number for number in numbers if 0 <= number <= 1)])
        yield from (np.full((rows, width), number) for number in constants)


class Strings(AnswerForm):
    """A text for each place of an item, a row a place. Ids are `<item>_<place>`, from 0. Texts are compared exactly.

    Predictions are arrays of str, shape (items, places), None after the last place of an item. Training items hold the
    target as a list.
    """

    def row_ids(self, ids: Sequence[str], facts: TaskFacts, lengths: Lengths = None) -> list[str]:
        """Number the places of each item."""
        if lengths is None:
            raise ValueError("the number of places of each item is needed")
        ends = [f"_{place}" for place in range(max(lengths, default=0))]
        return [name + end for name, length in zip(ids, lengths, strict=True) for end in ends[:length]]

    def item_ids(self, row_ids: Sequence[str], facts: TaskFacts) -> tuple[list[str], Lengths]:
        """Start an item at each place 0.

        Raises:
            ValueError: if the items have more places than any task needs.
        """
        starts = [row for row, name in enumerate(row_ids) if name.rpartition("_")[2] == "0"]
        lengths = np.diff([*starts, len(row_ids)])
        if len(lengths) * lengths.max(initial=0) > MOST_PLACES:
            raise ValueError(f"{len(lengths)} items with up to {lengths.max()} answer rows")
        return [row_ids[row].rpartition("_")[0] for row in starts], lengths

    def most_rows_each(self, facts: TaskFacts) -> int:
        """Return the places of a long sentence."""
        return _LONGEST

    def lengths(self, values: Array) -> NDArray[np.intp] | None:
        """Count the places of each item."""
        return np.asarray(_is_place(values).sum(axis=1), dtype=np.intp)

    def to_items(self, cells: Array, facts: TaskFacts, lengths: Lengths = None) -> Array:
        """Return a row of texts for each item."""
        if lengths is None:
            raise ValueError("the number of places of each item is needed")
        counts = np.asarray(lengths)
        wide = np.full((len(counts), max(counts, default=0)), None, dtype=object)
        wide[np.arange(wide.shape[1]) < counts[:, None]] = cells
        return wide

    def to_rows(self, values: Array) -> Array:
        """Return one text for each answer row."""
        return values[_is_place(values)]

    def read(self, columns: Sequence[Column], lines: Sequence[int], facts: TaskFacts, problems: list[Problem]) -> Array:
        """Return texts as they are, shape (answer rows,)."""
        bad = [row for row, cell in enumerate(columns[0]) if len(cell) > LONGEST_STRING or CONTROL.search(cell)]
        if bad:
            where = f"line {lines[bad[0]]}, {facts.submission_columns[0]}"
            expected = f"a text of at most {LONGEST_STRING} characters without control characters{others(bad)}"
            problems.append(Problem(where, f'"{shorten(columns[0][bad[0]])}"', expected))
        return texts_of(columns[0])

    def read_truth(self, cells: Cells, facts: TaskFacts) -> Array:
        """Return texts as they are, shape (answer rows,)."""
        return texts_of([str(cell) for cell in cells[facts.target_column]])

    def write_truth(self, truth: Array, facts: TaskFacts) -> Cells:
        """Write the texts of an item as a list."""
        return {facts.target_column: [[text for text in row if text is not None] for row in truth]}

    def write_answers(self, truth: Array, facts: TaskFacts) -> Cells:
        """Write one text for each place."""
        return {facts.target_column: self.to_rows(truth).tolist()}

    def sample(self, facts: TaskFacts, truth: Array) -> list[object]:
        """Choose the rarest text of the training items, equals by the alphabet."""
        texts, counts = np.unique(self.to_rows(truth).astype(str), return_counts=True)
        return [str(texts[int(counts.argmin())])] if len(texts) else [""]

    def guesses(self, facts: TaskFacts, rows: int, numbers: Sequence[float]) -> Iterator[Array]:
        """Yield nothing: a text for each place of each item needs the test items."""
        yield from ()

    def cell_bytes(self, facts: TaskFacts) -> int:
        """Return the bytes of a usual text."""
        return _STRING_BYTES


def _is_place(values: Array) -> NDArray[np.bool_]:
    return np.asarray(values != np.array(None), dtype=np.bool_)
