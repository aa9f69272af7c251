"""Read the parts of one version: single tasks, or many tasks one after another in the order of the files.

Small parts and footers are kept, since single tasks are read from the same few.
"""

import io
from collections import Counter, deque
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, BinaryIO

from sandmill.errors import IntegrityError
from sandmill.fingerprint import digest
from sandmill.models.names import MOST_FAULTS, path_faults
from sandmill.models.release import PartFile
from sandmill.store.arrow_tables import Row, schema_of_part
from sandmill.store.files import FileMissing, Store
from sandmill.store.footer import Group
from sandmill.store.parquet import READ_AHEAD_BYTES, TableReader

if TYPE_CHECKING:
    from sandmill.store.release import StoredRelease


FOOTERS_KEPT = 128
SMALL_BYTES = 1 << 18
"""Parts up to this size are read whole: on S3, a second request takes longer than these bytes."""
SMALL_KEPT = 128
"""Small parts kept in memory, 32 MB at most."""


def ask_verify(ref: str) -> str:
    """Return the last sentence of an error about a damaged file, for readers who may see the public half alone."""
    return f"`sandmill verify {ref}` lists all that is damaged."


@dataclass(frozen=True)
class PartFiles:
    """The parts of a version, of which each is checked against the manifest when it is opened."""

    store: Store
    version: str
    ref: str
    _small: dict[str, bytes] = field(default_factory=dict, init=False, repr=False)
    _footers: dict[str, tuple[Group, ...]] = field(default_factory=dict, init=False, repr=False)

    @contextmanager
    def open(self, part: PartFile, fetched: Callable[[], bytes] | None = None) -> Iterator[TableReader]:
        """Open one Parquet file of the version after its size was compared with the manifest.

        `fetched` returns what `fetch` returned, if that was called before.

        Raises:
            FileMissing: it is not there.
            IntegrityError: it has another size or number of rows than the manifest says, or is no such table.
        """
        try:
            file = self._open_file(part) if fetched is None else io.BytesIO(fetched())
        except FileMissing:
            where = self.store.where(f"{self.version}/{part.path}")
            raise FileMissing(f"{where}: missing, and the manifest lists it. {ask_verify(self.ref)}") from None
        with file:
            if (size := file.seek(0, io.SEEK_END)) != part.size:
                said = f"{part.path}: {size} bytes; the manifest says {part.size}"
                raise IntegrityError(f"{self.ref}: {said}. {ask_verify(self.ref)}")
            known = self._footers.get(part.path)
            reader = TableReader(file, part.path, schema_of_part(part.path), part.rows, known)
            if known is None:
                if len(self._footers) == FOOTERS_KEPT:
                    self._footers.clear()
                self._footers[part.path] = reader.footer
            yield reader

    def fetch(self, part: PartFile) -> bytes:
        """Return the bytes of a part, and one more if it has more than the manifest says."""
        return self.store.read_start(f"{self.version}/{part.path}", part.size + 1)

    def _open_file(self, part: PartFile) -> BinaryIO:
        """Open a part. A small one is read by one request and kept, since opening it on S3 takes several."""
        if part.size > SMALL_BYTES:
            return self.store.open(f"{self.version}/{part.path}", part.size)
        if part.path not in self._small:
            if len(self._small) >= SMALL_KEPT:
                self._small.clear()
            self._small[part.path] = self.fetch(part)
        return io.BytesIO(self._small[part.path])


WHOLE_BYTES = 16 << 20
"""Largest size of a part that is fetched ahead, as a whole. The release's reader fetches larger ones piece by piece."""

PARTS_AT_ONCE = 3
"""Parts that are on their way or wait in memory."""


