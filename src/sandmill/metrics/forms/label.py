"""The form `label`: the name of one class."""

import re
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from sandmill.errors import Problem, shorten
from sandmill.metrics.base import Array
from sandmill.metrics.forms.base import (
    AnswerForm,
    Cells,
    Column,
    by_frequency,
    known_names,
    others,
    read_codes,
    rising,
    write_names,
)
from sandmill.metrics.forms.numbers import BLANKS, NUMBER_BYTES
from sandmill.models.package import TaskFacts

_INTEGER_WITH_POINT = re.compile(r"([+-]?[0-9]+)\.0+")


class Label(AnswerForm):
    """One class name for each row; a whole number may be written as 1 or 1.0."""

    def read(self, columns: Sequence[Column], lines: Sequence[int], facts: TaskFacts, problems: list[Problem]) -> Array:
        """Return class codes, shape (rows,)."""
        codes = {name: code for code, name in enumerate(facts.classes)}
        found = [_code(cell.strip(BLANKS), codes) for cell in columns[0]]
        bad = [(line, cell) for line, cell, code in zip(lines, columns[0], found, strict=True) if code < 0]
        if bad:
            line, cell = bad[0]
            where = f"line {line}, {facts.submission_columns[0]}"
            problems.append(Problem(where, f'"{shorten(cell)}"', f"one of {known_names(facts)}{others(bad)}"))
        return np.array(found, dtype=np.int64)

    def read_truth(self, rows: Sequence[Mapping[str, str]], facts: TaskFacts) -> Array:
        """Return class codes, shape (rows,)."""
        return read_codes(rows, facts)

    def write_truth(self, truth: Array, facts: TaskFacts) -> Cells:
        """Write names of classes."""
        return write_names(truth, facts)

    def sample(self, facts: TaskFacts, truth: Array) -> list[object]:
        """The rarest class."""
        return [by_frequency(facts, truth)[0]]

    def guesses(self, facts: TaskFacts, rows: int, numbers: Sequence[float]) -> Iterator[Array]:
        """Each class for all rows, and classes in the order of the rows."""
        yield from (np.full(rows, code) for code in range(len(facts.classes)))
        yield (rising(rows) * len(facts.classes)).astype(int)

    def shape(self, facts: TaskFacts, rows: int) -> tuple[int, ...]:
        """One code a row."""
        return (rows,)

    def limits(self, facts: TaskFacts) -> tuple[float, float]:
        """Codes of classes."""
        return 0, len(facts.classes) - 1

    def cell_bytes(self, facts: TaskFacts) -> int:
        """The longest name, or a number."""
        return max(NUMBER_BYTES, super().cell_bytes(facts))

    def aim(self, facts: TaskFacts) -> str:
        """Name the target."""
        return f"`{facts.target_column}`"

    def cells(self, facts: TaskFacts) -> str:
        """List the classes."""
        one_of = " or ".join(facts.classes) if len(facts.classes) == 2 else f"one of {', '.join(facts.classes)}"
        return f"`{facts.target_column}` holds {one_of}."


def _code(name: str, codes: Mapping[str, int]) -> int:
    """Find a class by its name, or by the whole number that the name is; -1 if there is none."""
    if name in codes:
        return codes[name]
    number = _INTEGER_WITH_POINT.fullmatch(name)
    return codes.get(number[1], -1) if number else -1
