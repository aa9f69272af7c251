"""The form `label_list`: the names of all labels that apply, in one cell."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from sandmill.errors import Problem
from sandmill.metrics.base import Array
from sandmill.metrics.forms.base import AnswerForm, Cells, Column, listed
from sandmill.metrics.forms.names import read_names, split_names
from sandmill.metrics.forms.numbers import NUMBER_BYTES
from sandmill.models.package import TaskFacts


class LabelList(AnswerForm):
    """Names separated by spaces in any order; an empty cell names none."""

    needs_every_class = True

    def read(self, columns: Sequence[Column], lines: Sequence[int], facts: TaskFacts, problems: list[Problem]) -> Array:
        """Return 0/1 by label, shape (rows, labels)."""
        return _as_flags(read_names(columns[0], lines, facts, problems), len(facts.classes))

    def read_truth(self, rows: Sequence[Mapping[str, str]], facts: TaskFacts) -> Array:
        """Return 0/1 by label, shape (rows, labels).

        Raises:
            KeyError: if a name is no label of the task.
        """
        codes = {name: code for code, name in enumerate(facts.classes)}
        named = [[codes[name] for name in split_names(row[facts.target_column])] for row in rows]
        return _as_flags(named, len(facts.classes))

    def write_truth(self, truth: Array, facts: TaskFacts) -> Cells:
        """Write the names of labels in one cell."""
        names = np.array(facts.classes)
        return {facts.target_column: [" ".join(names[row]) for row in truth == 1]}

    def sample(self, facts: TaskFacts, truth: Array) -> list[object]:
        """The rarest label."""
        return [facts.classes[int(truth.sum(axis=0).argmin())]]

    def guesses(self, facts: TaskFacts, rows: int, numbers: Sequence[float]) -> Iterator[Array]:
        """All labels, and each alone."""
        labels = len(facts.classes)
        yield np.ones((rows, labels), dtype=int)
        yield from (np.tile(np.eye(labels, dtype=int)[code], (rows, 1)) for code in range(labels))

    def shape(self, facts: TaskFacts, rows: int) -> tuple[int, ...]:
        """A column for each label."""
        return (rows, len(facts.classes))

    def limits(self, facts: TaskFacts) -> tuple[float, float]:
        """0 or 1."""
        return 0, 1

    def cell_bytes(self, facts: TaskFacts) -> int:
        """All names."""
        return max(NUMBER_BYTES, sum(len(name.encode()) + 1 for name in facts.classes))

    def aim(self, facts: TaskFacts) -> str:
        """List the labels."""
        return f"`{facts.target_column}`: which of {listed(facts.classes)} apply (none, one or several)"

    def cells(self, facts: TaskFacts) -> str:
        """Say how names are separated."""
        return f"`{facts.target_column}` holds names of labels, separated by spaces; an empty cell names none."

    def target_type(self, facts: TaskFacts) -> str | None:
        """The target column holds lists too."""
        return "names, separated by spaces"


def _as_flags(named: Sequence[Sequence[int]], labels: int) -> Array:
    wide = np.zeros((len(named), labels), dtype=np.int64)
    for row, codes in enumerate(named):
        wide[row, list(codes)] = 1
    return wide
