"""Read some columns of a table of a release, one row group in memory at a time."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from sandmill.store.arrow_tables import Row

if TYPE_CHECKING:
    from sandmill.models.release import PartFile
    from sandmill.store.release import StoredRelease


def read_columns(release: "StoredRelease", table: str, columns: Sequence[str]) -> Iterator[Row]:
    """Yield the rows of a table, such as public/tasks. Other columns are neither read nor decompressed."""
    for part in release.parts(table):
        yield from _rows(release, part, columns, None)


def file_hashes(release: "StoredRelease", side: str, task_id: str) -> dict[str, str]:
    """Return the SHA-256 of each file of one side of a task, as recorded. No file is read."""
    found: dict[str, str] = {}
    for part in release.parts_of(f"{side}/files", task_id):
        for row in _rows(release, part, ["task_id", "path", "sha256"], task_id):
            if row["task_id"] == task_id:
                found[row["path"]] = row["sha256"]
    return found


def _rows(release: "StoredRelease", part: "PartFile", columns: Sequence[str], task_id: str | None) -> Iterator[Row]:
    with release.open_part(part) as reader:
        for group in reader.groups(columns, task_id):
            yield from group.to_pylist()
