"""The private truth of a task as arrays, in the shapes that metrics expect."""

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sandmill.metrics.base import Array
from sandmill.models.base import Part
from sandmill.models.package import TaskFacts
from sandmill.models.structure import MetricName, TargetKind

UNSCORED = "unscored"
"""In the part column: a row that a submission must hold and that no score looks at."""

_NUMBERS = frozenset({TargetKind.REGRESSION, TargetKind.COUNT})


@dataclass(frozen=True)
class Answers:
    """The truth, row by row, and which part each row is graded in."""

    ids: tuple[str, ...]
    truth: Array
    is_final: NDArray[np.bool_]
    is_scored: NDArray[np.bool_] | None = None
    """False for rows that belong to neither part; None if there are none."""

    def part(self, part: Part) -> NDArray[np.bool_]:
        """Mask of the rows of a part."""
        chosen = self.is_final if part is Part.FINAL else ~self.is_final
        return chosen if self.is_scored is None else chosen & self.is_scored


def read_answers(content: bytes, facts: TaskFacts) -> Answers:
    """Parse our own private/answers.csv: id, target (one or several columns), companion if there is one, part.

    Columns of the target: those of a submission for several numbers; one for each class for shares, and for label
    sets that are asked as probabilities; else the target column, label sets as names separated by spaces.

    Returns:
        Truth as class codes (rows,), numbers (rows,), or one column a number, class or label (rows, columns). With a
        companion the columns are target and companion, groups as codes.
    """
    rows = list(csv.DictReader(io.StringIO(content.decode())))
    ids = tuple(row[facts.id_column] for row in rows)
    truth = _truth(rows, facts)
    if facts.companion_column is not None:
        truth = np.column_stack([truth, _companion([row[facts.companion_column] for row in rows], facts.metric)])
    parts = [row["part"] for row in rows]
    is_scored = np.array([part != UNSCORED for part in parts]) if UNSCORED in parts else None
    return Answers(ids, truth, np.array([part == Part.FINAL for part in parts]), is_scored)


def name_sets(cells: Sequence[str], classes: Sequence[str]) -> Array:
    """Write sets of names as 0/1 columns, shape (rows, classes).

    Raises:
        KeyError: if a name is no class.
    """
    codes = {name: code for code, name in enumerate(classes)}
    wide = np.zeros((len(cells), len(classes)), dtype=np.int64)
    for row, cell in enumerate(cells):
        wide[row, [codes[name] for name in cell.split()]] = 1
    return wide


def _truth(rows: Sequence[Mapping[str, str]], facts: TaskFacts) -> Array:
    if facts.target is TargetKind.MULTI_TARGET:
        return _columns(rows, facts.submission_columns)
    if facts.target is TargetKind.DISTRIBUTION:
        return _columns(rows, facts.classes)
    if facts.target is TargetKind.MULTILABEL and facts.encoding == "label_probabilities":
        return _columns(rows, facts.classes).astype(np.int64)
    cells = [row[facts.target_column] for row in rows]
    if facts.target is TargetKind.MULTILABEL:
        return name_sets(cells, facts.classes)
    if facts.target in _NUMBERS:
        return np.array([float(cell) for cell in cells])
    codes = {name: code for code, name in enumerate(facts.classes)}
    return np.array([codes[cell] for cell in cells], dtype=np.int64)


def _columns(rows: Sequence[Mapping[str, str]], names: Sequence[str]) -> Array:
    return np.array([[float(row[name]) for name in names] for row in rows]).reshape(len(rows), len(names))


def _companion(cells: Sequence[str], metric: MetricName) -> Array:
    if metric is MetricName.LOG_LOSS_WEIGHTED:
        return np.array([float(cell) for cell in cells])
    return np.unique(np.array(cells), return_inverse=True)[1].reshape(-1).astype(np.float64)
