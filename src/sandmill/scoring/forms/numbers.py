"""The forms of numbers and of probabilities, and the strict reader of numbers."""

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import ClassVar

import numpy as np

from sandmill.errors import Problem, shorten
from sandmill.models.package import TaskFacts
from sandmill.models.structure import TargetKind
from sandmill.scoring.base import Array, Floats
from sandmill.scoring.catalogue import get_metric
from sandmill.scoring.forms.base import (
    BLANKS,
    AnswerForm,
    Cells,
    Column,
    Wide,
    by_frequency,
    others,
    read_columns,
    rising,
)

_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,4})?")
_OF_NUMBERS = b"0123456789.eE+-\n"
"""Bytes that may occur in a plain decimal number. Filtering on them first rejects spellings such as `1_0` and `inf`
that `float` would accept."""
_LONG_EXPONENT = re.compile(r"[eE][+-]?[0-9]{5}")

Range = tuple[float, float, str]
"""Least and largest allowed number, and how a message says so."""
SUM_TOLERANCE = 1e-6
"""How far a row of class probabilities may be from 1, as in mle-bench."""
_ALLOWED = (0.0, 1.0, "a probability from 0 to 1")


class Values(AnswerForm):
    """A finite number for each target column of each row, within the task's range if it states one."""

    wide: ClassVar[Wide] = "columns"

    def read(self, columns: Sequence[Column], lines: Sequence[int], facts: TaskFacts, problems: list[Problem]) -> Array:
        """Return numbers, shape (rows, columns)."""
        return read_numbers(columns, lines, facts, _value_range(facts), problems)

    def read_truth(self, cells: Cells, facts: TaskFacts) -> Array:
        """Return numbers, shape (rows, columns)."""
        return read_columns(cells, facts.submission_columns)

    def write_truth(self, truth: Array, facts: TaskFacts) -> Cells:
        """Write a column for each number."""
        return dict(zip(facts.target_columns, truth.T.tolist(), strict=True))

    def limits(self, facts: TaskFacts) -> tuple[float, float]:
        """Return the ends of all numbers: the reader of submissions knows the range."""
        return -np.inf, np.inf

    def guesses(self, facts: TaskFacts, rows: int, numbers: Sequence[float]) -> Iterator[Array]:
        """Yield constants that the description names, and ranks by place."""
        width = self.width(facts)
        columns = [*(np.full(rows, number) for number in numbers), rising(rows), rising(rows)[::-1]]
        yield from (np.column_stack([column] * width) if width else column for column in columns)

    def sample(self, facts: TaskFacts, truth: Array) -> list[object]:
        """Choose 0 everywhere, or 1 where only positive numbers are usual."""
        return [1.0 if get_metric(facts.metric).is_nonnegative else 0.0] * len(facts.submission_columns)

    def submission_columns(self, facts: TaskFacts) -> tuple[str, ...]:
        """Return the names of the numbers, which the design has given."""
        return facts.submission_columns


class Value(Values):
    """One finite number for each row, within the task's range if it states one."""

    wide = None

    def read(self, columns: Sequence[Column], lines: Sequence[int], facts: TaskFacts, problems: list[Problem]) -> Array:
        """Return numbers, shape (rows,)."""
        return super().read(columns, lines, facts, problems)[:, 0]

    def read_truth(self, cells: Cells, facts: TaskFacts) -> Array:
        """Return numbers, shape (rows,)."""
        return read_columns(cells, [facts.target_column])[:, 0]

    def write_truth(self, truth: Array, facts: TaskFacts) -> Cells:
        """Write numbers; counts as whole ones."""
        whole = facts.target is TargetKind.COUNT
        return {facts.target_column: (truth.astype(np.int64) if whole else truth).tolist()}


def read_numbers(
    columns: Sequence[Column], lines: Sequence[int], facts: TaskFacts, allowed: Range, problems: list[Problem]
) -> Floats:
    """Read finite numbers within a range, shape (rows, columns); what is wrong goes to `problems`."""
    low, high, expected = allowed
    values = np.empty((len(lines), len(columns)))
    for place, cells in enumerate(columns):
        values[:, place] = _to_floats(cells)
    wrong = ~(np.isfinite(values) & (values >= low) & (values <= high))
    bad = [(int(row), int(column)) for row, column in np.argwhere(wrong)]
    if bad:
        row, column = bad[0]
        where = f"line {lines[row]}, {facts.submission_columns[column]}"
        problems.append(Problem(where, f'"{shorten(columns[column][row])}"', f"{expected}{others(bad)}"))
    return values


def _value_range(facts: TaskFacts) -> Range:
    if facts.value_range is not None:
        low, high = facts.value_range
        return low, high, f"a number from {low:g} to {high:g}"
    if get_metric(facts.metric).is_nonnegative:
        return 0.0, np.inf, "a finite number, 0 or more"
    return -np.inf, np.inf, "a finite number"


def _to_floats(cells: Column) -> Floats:
    """Read decimal numbers, NaN for all else; at once if all are plain, which is the usual case."""
    text = "\n".join([*cells, ""])
    is_usual = text.count("\n") == len(cells) and not text.encode().translate(None, _OF_NUMBERS)
    if is_usual and not _LONG_EXPONENT.search(text):
        with suppress(ValueError):
            return np.fromiter(map(float, cells), np.float64, len(cells))
    stripped = (cell.strip(BLANKS) for cell in cells)
    return np.array([float(number) if _NUMBER.fullmatch(number) else np.nan for number in stripped])


class Probability(AnswerForm):
    """P(positive) of a binary target for each row."""

    def read(self, columns: Sequence[Column], lines: Sequence[int], facts: TaskFacts, problems: list[Problem]) -> Array:
        """Return probabilities, shape (rows,)."""
        return read_numbers(columns, lines, facts, _ALLOWED, problems)[:, 0]

    def guesses(self, facts: TaskFacts, rows: int, numbers: Sequence[float]) -> Iterator[Array]:
        """Yield ranks by place, and chances that the description names."""
        yield from (rising(rows), rising(rows)[::-1])
        yield from (np.full(rows, number) for number in numbers if 0 < number < 1)


class _ProbabilityColumns(AnswerForm):
    wide = "classes"

    def read(self, columns: Sequence[Column], lines: Sequence[int], facts: TaskFacts, problems: list[Problem]) -> Array:
        """Return probabilities, shape (rows, classes or labels)."""
        return read_numbers(columns, lines, facts, _ALLOWED, problems)

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
