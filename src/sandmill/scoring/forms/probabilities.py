"""The forms of probabilities: `probability`, `class_probabilities` and `label_probabilities`."""

from collections.abc import Iterator, Sequence

import numpy as np

from sandmill.errors import Problem
from sandmill.models.package import TaskFacts
from sandmill.scoring.base import Array
from sandmill.scoring.forms.base import (
    AnswerForm,
    Cells,
    Column,
    by_frequency,
    listed,
    others,
    read_columns,
    rising,
)
from sandmill.scoring.forms.numbers import read_numbers

SUM_TOLERANCE = 1e-6
"""How far a row of class probabilities may be from 1, as in mle-bench."""
_ALLOWED = (0.0, 1.0, "a probability from 0 to 1")


class Probability(AnswerForm):
    """P(positive) of a binary target for each row."""

    def read(self, columns: Sequence[Column], lines: Sequence[int], facts: TaskFacts, problems: list[Problem]) -> Array:
        """Return probabilities, shape (rows,)."""
        return read_numbers(columns, lines, facts, _ALLOWED, problems)[:, 0]

    def guesses(self, facts: TaskFacts, rows: int, numbers: Sequence[float]) -> Iterator[Array]:
        """Yield ranks by place, and chances that the description names."""
        yield from (rising(rows), rising(rows)[::-1])
        yield from (np.full(rows, number) for number in numbers if 0 < number < 1)

    def sample(self, facts: TaskFacts, truth: Array) -> list[object]:
        """Choose even chances."""
        return [0.5]

    def aim(self, facts: TaskFacts) -> str:
        """Name the positive class by its code."""
        return f"the probability that `{facts.target_column}` is 1"

    def cells(self, facts: TaskFacts) -> str:
        """State the range."""
        return f"`{facts.target_column}` holds a probability from 0 to 1."


class _ProbabilityColumns(AnswerForm):
    def read(self, columns: Sequence[Column], lines: Sequence[int], facts: TaskFacts, problems: list[Problem]) -> Array:
        """Return probabilities, shape (rows, classes or labels)."""
        return read_numbers(columns, lines, facts, _ALLOWED, problems)

    def width(self, facts: TaskFacts) -> int:
        """Return the number of classes or labels."""
        return len(facts.classes)

    def submission_columns(self, facts: TaskFacts) -> tuple[str, ...]:
        """Return the classes or labels."""
        return facts.classes


class LabelProbabilities(_ProbabilityColumns):
    """A column of probabilities for each label, independent of each other. Files of targets have these columns too."""

    def read_truth(self, cells: Cells, facts: TaskFacts) -> Array:
        """Return 0/1 by label, shape (rows, labels)."""
        return read_columns(cells, facts.classes).astype(np.int64)

    def write_truth(self, truth: Array, facts: TaskFacts) -> Cells:
        """Write a 0/1 column for each label."""
        return dict(zip(facts.target_columns, truth.T.astype(np.int64).tolist(), strict=True))

    def guesses(self, facts: TaskFacts, rows: int, numbers: Sequence[float]) -> Iterator[Array]:
        """Yield even chances, and ranks by place."""
        width = self.width(facts)
        yield np.full((rows, width), 0.5)
        yield from (np.column_stack([side] * width) for side in (rising(rows), rising(rows)[::-1]))

    def sample(self, facts: TaskFacts, truth: Array) -> list[object]:
        """Choose even chances for every label."""
        return [0.5] * len(facts.submission_columns)

    def aim(self, facts: TaskFacts) -> str:
        """Name the labels."""
        return f"the probabilities that {listed(facts.submission_columns)} are 1"

    def cells(self, facts: TaskFacts) -> str:
        """State the range."""
        return "There is a column for each label; it holds a probability from 0 to 1."


class ClassProbabilities(_ProbabilityColumns):
    """A column of probabilities for each class; rows sum to 1."""

    def read(self, columns: Sequence[Column], lines: Sequence[int], facts: TaskFacts, problems: list[Problem]) -> Array:
        """Return probabilities, shape (rows, classes)."""
        before = len(problems)
        values = super().read(columns, lines, facts, problems)
        off = np.flatnonzero(np.abs(values.sum(axis=1) - 1) > SUM_TOLERANCE)
        if len(off) and len(problems) == before:
            saw = f"probabilities that sum to {values[off[0]].sum():.6g}"
            problems.append(Problem(f"line {lines[off[0]]}", saw, f"a sum of 1{others(list(off))}"))
        return values

    def guesses(self, facts: TaskFacts, rows: int, numbers: Sequence[float]) -> Iterator[Array]:
        """Yield even chances, and leanings towards each class."""
        width = self.width(facts)
        flat = np.full((rows, width), 1 / width)
        yield flat
        yield from ((flat + np.eye(width)[code]) / 2 for code in range(width))

    def sample(self, facts: TaskFacts, truth: Array) -> list[object]:
        """Choose one half for the rarest class, the rest shared evenly."""
        rarest = by_frequency(facts, truth)[0]
        width = len(facts.submission_columns)
        return [0.5 if name == rarest else 0.5 / (width - 1) for name in facts.submission_columns]

    def aim(self, facts: TaskFacts) -> str:
        """Name the target."""
        return f"the probability of each value of `{facts.target_column}`"

    def cells(self, facts: TaskFacts) -> str:
        """State that rows sum to 1."""
        return "There is a column for each class; each row holds probabilities that sum to 1."
