"""Cells that hold numbers: strict reading, with the range that a task allows."""

import re
from collections.abc import Sequence
from contextlib import suppress

import numpy as np

from sandmill.errors import Problem, shorten
from sandmill.metrics.base import Floats
from sandmill.metrics.forms.base import Column, others
from sandmill.metrics.registry import get_metric
from sandmill.models.package import TaskFacts

NUMBER_BYTES = 32
"""Bytes of one number with its separator, as generous libraries write it."""
BLANKS = " \t"
"""The only characters that may surround a cell's content. `str.strip()` and `str.split()` without an argument remove
more of Unicode than `float` does, and the remainder would then be no number."""
PROBABILITY = (0.0, 1.0, "a probability from 0 to 1")

_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,4})?")
_OF_NUMBERS = b"0123456789.eE+-\n"
"""Bytes that may occur in a plain decimal number. Filtering on them first rejects spellings such as `1_0` and `inf`
that `float` would accept."""
_LONG_EXPONENT = re.compile(r"[eE][+-]?[0-9]{5}")

Range = tuple[float, float, str]
"""Least and largest allowed number, and how a message says so."""


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


def value_range(facts: TaskFacts) -> Range:
    """Give the range of a number that a task asks for: its own, or from 0 where the metric needs that."""
    if facts.value_range is not None:
        low, high = facts.value_range
        return low, high, f"a number from {low:g} to {high:g}"
    if get_metric(facts.metric).is_nonnegative:
        return 0.0, np.inf, "a finite number, 0 or more"
    return -np.inf, np.inf, "a finite number"


def blind_number(facts: TaskFacts) -> float:
    """The number that a sample submission repeats: 0, or 1 where only positive numbers are usual."""
    return 1.0 if get_metric(facts.metric).is_nonnegative else 0.0


def floor_words(facts: TaskFacts) -> str:
    """Say that a number must not be negative, as the end of a sentence."""
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
