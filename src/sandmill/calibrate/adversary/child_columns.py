"""Child tables as numeric columns beside those of a task."""

from collections.abc import Mapping

import numpy as np
import polars as pl

from sandmill.calibrate.adversary.joins import joined
from sandmill.calibrate.solvers.designs import Design
from sandmill.calibrate.solvers.table import Table


def child_columns(table: Table, frames: Mapping[str, pl.DataFrame]) -> Design | None:
    """Summaries of child tables for training and test rows; None if there are none. Gaps are NaN."""
    known = [str(each) for each in table.train[table.facts.id_column]]
    made = joined(frames, [*known, *table.ids], table.facts.id_column)
    if not made.width:
        return None
    numbers = made.to_numpy().astype(np.float64)
    return Design(numbers[: len(known)], numbers[len(known) :])
