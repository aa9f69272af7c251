"""The form `probability`: P(positive) of a binary target."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from sandmill.errors import Problem
from sandmill.metrics.base import Array
from sandmill.metrics.forms.base import AnswerForm, Cells, Column, read_codes, rising, write_names
from sandmill.metrics.forms.numbers import NUMBER_BYTES, PROBABILITY, read_numbers
from sandmill.models.package import TaskFacts


class Probability(AnswerForm):
    """One number from 0 to 1 for each row."""

    def read(self, columns: Sequence[Column], lines: Sequence[int], facts: TaskFacts, problems: list[Problem]) -> Array:
        """Return probabilities, shape (rows,)."""
        return read_numbers(columns, lines, facts, PROBABILITY, problems)[:, 0]

    def read_truth(self, rows: Sequence[Mapping[str, str]], facts: TaskFacts) -> Array:
        """Return class codes, shape (rows,)."""
        return read_codes(rows, facts)

    def write_truth(self, truth: Array, facts: TaskFacts) -> Cells:
        """Write 0 and 1."""
        return write_names(truth, facts)

    def sample(self, facts: TaskFacts, truth: Array) -> list[object]:
        """Even chances."""
        return [0.5]

    def guesses(self, facts: TaskFacts, rows: int, numbers: Sequence[float]) -> Iterator[Array]:
        """Ranks by place, and constants that the text names."""
        yield from (rising(rows), rising(rows)[::-1])
        yield from (np.full(rows, number) for number in numbers if 0 < number < 1)

    def shape(self, facts: TaskFacts, rows: int) -> tuple[int, ...]:
        """One number a row."""
        return (rows,)

    def limits(self, facts: TaskFacts) -> tuple[float, float]:
        """From 0 to 1."""
        return 0, 1

    def cell_bytes(self, facts: TaskFacts) -> int:
        """A number."""
        return NUMBER_BYTES

    def aim(self, facts: TaskFacts) -> str:
        """Name the positive class by its code."""
        return f"the probability that `{facts.target_column}` is 1"

    def cells(self, facts: TaskFacts) -> str:
        """State the range."""
        return f"`{facts.target_column}` holds a probability from 0 to 1."
