"""The form `label_probabilities`: one probability for each label, independent of each other."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from sandmill.errors import Problem
from sandmill.metrics.base import Array
from sandmill.metrics.forms.base import AnswerForm, Cells, Column, listed, read_columns, rising
from sandmill.metrics.forms.numbers import NUMBER_BYTES, PROBABILITY, read_numbers
from sandmill.models.package import TaskFacts


class LabelProbabilities(AnswerForm):
    """A column for each label, in files of targets too."""

    needs_every_class = True

    def read(self, columns: Sequence[Column], lines: Sequence[int], facts: TaskFacts, problems: list[Problem]) -> Array:
        """Return probabilities, shape (rows, labels)."""
        return read_numbers(columns, lines, facts, PROBABILITY, problems)

    def read_truth(self, rows: Sequence[Mapping[str, str]], facts: TaskFacts) -> Array:
        """Return 0/1 by label, shape (rows, labels)."""
        return read_columns(rows, facts.classes).astype(np.int64)

    def write_truth(self, truth: Array, facts: TaskFacts) -> Cells:
        """Write a 0/1 column for each label."""
        return dict(zip(facts.target_columns, truth.T.astype(np.int64).tolist(), strict=True))

    def sample(self, facts: TaskFacts, truth: Array) -> list[object]:
        """Even chances for every label."""
        return [0.5] * len(facts.submission_columns)

    def guesses(self, facts: TaskFacts, rows: int, numbers: Sequence[float]) -> Iterator[Array]:
        """Even chances, and ranks by place."""
        width = len(facts.submission_columns)
        yield np.full((rows, width), 0.5)
        yield from (np.column_stack([side] * width) for side in (rising(rows), rising(rows)[::-1]))

    def shape(self, facts: TaskFacts, rows: int) -> tuple[int, ...]:
        """A column for each label."""
        return (rows, len(facts.classes))

    def limits(self, facts: TaskFacts) -> tuple[float, float]:
        """From 0 to 1."""
        return 0, 1

    def submission_columns(self, facts: TaskFacts) -> tuple[str, ...]:
        """The labels."""
        return facts.classes

    def cell_bytes(self, facts: TaskFacts) -> int:
        """A number."""
        return max(NUMBER_BYTES, super().cell_bytes(facts))

    def aim(self, facts: TaskFacts) -> str:
        """Name the labels."""
        return f"the probabilities that {listed(facts.submission_columns)} are 1"

    def cells(self, facts: TaskFacts) -> str:
        """State the range."""
        return "There is a column for each label; it holds a probability from 0 to 1."
