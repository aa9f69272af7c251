"""Views on the tables of tasks for sections of a report, with the columns that these name alone."""

from typing import Any

import pyarrow as pa

from sandmill.report.html.page import Edition
from sandmill.report.queries import View
from sandmill.store.arrow_tables import PRIVATE_TASKS, PUBLIC_TASKS
from sandmill.store.columns import read_columns
from sandmill.store.release import StoredRelease

_PUBLIC = ("task_id", "split", "modality", "target", "metric")
_PRIVATE = ("task_id", "split", "structure", "metric", "band", "difficulty")


def read_task_views(release: StoredRelease, edition: Edition) -> dict[str, View]:
    """Return `public_tasks`, and `private_tasks` in the private edition. Prompts and records are not read."""
    tables: dict[str, tuple[str, tuple[str, ...], Any]] = {"public_tasks": ("public/tasks", _PUBLIC, PUBLIC_TASKS)}
    if edition == "private":
        tables["private_tasks"] = ("private/tasks", _PRIVATE, PRIVATE_TASKS)
    return {name: _view(release, *table) for name, table in tables.items()}


def _view(release: StoredRelease, table: str, columns: tuple[str, ...], schema: Any) -> View:
    rows = list(read_columns(release, table, columns))
    found = pa.Table.from_pylist(rows, schema=pa.schema([schema.field(name) for name in columns]))
    return View(found, f"read_parquet('{table}-*.parquet', union_by_name = true)")
