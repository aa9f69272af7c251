"""The forms of class names: `label`, `label_list` and `ranked_list`."""

import re
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from sandmill.errors import Problem, shorten
from sandmill.models.package import TaskFacts
from sandmill.scoring.base import Array
from sandmill.scoring.forms.base import (
    BLANKS,
    NUMBER_BYTES,
    AnswerForm,
    Cells,
    Column,
    by_frequency,
    codes_by_name,
    known_names,
    name_bytes,
    others,
    rising,
)

_INTEGER_WITH_POINT = re.compile(r"([+-]?[0-9]+)\.0+")


class Label(AnswerForm):
    """One class name for each row; a whole number may be written as 1 or 1.0."""

    def read(self, columns: Sequence[Column], lines: Sequence[int], facts: TaskFacts, problems: list[Problem]) -> Array:
        """Return class codes, shape (rows,)."""
        codes = codes_by_name(facts)
        found = [_code(cell.strip(BLANKS), codes) for cell in columns[0]]
        bad = [(line, cell) for line, cell, code in zip(lines, columns[0], found, strict=True) if code < 0]
        if bad:
            line, cell = bad[0]
            where = f"line {line}, {facts.submission_columns[0]}"
            problems.append(Problem(where, f'"{shorten(cell)}"', f"one of {known_names(facts)}{others(bad)}"))
        return np.array(found, dtype=np.int64)

    def limits(self, facts: TaskFacts) -> tuple[float, float]:
        """Return the codes of the first and the last class."""
        return 0, len(facts.classes) - 1

    def guesses(self, facts: TaskFacts, rows: int, numbers: Sequence[float]) -> Iterator[Array]:
        """Yield each class for all rows, and classes in the order of the rows."""
        yield from (np.full(rows, code) for code in range(len(facts.classes)))
        yield (rising(rows) * len(facts.classes)).astype(int)

    def sample(self, facts: TaskFacts, truth: Array) -> list[object]:
        """Choose the rarest class."""
        return [by_frequency(facts, truth)[0]]


class _NameList(AnswerForm):
    def cell_bytes(self, facts: TaskFacts) -> int:
        """Return the bytes of all names."""
        return max(NUMBER_BYTES, sum(name_bytes(facts)))


class LabelList(_NameList):
    """Names of all labels that apply, separated by spaces in any order; an empty cell names none."""

    wide = "classes"

    def read(self, columns: Sequence[Column], lines: Sequence[int], facts: TaskFacts, problems: list[Problem]) -> Array:
        """Return 0/1 by label, shape (rows, labels)."""
        return _as_flags(_read_names(columns[0], lines, facts, problems), len(facts.classes))

    def read_truth(self, cells: Cells, facts: TaskFacts) -> Array:
        """Return 0/1 by label, shape (rows, labels).

        Raises:
            KeyError: if a name is no label of the task.
        """
        codes = codes_by_name(facts)
        named = [[codes[name] for name in _split(str(cell))] for cell in cells[facts.target_column]]
        return _as_flags(named, len(facts.classes))

    def write_truth(self, truth: Array, facts: TaskFacts) -> Cells:
        """Write the names of labels in one cell."""
        names = np.array(facts.classes)
        return {facts.target_column: [" ".join(names[row]) for row in truth == 1]}

    def guesses(self, facts: TaskFacts, rows: int, numbers: Sequence[float]) -> Iterator[Array]:
        """Yield all labels, and each alone."""
        labels = len(facts.classes)
        yield np.ones((rows, labels), dtype=int)
        yield from (np.tile(np.eye(labels, dtype=int)[code], (rows, 1)) for code in range(labels))

    def sample(self, facts: TaskFacts, truth: Array) -> list[object]:
        """Choose the rarest label."""
        return [facts.classes[int(truth.sum(axis=0).argmin())]]


class RankedList(_NameList):
    """Class names separated by spaces, the likeliest first; places after `facts.places` are ignored."""

    wide = "places"

    def read(self, columns: Sequence[Column], lines: Sequence[int], facts: TaskFacts, problems: list[Problem]) -> Array:
        """Return class codes, shape (rows, places), -1 after the end of a list."""
        named = _read_names(columns[0], lines, facts, problems)
        wide = np.full((len(named), facts.places), -1, dtype=np.int64)
        for row, codes in enumerate(named):
            kept = codes[: facts.places]
            wide[row, : len(kept)] = kept
        return wide

    def limits(self, facts: TaskFacts) -> tuple[float, float]:
        """Return -1, which follows the end of a list, and the code of the last class."""
        return -1, len(facts.classes) - 1

    def guesses(self, facts: TaskFacts, rows: int, numbers: Sequence[float]) -> Iterator[Array]:
        """Yield the classes as the description lists them, from each start."""
        order = np.arange(len(facts.classes))[: facts.places]
        yield from (np.tile(np.roll(order, turn), (rows, 1)) for turn in range(len(order)))

    def sample(self, facts: TaskFacts, truth: Array) -> list[object]:
        """Choose the rarest classes."""
        return [" ".join(by_frequency(facts, truth)[: facts.places])]


def _code(name: str, codes: Mapping[str, int]) -> int:
    """Find a class by its name, or by the whole number that the name is; -1 if there is none."""
    if name in codes:
        return codes[name]
    number = _INTEGER_WITH_POINT.fullmatch(name)
    return codes.get(number[1], -1) if number else -1


def _split(cell: str) -> list[str]:
    """Cut a cell at `BLANKS`, and at no other character that Unicode counts as a blank."""
    return [name for name in cell.replace("\t", " ").split(" ") if name]


def _read_names(cells: Column, lines: Sequence[int], facts: TaskFacts, problems: list[Problem]) -> list[list[int]]:
    """Read the codes that each cell names, in its order; unknown names are left out and go to `problems`."""
    codes = codes_by_name(facts)
    named = [[(name, codes.get(name, -1)) for name in _split(cell)] for cell in cells]
    bad = [(line, name) for line, names in zip(lines, named, strict=True) for name, code in names if code < 0]
    if bad:
        line, name = bad[0]
        more = others(sorted({line for line, _ in bad}))
        expected = f"names separated by spaces, each one of {known_names(facts)}{more}"
        problems.append(Problem(f"line {line}, {facts.submission_columns[0]}", f'"{shorten(name)}"', expected))
    return [[code for _, code in names if code >= 0] for names in named]


def _as_flags(named: Sequence[Sequence[int]], labels: int) -> Array:
    wide = np.zeros((len(named), labels), dtype=np.int64)
    for row, codes in enumerate(named):
        wide[row, list(codes)] = 1
    return wide
