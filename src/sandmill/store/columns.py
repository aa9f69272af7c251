"""Read some columns of a table of a release, one row group in memory at a time."""

from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING

from sandmill.store.arrow_tables import Row

if TYPE_CHECKING:
    from sandmill.store.release import StoredRelease


def read_columns(
    release: "StoredRelease", table: str, columns: Sequence[str], task_ids: Collection[str] | None = None
) -> Iterator[Row]:
    """Yield the rows of a table, such as public/tasks. Other columns are neither read nor decompressed.

    Facts of all tasks come from the table of facts, if the version has one: the order of rows is that of the files.

    With `task_ids`, which needs the column `task_id`, rows of other tasks are left out before they become objects.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    wanted = None if task_ids is None else pa.array(sorted(task_ids), pa.string())
    for part in release.parts_with(table, columns):
        with release.open_part(part) as reader:
            for group in reader.groups(columns):
                kept = group if wanted is None else group.filter(pc.is_in(group["task_id"], value_set=wanted))
                yield from kept.to_pylist()


def file_hashes(release: "StoredRelease", side: str, task_id: str) -> dict[str, str]:
    """Return the SHA-256 of each file of one side of a task, as recorded. No file is read."""
    found: dict[str, str] = {}
    for part in release.parts_of(f"{side}/files", task_id):
        with release.open_part(part) as reader:
            for group in reader.groups(["task_id", "path", "sha256"], task_id):
                rows = group.to_pylist()
                found |= {row["path"]: row["sha256"] for row in rows if row["task_id"] == task_id}
    return found
