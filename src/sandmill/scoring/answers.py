"""Read the private answers of a task as arrays."""

import csv
import io
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sandmill.models.base import Part
from sandmill.models.package import TaskFacts
from sandmill.scoring.base import Array
from sandmill.scoring.forms import form_of
from sandmill.scoring.plain_csv import read_plain

UNSCORED = "unscored"
"""Value of the column `part` for rows that are not scored, although a submission must contain them."""


@dataclass(frozen=True, repr=False)
class Answers:
    """Ids, truth and part of the test items. Where an item has several answer rows, the files alone have a row each."""

    ids: tuple[str, ...]
    """Ids of the items."""
    truth: Array
    """Targets as metrics expect them; the first axis is the item."""
    is_final: NDArray[np.bool_]
    is_scored: NDArray[np.bool_] | None = None
    """False for items that belong to neither part. None if all items are scored."""
    lengths: NDArray[np.intp] | None = None
    """Answer rows of each item, where they differ between items."""

    def __repr__(self) -> str:
        return f"Answers({len(self.ids)} items)"

    def part(self, part: Part) -> NDArray[np.bool_]:
        """Return the mask of the items of a part."""
        chosen = self.is_final if part is Part.FINAL else ~self.is_final
        return chosen if self.is_scored is None else chosen & self.is_scored


def read_answers(content: bytes, facts: TaskFacts) -> Answers:
    """Parse private/answers.csv: id, target columns as written by the answer form, part.

    Raises:
        KeyError: if a column is missing, or a class is none of the task.
        ValueError: if a cell is no number where there should be one, or rows of an item are missing or apart.
    """
    columns = _read_columns(content.decode())
    form, row_ids, parts = form_of(facts), columns[facts.id_column], np.array(columns["part"], dtype=np.str_)
    ids, found = form.item_ids(row_ids, facts)
    if list(form.row_ids(ids, facts, found)) != list(row_ids):
        raise ValueError("the ids are not those of whole items")
    lengths = None if found is None else np.asarray(found, dtype=np.intp)
    starts = _starts(len(row_ids), len(ids), lengths)
    if not (parts == np.repeat(parts[starts], np.diff([*starts, len(parts)]))).all():
        raise ValueError("rows of one item are of several parts")
    parts = parts[starts]
    return Answers(
        ids=tuple(ids),
        truth=form.to_items(form.read_truth(columns, facts), facts, lengths),
        is_final=parts == Part.FINAL,
        is_scored=parts != UNSCORED if (parts == UNSCORED).any() else None,
        lengths=lengths,
    )


def _read_columns(text: str) -> dict[str, tuple[str, ...]]:
    if plain := read_plain(text):
        return dict(zip(plain.header, plain.columns, strict=True))
    header, *rows = filter(None, csv.reader(io.StringIO(text, newline="")))
    return dict(zip(header, zip(*rows, strict=True), strict=True)) if rows else dict.fromkeys(header, ())


def _starts(rows: int, items: int, lengths: NDArray[np.intp] | None) -> NDArray[np.intp]:
    """Return the first row of each item."""
    counts = np.full(items, rows // max(1, items), dtype=np.intp) if lengths is None else lengths
    return np.cumsum(counts) - counts
