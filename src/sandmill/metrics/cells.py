"""Cells of a submission to arrays: what each encoding allows, and what is said of cells that it does not allow."""

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TypeAlias

import numpy as np

from sandmill.errors import Problem, shorten
from sandmill.metrics.base import Array
from sandmill.metrics.registry import get_metric
from sandmill.models.package import LIST_LENGTH, TaskFacts

SUM_TOLERANCE = 1e-6
"""How far a row of class probabilities may be from 1, as in mle-bench."""

Column: TypeAlias = Sequence[str]

_PROBABILITIES = frozenset({"probability", "class_probabilities", "label_probabilities"})
_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,4})?")
_OF_NUMBERS = b"0123456789.eE+-\n"
"""Bytes that may occur in a plain decimal number. Filtering on them first rejects spellings such as `1_0` and `inf`
that `float` would accept."""
_LONG_EXPONENT = re.compile(r"[eE][+-]?[0-9]{5}")
_INTEGER_WITH_POINT = re.compile(r"([+-]?[0-9]+)\.0+")
_BLANKS = " \t"
"""The only characters that may surround a cell's content. `str.strip()` and `str.split()` without an argument remove
more of Unicode than `float` does, and the remainder would then be no number."""
_NAMES_SHOWN = 12


def read_cells(columns: Sequence[Column], lines: Sequence[int], facts: TaskFacts, problems: list[Problem]) -> Array:
    """Read the cells of a submission by what the task's facts ask for, adding to the problems.

    Args:
        columns: in the order of `facts.submission_columns`.
        lines: line number of each row, for messages.
        facts: what a submission holds.
        problems: gets what is wrong; the array means nothing if it grew.

    Returns:
        One row a row of the file; one column where the encoding has one.
    """
    if facts.encoding == "label":
        return _read_labels(columns[0], lines, facts, problems)
    if facts.encoding in ("label_list", "ranked_list"):
        return _read_lists(columns[0], lines, facts, problems)
    return _read_numbers(columns, lines, facts, problems)


def others(bad: Sequence[object]) -> str:
    """Say that the shown line is not the only one."""
    return f" ({len(bad) - 1} more such lines)" if len(bad) > 1 else ""


def _read_labels(cells: Column, lines: Sequence[int], facts: TaskFacts, problems: list[Problem]) -> Array:
    """Class codes; a whole number may be written as 1 or 1.0."""
    codes = {name: code for code, name in enumerate(facts.classes)}
    found = [_code(cell.strip(_BLANKS), codes) for cell in cells]
    bad = [(line, cell) for line, cell, code in zip(lines, cells, found, strict=True) if code < 0]
    if bad:
        line, cell = bad[0]
        where = f"line {line}, {facts.submission_columns[0]}"
        problems.append(Problem(where, f'"{shorten(cell)}"', f"one of {_known_names(facts)}{others(bad)}"))
    return np.array(found, dtype=np.int64).reshape(-1, 1)


def _code(name: str, codes: Mapping[str, int]) -> int:
    """Find a class by its name, or by the whole number that the name is; -1 if there is none."""
    if name in codes:
        return codes[name]
    number = _INTEGER_WITH_POINT.fullmatch(name)
    return codes.get(number[1], -1) if number else -1


def _read_lists(cells: Column, lines: Sequence[int], facts: TaskFacts, problems: list[Problem]) -> Array:
    """Names separated by spaces: as 0/1 by label, or, ranked, as codes of the first places, -1 where a list ends."""
    codes = {name: code for code, name in enumerate(facts.classes)}
    named = [[(name, codes.get(name, -1)) for name in _names_in(cell)] for cell in cells]
    bad = [(line, name) for line, names in zip(lines, named, strict=True) for name, code in names if code < 0]
    is_ranked = facts.encoding == "ranked_list"
    if bad:
        line, name = bad[0]
        more = others(sorted({line for line, _ in bad}))
        expected = f"names separated by spaces, each one of {_known_names(facts)}{more}"
        problems.append(Problem(f"line {line}, {facts.submission_columns[0]}", f'"{shorten(name)}"', expected))
    width = (facts.list_length or LIST_LENGTH) if is_ranked else len(facts.classes)
    wide = np.full((len(cells), width), -1 if is_ranked else 0, dtype=np.int64)
    for row, names in enumerate(named):
        found = [code for _, code in names if code >= 0]
        if is_ranked:
            wide[row, : len(found[:width])] = found[:width]
        else:
            wide[row, found] = 1
    return wide


def _names_in(cell: str) -> list[str]:
    return [name for name in cell.replace("\t", " ").split(" ") if name]


def _read_numbers(columns: Sequence[Column], lines: Sequence[int], facts: TaskFacts, problems: list[Problem]) -> Array:
    """Finite floats in their range, rows of class probabilities summing to 1."""
    low, high, expected = _range(facts)
    values = np.empty((len(lines), len(columns)))
    for place, cells in enumerate(columns):
        values[:, place] = _to_floats(cells)
    wrong = ~(np.isfinite(values) & (values >= low) & (values <= high))
    bad = [(int(row), int(column)) for row, column in np.argwhere(wrong)]
    if bad:
        row, column = bad[0]
        where = f"line {lines[row]}, {facts.submission_columns[column]}"
        problems.append(Problem(where, f'"{shorten(columns[column][row])}"', f"{expected}{others(bad)}"))
    elif facts.encoding == "class_probabilities":
        off = np.flatnonzero(np.abs(values.sum(axis=1) - 1) > SUM_TOLERANCE)
        if len(off):
            saw = f"probabilities that sum to {values[off[0]].sum():.6g}"
            problems.append(Problem(f"line {lines[off[0]]}", saw, f"a sum of 1{others(list(off))}"))
    return values


def _to_floats(cells: Column) -> Array:
    """Read decimal numbers, NaN for all else; at once if all are plain, which is the usual case."""
    text = "\n".join([*cells, ""])
    is_usual = text.count("\n") == len(cells) and not text.encode().translate(None, _OF_NUMBERS)
    if is_usual and not _LONG_EXPONENT.search(text):
        with suppress(ValueError):
            return np.fromiter(map(float, cells), np.float64, len(cells))
    stripped = (cell.strip(_BLANKS) for cell in cells)
    return np.array([float(number) if _NUMBER.fullmatch(number) else np.nan for number in stripped])


def _range(facts: TaskFacts) -> tuple[float, float, str]:
    """Least and largest allowed number, and how a message says so."""
    if facts.encoding in _PROBABILITIES:
        return 0.0, 1.0, "a probability from 0 to 1"
    if facts.value_range is not None:
        low, high = facts.value_range
        return low, high, f"a number from {low:g} to {high:g}"
    if get_metric(facts.metric).is_nonnegative:
        return 0.0, np.inf, "a finite number, 0 or more"
    return -np.inf, np.inf, "a finite number"


def _known_names(facts: TaskFacts) -> str:
    shown = ", ".join(facts.classes[:_NAMES_SHOWN])
    rest = len(facts.classes) - _NAMES_SHOWN
    return f"{shown} and {rest} more" if rest > 0 else shown
