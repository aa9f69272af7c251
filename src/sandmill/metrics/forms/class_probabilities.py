"""The form `class_probabilities`: one probability for each class, summing to 1."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from sandmill.errors import Problem
from sandmill.metrics.base import Array
from sandmill.metrics.forms.base import AnswerForm, Cells, Column, by_frequency, others, read_codes, write_names
from sandmill.metrics.forms.numbers import NUMBER_BYTES, PROBABILITY, read_numbers
from sandmill.models.package import TaskFacts

SUM_TOLERANCE = 1e-6
"""How far a row of class probabilities may be from 1, as in mle-bench."""


class ClassProbabilities(AnswerForm):
    """A column for each class; rows sum to 1."""

    needs_every_class = True

    def read(self, columns: Sequence[Column], lines: Sequence[int], facts: TaskFacts, problems: list[Problem]) -> Array:
        """Return probabilities, shape (rows, classes)."""
        before = len(problems)
        values = read_numbers(columns, lines, facts, PROBABILITY, problems)
        off = np.flatnonzero(np.abs(values.sum(axis=1) - 1) > SUM_TOLERANCE)
        if len(off) and len(problems) == before:
            saw = f"probabilities that sum to {values[off[0]].sum():.6g}"
            problems.append(Problem(f"line {lines[off[0]]}", saw, f"a sum of 1{others(list(off))}"))
        return values

    def read_truth(self, rows: Sequence[Mapping[str, str]], facts: TaskFacts) -> Array:
        """Return class codes, shape (rows,)."""
        return read_codes(rows, facts)

    def write_truth(self, truth: Array, facts: TaskFacts) -> Cells:
        """Write names of classes."""
        return write_names(truth, facts)

    def sample(self, facts: TaskFacts, truth: Array) -> list[object]:
        """One half for the rarest class, the rest shared evenly."""
        rarest = by_frequency(facts, truth)[0]
        width = len(facts.submission_columns)
        return [0.5 if name == rarest else 0.5 / (width - 1) for name in facts.submission_columns]

    def guesses(self, facts: TaskFacts, rows: int, numbers: Sequence[float]) -> Iterator[Array]:
        """Even chances, and leanings towards each class."""
        width = len(facts.submission_columns)
        flat = np.full((rows, width), 1 / width)
        yield flat
        yield from ((flat + np.eye(width)[code]) / 2 for code in range(width))

    def shape(self, facts: TaskFacts, rows: int) -> tuple[int, ...]:
        """A column for each class."""
        return (rows, len(facts.classes))

    def limits(self, facts: TaskFacts) -> tuple[float, float]:
        """From 0 to 1."""
        return 0, 1

    def submission_columns(self, facts: TaskFacts) -> tuple[str, ...]:
        """The classes."""
        return facts.classes

    def cell_bytes(self, facts: TaskFacts) -> int:
        """A number."""
        return max(NUMBER_BYTES, super().cell_bytes(facts))

    def aim(self, facts: TaskFacts) -> str:
        """Name the target."""
        return f"the probability of each value of `{facts.target_column}`"

    def cells(self, facts: TaskFacts) -> str:
        """State that rows sum to 1."""
        return "There is a column for each class; each row holds probabilities that sum to 1."
