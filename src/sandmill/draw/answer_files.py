"""The files of answers, with a row for each answer row: the private truth and the sample submission."""

from collections.abc import Sequence

import numpy as np
import polars as pl

from sandmill.kinds.files.tables import csv_bytes
from sandmill.models.base import Part
from sandmill.models.package import TaskFacts
from sandmill.scoring.base import Array
from sandmill.scoring.forms import form_of
from sandmill.scoring.submission import UNSCORED, Answers


def answers_file(facts: TaskFacts, answers: Answers) -> bytes:
    """Write answers.csv: id, targets and part."""
    form = form_of(facts)
    ids = form.row_ids(answers.ids, facts, answers.lengths)
    parts = np.where(answers.is_final, str(Part.FINAL), str(Part.FEEDBACK))
    if answers.is_scored is not None:
        parts = np.where(answers.is_scored, parts, UNSCORED)
    each = form.rows_each(facts) if answers.lengths is None else answers.lengths
    columns = {facts.id_column: ids, **form.write_answers(answers.truth, facts), "part": np.repeat(parts, each)}
    return csv_bytes(pl.DataFrame({name: pl.Series(cells) for name, cells in columns.items()}))


def sample_submission(facts: TaskFacts, row_ids: Sequence[str], train_target: Array) -> pl.DataFrame:
    """Return a valid submission that gives the same answer in every row, which follows from the training targets."""
    cells = form_of(facts).sample(facts, train_target)
    columns = zip(facts.submission_columns, cells, strict=True)
    return pl.DataFrame(
        {facts.id_column: pl.Series(row_ids)} | {name: pl.Series([cell] * len(row_ids)) for name, cell in columns}
    )
