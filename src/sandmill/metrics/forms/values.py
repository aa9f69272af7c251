"""The form `values`: several numbers, a column each."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from sandmill.errors import Problem
from sandmill.metrics.base import Array
from sandmill.metrics.forms.base import AnswerForm, Cells, Column, listed, read_columns, rising
from sandmill.metrics.forms.numbers import NUMBER_BYTES, blind_number, floor_words, read_numbers, value_range
from sandmill.models.package import TaskFacts


class Values(AnswerForm):
    """A finite number for each target column of each row."""

    def read(self, columns: Sequence[Column], lines: Sequence[int], facts: TaskFacts, problems: list[Problem]) -> Array:
        """Return numbers, shape (rows, columns)."""
        return read_numbers(columns, lines, facts, value_range(facts), problems)

    def read_truth(self, rows: Sequence[Mapping[str, str]], facts: TaskFacts) -> Array:
        """Return numbers, shape (rows, columns)."""
        return read_columns(rows, facts.submission_columns)

    def write_truth(self, truth: Array, facts: TaskFacts) -> Cells:
        """Write a column for each number."""
        return dict(zip(facts.target_columns, truth.T.tolist(), strict=True))

    def sample(self, facts: TaskFacts, truth: Array) -> list[object]:
        """0 everywhere, or 1 where only positive numbers are usual."""
        return [blind_number(facts)] * len(facts.submission_columns)

    def guesses(self, facts: TaskFacts, rows: int, numbers: Sequence[float]) -> Iterator[Array]:
        """Constants that the text names, and ranks by place."""
        width = len(facts.submission_columns)
        yield from (np.full((rows, width), number) for number in numbers)
        yield from (np.column_stack([side] * width) for side in (rising(rows), rising(rows)[::-1]))

    def shape(self, facts: TaskFacts, rows: int) -> tuple[int, ...]:
        """A column for each target."""
        return (rows, len(facts.submission_columns))

    def limits(self, facts: TaskFacts) -> tuple[float, float]:
        """Any finite number; the reader of submissions knows the range."""
        return -np.inf, np.inf

    def submission_columns(self, facts: TaskFacts) -> tuple[str, ...]:
        """The names of the numbers, which the design has given."""
        return facts.submission_columns

    def cell_bytes(self, facts: TaskFacts) -> int:
        """A number."""
        return NUMBER_BYTES

    def aim(self, facts: TaskFacts) -> str:
        """Name the targets."""
        return f"the numbers {listed(facts.submission_columns)}"

    def cells(self, facts: TaskFacts) -> str:
        """State the range."""
        return f"{listed(facts.submission_columns)} hold finite numbers{floor_words(facts)}."
