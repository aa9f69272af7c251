"""The file of a child table: one row for each event of the training and test items."""

from collections.abc import Iterator, Mapping

import polars as pl

from sandmill.kinds.files.item_files import MAX_FILE_BYTES
from sandmill.kinds.files.tables import csv_bytes, read_csv, require_columns
from sandmill.models.columns import MOST_EVENTS, ChildTable


def child_columns(child: ChildTable, id_column: str) -> list[str]:
    """Return the columns of the file."""
    return [id_column, child.kind, child.amount, child.age]


def write_child(child: ChildTable, id_column: str, events: pl.DataFrame) -> bytes:
    """Write events sorted by item, from old to new.

    Ids are random, so the order of the file carries nothing about parts or targets.

    Args:
        child: the child table.
        id_column: name of the column with the item's id.
        events: columns as `child_columns` names them.
    """
    order = pl.col(id_column), -pl.col(child.age), pl.col(child.kind), pl.col(child.amount)
    return csv_bytes(events.select(child_columns(child, id_column)).sort(*order))


def read_child(
    public: Mapping[str, bytes], child: ChildTable, id_column: str, faults: list[str]
) -> pl.DataFrame | None:
    """Read events with amounts as numbers and ages as integers.

    Returns:
        None if the file is not sound, with one more fault that says why.
    """
    known = len(faults)
    frame = read_csv(public, child.path, faults)
    require_columns(child.path, frame, child_columns(child, id_column), faults)
    if frame is None or len(faults) > known:
        return None
    typed = frame.with_columns(
        pl.col(child.amount).cast(pl.Float64, strict=False), pl.col(child.age).cast(pl.Int64, strict=False)
    )
    if any(typed[name].null_count() for name in typed.columns) or not typed[child.amount].is_finite().all():
        faults.append(f"{child.path}: empty cells, or text where numbers are expected")
        return None
    return typed


def child_excess(child: ChildTable, content: bytes, items: int) -> Iterator[str]:
    """Say why the file is larger than that of a micro task, without parsing it."""
    if len(content) > MAX_FILE_BYTES:
        yield f"{child.path} has {len(content)} bytes; the most is {MAX_FILE_BYTES}"
        return
    if b"\r" in content:
        yield f"{child.path} holds carriage returns; lines end in line feeds alone"
    rows = content.count(b"\n") - 1
    if not items <= rows <= items * MOST_EVENTS:
        yield f"{child.path} has {rows} rows; {items} items have {items} to {items * MOST_EVENTS}"
