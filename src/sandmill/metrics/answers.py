"""Read the private answers of a task as arrays."""

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
"""Value of the column `part` for rows that are not scored, although a submission must contain them."""


@dataclass(frozen=True)
class Answers:
    """Ids, truth and part of the test rows."""

    ids: tuple[str, ...]
    truth: Array
    is_final: NDArray[np.bool_]
    is_scored: NDArray[np.bool_] | None = None
    """False for rows that belong to neither part. None if all rows are scored."""
    items: NDArray[np.intp] | None = None
    """Number of the item that each row answers a part of, such as one of its pixels. None: a row is an item."""

    def part(self, part: Part) -> NDArray[np.bool_]:
        """Return the mask of the rows of a part."""
        chosen = self.is_final if part is Part.FINAL else ~self.is_final
        return chosen if self.is_scored is None else chosen & self.is_scored


def read_answers(content: bytes, facts: TaskFacts) -> Answers:
    """Parse private/answers.csv: id, target columns as written by the answer form, part."""
    rows = list(csv.DictReader(io.StringIO(content.decode())))
    parts = [row["part"] for row in rows]
    return Answers(
        ids=tuple(row[facts.id_column] for row in rows),
        truth=form_of(facts).read_truth(rows, facts),
        is_final=np.array([part == Part.FINAL for part in parts]),
        is_scored=np.array([part != UNSCORED for part in parts]) if UNSCORED in parts else None,
    )
