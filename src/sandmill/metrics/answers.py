"""The private truth of a task as arrays, in the shapes that metrics expect."""

import csv
import io
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sandmill.metrics.base import Array
from sandmill.metrics.forms import form_of
from sandmill.models.base import Part
from sandmill.models.package import TaskFacts

UNSCORED = "unscored"
"""In the part column: a row that a submission must hold and that no score looks at."""


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
    """Parse our own private/answers.csv: id, target columns as the answer form writes them, part."""
    rows = list(csv.DictReader(io.StringIO(content.decode())))
    parts = [row["part"] for row in rows]
    return Answers(
        ids=tuple(row[facts.id_column] for row in rows),
        truth=form_of(facts).read_truth(rows, facts),
        is_final=np.array([part == Part.FINAL for part in parts]),
        is_scored=np.array([part != UNSCORED for part in parts]) if UNSCORED in parts else None,
    )
