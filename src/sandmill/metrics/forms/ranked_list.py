"""The form `ranked_list`: class names in one cell, the likeliest first."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from sandmill.errors import Problem
from sandmill.metrics.base import Array
from sandmill.metrics.forms.base import AnswerForm, Cells, Column, by_frequency, read_codes, write_names
from sandmill.metrics.forms.names import read_names
from sandmill.metrics.forms.numbers import NUMBER_BYTES
from sandmill.models.package import TaskFacts


class RankedList(AnswerForm):
    """Names separated by spaces, best first; places after `facts.places` are ignored."""

    def read(self, columns: Sequence[Column], lines: Sequence[int], facts: TaskFacts, problems: list[Problem]) -> Array:
        """Return class codes, shape (rows, places), -1 after the end of a list."""
        named = read_names(columns[0], lines, facts, problems)
        wide = np.full((len(named), facts.places), -1, dtype=np.int64)
        for row, codes in enumerate(named):
            kept = codes[: facts.places]
            wide[row, : len(kept)] = kept
        return wide

    def read_truth(self, rows: Sequence[Mapping[str, str]], facts: TaskFacts) -> Array:
        """Return class codes, shape (rows,)."""
        return read_codes(rows, facts)

    def write_truth(self, truth: Array, facts: TaskFacts) -> Cells:
        """Write the name of the one true class."""
        return write_names(truth, facts)

    def sample(self, facts: TaskFacts, truth: Array) -> list[object]:
        """The rarest classes."""
        return [" ".join(by_frequency(facts, truth)[: facts.places])]

    def guesses(self, facts: TaskFacts, rows: int, numbers: Sequence[float]) -> Iterator[Array]:
        """The classes as the text lists them, from each start."""
        order = np.arange(len(facts.classes))[: facts.places]
        yield from (np.tile(np.roll(order, turn), (rows, 1)) for turn in range(len(order)))

    def shape(self, facts: TaskFacts, rows: int) -> tuple[int, ...]:
        """A column for each place."""
        return (rows, facts.places)

    def limits(self, facts: TaskFacts) -> tuple[float, float]:
        """Codes of classes, -1 after the end of a list."""
        return -1, len(facts.classes) - 1

    def cell_bytes(self, facts: TaskFacts) -> int:
        """All names."""
        return max(NUMBER_BYTES, sum(len(name.encode()) + 1 for name in facts.classes))

    def aim(self, facts: TaskFacts) -> str:
        """State how many places count."""
        return f"the {facts.list_length} likeliest values of `{facts.target_column}`, best first"

    def cells(self, facts: TaskFacts) -> str:
        """Say how names are ordered."""
        name, most = facts.target_column, facts.list_length
        return f"`{name}` holds up to {most} classes, separated by spaces, the likeliest first."
