"""The form `runs`: a mask of the pixels of a picture, written as runs of pixels in one cell.

Predictions and truth are arrays of 0 and 1, shape (items, pixels). Pixels follow each other column by column, as runs
count them: from top to bottom, then from left to right.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from sandmill.errors import Problem, shorten
from sandmill.models.package import TaskFacts
from sandmill.models.runs import longest_runs, masks_of, parse_runs, runs_of, write_runs
from sandmill.scoring.base import Array
from sandmill.scoring.forms.base import NUMBER_BYTES, AnswerForm, Cells, Column, Lengths, others


class Runs(AnswerForm):
    """Pairs of numbers for each picture: the first pixel of a run, counted from 1, and how many pixels it has.

    Runs rise and do not overlap; an empty cell is a mask without a pixel.
    """

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
        return _texts(plain)

    def read_truth(self, cells: Cells, facts: TaskFacts) -> Array:
        """Return runs as texts, shape (rows,).

        Raises:
            ValueError: if a cell does not hold runs of the picture.
        """
        pixels = self.width(facts)
        return _texts([write_runs(parse_runs(str(cell or ""), pixels)) for cell in cells[facts.target_column]])

    def to_items(self, cells: Array, facts: TaskFacts, lengths: Lengths = None) -> Array:
        """Return a mask for each item."""
        return masks_of(cells, self.width(facts))

    def to_rows(self, values: Array) -> Array:
        """Return the runs of each mask as text."""
        return _texts([write_runs(runs_of(mask)) for mask in values])

    def settle(self, truth: Array, facts: TaskFacts) -> Array:
        """Return 0 and 1 as small integers."""
        return np.asarray(truth > 0, dtype=np.uint8)

    def write_truth(self, truth: Array, facts: TaskFacts) -> Cells:
        """Write the runs of each mask in one cell."""
        return {facts.target_column: self.to_rows(truth).tolist()}

    def sample(self, facts: TaskFacts, truth: Array) -> list[object]:
        """Choose the first pixel alone."""
        return ["1 1"]

    def width(self, facts: TaskFacts) -> int:
        """Return the number of pixels."""
        rows, columns = facts.picture
        return rows * columns

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

    def aim(self, facts: TaskFacts) -> str:
        """Name the target."""
        return f"the mask `{facts.target_column}` (which pixels count)"

    def cells(self, facts: TaskFacts) -> str:
        """Say how runs are written and how pixels are counted."""
        rows, columns = facts.picture
        return (
            f"`{facts.target_column}` lists the pixels of the mask as runs: pairs of whole numbers separated by "
            "spaces, the first pixel of a run and how many pixels it has. Pixels are counted from 1, from top to "
            f"bottom and then from left to right: {rows} is the last pixel of the first column, {rows + 1} the first "
            f"of the second, {rows * columns} the last of the picture. Runs rise and do not overlap. An empty cell is "
            "a mask without a pixel."
        )

    def target_type(self, facts: TaskFacts) -> str | None:
        """Say what training files hold."""
        return "runs of pixels"


def _texts(cells: Sequence[str]) -> Array:
    texts = np.empty(len(cells), dtype=object)
    texts[:] = cells
    return texts
