"""The forms of numbers, `value` and `values`, and the strict reader of numbers."""

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress

import numpy as np

from sandmill.errors import Problem, shorten
from sandmill.models.package import TaskFacts
from sandmill.models.structure import TargetKind
from sandmill.scoring.base import Array, Floats
from sandmill.scoring.forms.base import BLANKS, AnswerForm, Cells, Column, listed, others, read_columns, rising
from sandmill.scoring.registry import get_metric

_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,4})?")
_OF_NUMBERS = b"0123456789.eE+-\n"
"""Bytes that may occur in a plain decimal number. Filtering on them first rejects spellings such as `1_0` and `inf`
that `float` would accept."""
_LONG_EXPONENT = re.compile(r"[eE][+-]?[0-9]{5}")

Range = tuple[float, float, str]
"""Least and largest allowed number, and how a message says so."""


class Values(AnswerForm):
    """A finite number for each target column of each row, within the task's range if it states one."""

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

    def width(self, facts: TaskFacts) -> int:
        """Return the number of targets."""
        return len(facts.submission_columns)

    def submission_columns(self, facts: TaskFacts) -> tuple[str, ...]:
        """Return the names of the numbers, which the design has given."""
        return facts.submission_columns

    def aim(self, facts: TaskFacts) -> str:
        """Name the targets."""
        return f"the numbers {listed(facts.submission_columns)}"

    def cells(self, facts: TaskFacts) -> str:
        """State the range."""
        return f"{listed(facts.submission_columns)} hold finite numbers{_floor_words(facts)}."


class Value(Values):
    """One finite number for each row, within the task's range if it states one."""

    def read(self, columns: Sequence[Column], lines: Sequence[int], facts: TaskFacts, problems: list[Problem]) -> Array:
        """Return numbers, shape (rows,)."""
        return super().read(columns, lines, facts, problems)[:, 0]

    def read_truth(self, cells: Cells, facts: TaskFacts) -> Array:
        """Return numbers, shape (rows,)."""
        return read_columns(cells, [facts.target_column])[:, 0]

    def width(self, facts: TaskFacts) -> int:
        """Return 0: the shape is (rows,)."""
        return 0

    def write_truth(self, truth: Array, facts: TaskFacts) -> Cells:
        """Write numbers; counts as whole ones."""
        whole = facts.target is TargetKind.COUNT
        return {facts.target_column: (truth.astype(np.int64) if whole else truth).tolist()}

    def aim(self, facts: TaskFacts) -> str:
        """Name the target."""
        return f"the number `{facts.target_column}`"

    def cells(self, facts: TaskFacts) -> str:
        """State the range."""
        return f"`{facts.target_column}` holds a finite number{_floor_words(facts)}."


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


def _floor_words(facts: TaskFacts) -> str:
    return ", 0 or more" if get_metric(facts.metric).is_nonnegative else ""


def _to_floats(cells: Column) -> Floats:
    """Read decimal numbers, NaN for all else; at once if all are plain, which is the usual case."""
    text = "\n".join([*cells, ""])
    is_usual = text.count("\n") == len(cells) and not text.encode().translate(None, _OF_NUMBERS)
    if is_usual and not _LONG_EXPONENT.search(text):
        with suppress(ValueError):
            return np.fromiter(map(float, cells), np.float64, len(cells))
    stripped = (cell.strip(BLANKS) for cell in cells)
    return np.array([float(number) if _NUMBER.fullmatch(number) else np.nan for number in stripped])
