"""Read the files of many tasks one after another. Each file of the release is opened once, and read in its order."""

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from itertools import islice
from typing import TYPE_CHECKING

from sandmill.errors import IntegrityError
from sandmill.fingerprint import digest
from sandmill.models.names import MOST_FAULTS, path_faults
from sandmill.models.release import PartFile
from sandmill.store.ahead import PartsAhead
from sandmill.store.arrow_tables import Row
from sandmill.store.parquet import READ_AHEAD_BYTES, TableReader
from sandmill.store.repair import ask_verify

if TYPE_CHECKING:
    from sandmill.store.release import StoredRelease


def in_stored_order(release: "StoredRelease", task_ids: Sequence[str]) -> list[str]:
    """Return tasks in the order in which the files of the release hold them."""
    return sorted(task_ids, key=lambda task_id: (release.group_of(task_id), task_id))


def checked_files(ref: str, side: str, task_id: str, rows: Sequence[Row]) -> dict[str, bytes]:
    """Return the files in rows of a table of files.

    Raises:
        IntegrityError: stored bytes differ from their hash, or a path may not become a file of the task's folder.
    """
    where = f"{ref}: task {task_id}: {side}"
    if faults := "; ".join(islice(path_faults(row["path"] for row in rows), MOST_FAULTS)):
        raise IntegrityError(f"{where}: {faults}. Nothing was written for this task.")
    for row in rows:
        if digest(row["bytes"]) != row["sha256"]:
            raise IntegrityError(f"{where}/{row['path']}: the stored bytes differ from their hash. {ask_verify(ref)}")
    return {row["path"]: row["bytes"] for row in rows}


class TaskSequence:
    """Reads files of tasks, best in the order of `in_stored_order`. One file of each side is open at a time."""

    def __init__(self, release: "StoredRelease", sides: Collection[str], task_ids: Sequence[str]) -> None:
        """Remember what will be read.

        Args:
            release: the release.
            sides: public, private.
            task_ids: tasks that will be read, in this order.
        """
        self._release = release
        self._readers: dict[str, tuple[str, TableReader]] = {}
        # In another order, what is fetched ahead would be thrown away.
        self._is_ordered = list(task_ids) == in_stored_order(release, task_ids)
        self._open = {side: ExitStack() for side in sides}
        self._wanted = Counter(map(release.group_of, task_ids))
        self._held = Counter(map(release.group_of, release.task_ids))
        parts = [part for side in sides for part in release.parts(f"{side}/files")]
        self._left = sum(part.content for part in parts if part.content is not None)
        self._is_known = all(part.content is not None for part in parts)
        fetches_ahead = self._is_ordered and release.store.is_remote
        self._ahead = PartsAhead(release.part_files.fetch, self._parts_ahead()) if fetches_ahead else None

    def _parts_ahead(self) -> Iterator[PartFile]:
        """Yield the parts of which most tasks are wanted, in the order in which they will be opened."""
        for group in filter(self._is_mostly_wanted, self._wanted):
            for side in self._open:
                yield from self._release.parts_of_group(f"{side}/files", group)

    def _is_mostly_wanted(self, group: str) -> bool:
        return 2 * self._wanted[group] > self._held[group]

    def files(self, side: str, task_id: str) -> dict[str, bytes]:
        """Return the checked files of one side of a task.

        Raises:
            IntegrityError: they are not what the release recorded, or all tasks together have more bytes than the
                manifest says.
        """
        files = checked_files(self._release.ref, side, task_id, self._rows(side, task_id))
        self._left -= sum(map(len, files.values()))
        if self._is_known and self._left < 0:
            raise IntegrityError(f"{self._release.ref}: task {task_id}: more bytes of files than the manifest says")
        return files

    def _rows(self, side: str, task_id: str) -> list[Row]:
        is_most = self._is_ordered and self._is_mostly_wanted(self._release.group_of(task_id))
        for part in self._release.parts_of(f"{side}/files", task_id):
            if rows := self._reader(side, part).rows_of_task(task_id, READ_AHEAD_BYTES if is_most else 0):
                return rows
        return []

    def _reader(self, side: str, part: PartFile) -> TableReader:
        if side not in self._readers or self._readers[side][0] != part.path:
            self._open[side].close()
            fetched = self._ahead.take(part) if self._ahead else None
            opened = self._release.part_files.open(part, fetched)
            self._readers[side] = part.path, self._open[side].enter_context(opened)
        return self._readers[side][1]

    def close(self) -> None:
        """Close the files."""
        if self._ahead:
            self._ahead.close()
        for opened in self._open.values():
            opened.close()


@contextmanager
def reading_in_sequence(
    release: "StoredRelease", sides: Collection[str], task_ids: Sequence[str]
) -> Iterator[Callable[[str, str], dict[str, bytes]]]:
    """Give a reader of (side, task id) for many tasks, and close its files at the end."""
    sequence = TaskSequence(release, sides, task_ids)
    try:
        yield sequence.files
    finally:
        sequence.close()
