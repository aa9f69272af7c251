"""Render the child table: the events of training and test items in one file."""

from collections.abc import Sequence

import numpy as np
import polars as pl

from sandmill.kinds.files.tables import child_columns, write_child
from sandmill.mechanism.child import Events
from sandmill.models.columns import ChildTable
from sandmill.models.package import TaskFacts
from sandmill.models.spec import TaskSpec

Part = tuple[pl.Series, Events | None]
"""Ids of some items, and their events in the same order."""


def child_files(spec: TaskSpec, facts: TaskFacts, parts: Sequence[Part]) -> dict[str, bytes]:
    """Return the file of the child table with the events of all parts; nothing if the design has no child table."""
    child = spec.mechanism.child
    if child is None:
        return {}
    frames = [events_frame(child, facts.id_column, ids, events) for ids, events in parts if events is not None]
    return {child.path: write_child(child, facts.id_column, pl.concat(frames))}


def events_frame(child: ChildTable, id_column: str, ids: pl.Series, events: Events) -> pl.DataFrame:
    """Return one row for each event, with the id of its item."""
    there = ~np.isnan(events.ages)
    levels = np.array(child.kinds, dtype=object)
    amounts = pl.Series(events.amounts[there])
    cells = (
        ids.gather(np.nonzero(there)[0]),
        pl.Series(levels[events.kinds[there].astype(np.intp)], dtype=pl.String),
        amounts.cast(pl.Int64) if child.decimals == 0 else amounts,
        pl.Series(events.ages[there].astype(np.int64)),
    )
    return pl.DataFrame(dict(zip(child_columns(child, id_column), cells, strict=True)))