class PartsAhead:
    """Parts that will be opened one after another, of which the next few are fetched in threads."""

    def __init__(self, fetch: Callable[[PartFile], bytes], parts: Iterable[PartFile]) -> None:
        """Plan what to fetch. `fetch` is called in threads, and not before the first part is taken."""
        self._fetch = fetch
        self._planned = deque(part for part in parts if part.size <= WHOLE_BYTES)
        self._coming: dict[str, Future[bytes]] = {}
        self._threads = ThreadPoolExecutor(PARTS_AT_ONCE)

    def take(self, part: PartFile) -> Callable[[], bytes] | None:
        """Return what waits for the bytes of a part and raises what its fetch raised; None if it is not planned."""
        self._start_next()
        coming = self._coming.pop(part.path, None)
        self._start_next()
        return None if coming is None else coming.result

    def _start_next(self) -> None:
        while self._planned and len(self._coming) < PARTS_AT_ONCE:
            part = self._planned.popleft()
            self._coming[part.path] = self._threads.submit(self._fetch, part)

    def close(self) -> None:
        """Give up what nobody has taken, and wait for what is on its way."""
        self._threads.shutdown(cancel_futures=True)


def in_stored_order(release: "StoredRelease", task_ids: Sequence[str]) -> list[str]:
    """Return tasks in the order in which the files of the release hold them."""
    return sorted(task_ids, key=lambda task_id: (release.group_of(task_id), task_id))


def checked_files(ref: str, side: str, task_id: str, rows: Sequence[Row]) -> dict[str, bytes]:
    """Return the files in rows of a table of files.

    Raises:
        IntegrityError: stored bytes differ from their hash, or a path may not become a file of the task's folder.
    """
    where, files = f"{ref}: task {task_id}: {side}", {row["path"]: row["bytes"] for row in rows}
    if faults := "; ".join(islice(path_faults(row["path"] for row in rows), MOST_FAULTS)):
        raise IntegrityError(f"{where}: {faults}. Nothing was written for this task.")
    for row in rows:
        if digest(row["bytes"]) != row["sha256"]:
            raise IntegrityError(f"{where}/{row['path']}: the stored bytes differ from their hash. {ask_verify(ref)}")
    return files


class TaskSequence:
    """Reads files of tasks, best in the order of `in_stored_order`. One file of each side is open at a time."""

    def __init__(self, release: "StoredRelease", sides: Collection[str], task_ids: Sequence[str]) -> None:
        """Remember which tasks will be read, in this order."""
        self._release = release
        self._readers: dict[str, tuple[str, TableReader]] = {}
        # In another order, what is fetched ahead would be thrown away.
        self._is_ordered = list(task_ids) == in_stored_order(release, task_ids)
        self._open = {side: ExitStack() for side in sides}
        self._wanted = Counter(map(release.group_of, task_ids))
        self._held = Counter(map(release.group_of, release.task_ids))
        sizes = [part.content for side in sides for part in release.parts(f"{side}/files")]
        self._left = None if None in sizes else sum(filter(None, sizes))
        ahead = (
            part
            for group in filter(self._is_mostly_wanted, self._wanted)
            for side in sides
            for part in release.parts_of_group(f"{side}/files", group)
        )
        fetches_ahead = self._is_ordered and release.store.is_remote
        self._ahead = PartsAhead(release.part_files.fetch, ahead) if fetches_ahead else None

    def _is_mostly_wanted(self, group: str) -> bool:
        return 2 * self._wanted[group] > self._held[group]

    def files(self, side: str, task_id: str) -> dict[str, bytes]:
        """Return the checked files of one side of a task.

        Raises:
            IntegrityError: they are not what the release recorded, or all tasks together have more bytes than the
                manifest says.
        """
        is_most = self._is_ordered and self._is_mostly_wanted(self._release.group_of(task_id))
        rows: list[Row] = []
        for part in self._release.parts_of(f"{side}/files", task_id):
            if rows := self._reader(side, part).rows_of_task(task_id, READ_AHEAD_BYTES if is_most else 0):
                break
        files = checked_files(self._release.ref, side, task_id, rows)
        if self._left is not None:
            self._left -= sum(map(len, files.values()))
            if self._left < 0:
                raise IntegrityError(f"{self._release.ref}: task {task_id}: more bytes of files than the manifest says")
        return files

    def _reader(self, side: str, part: PartFile) -> TableReader:
        if side not in self._readers or self._readers[side][0] != part.path:
            self._open[side].close()
            opened = self._release.part_files.open(part, self._ahead.take(part) if self._ahead else None)
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
    with closing(TaskSequence(release, sides, task_ids)) as sequence:
        yield sequence.files
