"""The form `value`: one number."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from sandmill.errors import Problem
from sandmill.metrics.base import Array
from sandmill.metrics.forms.base import AnswerForm, Cells, Column, rising
from sandmill.metrics.forms.numbers import NUMBER_BYTES, blind_number, floor_words, read_numbers, value_range
from sandmill.models.package import TaskFacts
from sandmill.models.structure import TargetKind


class Value(AnswerForm):
    """A finite number for each row, within the task's range if it states one."""

    def read(self, columns: Sequence[Column], lines: Sequence[int], facts: TaskFacts, problems: list[Problem]) -> Array:
        """Return numbers, shape (rows,)."""
        return read_numbers(columns, lines, facts, value_range(facts), problems)[:, 0]

    def read_truth(self, rows: Sequence[Mapping[str, str]], facts: TaskFacts) -> Array:
        """Return numbers, shape (rows,)."""
        return np.array([float(row[facts.target_column]) for row in rows])

    def write_truth(self, truth: Array, facts: TaskFacts) -> Cells:
        """Write numbers; counts as whole ones."""
        whole = facts.target is TargetKind.COUNT
        return {facts.target_column: (truth.astype(np.int64) if whole else truth).tolist()}

    def sample(self, facts: TaskFacts, truth: Array) -> list[object]:
        """0, or 1 where only positive numbers are usual."""
        return [blind_number(facts)]

    def guesses(self, facts: TaskFacts, rows: int, numbers: Sequence[float]) -> Iterator[Array]:
        """Constants that the text names, and ranks by place."""
        yield from (np.full(rows, number) for number in numbers)
        yield from (rising(rows), rising(rows)[::-1])

    def shape(self, facts: TaskFacts, rows: int) -> tuple[int, ...]:
        """One number a row."""
        return (rows,)

    def limits(self, facts: TaskFacts) -> tuple[float, float]:
        """Any finite number; the reader of submissions knows the range."""
        return -np.inf, np.inf

    def cell_bytes(self, facts: TaskFacts) -> int:
        """A number."""
        return NUMBER_BYTES

    def aim(self, facts: TaskFacts) -> str:
        """Name the target."""
        return f"the number `{facts.target_column}`"

    def cells(self, facts: TaskFacts) -> str:
        """State the range."""
        return f"`{facts.target_column}` holds a finite number{floor_words(facts)}."
