"""Read the parts of one version: single tasks, or many tasks one after another in the order of the files.

Small parts and footers are kept, since single tasks are read from the same few.
"""

import io
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
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
from sandmill.store.parquet import TableReader

if TYPE_CHECKING:
    from sandmill.store.release import StoredRelease


FOOTERS_KEPT = 128
SMALL_BYTES = 1 << 18
"""Parts up to this size are read whole: on S3, a second request takes longer than these bytes."""
WHOLE_BYTES = 16 << 20
"""The same where most tasks of a part are read. Larger parts are read in blocks."""
KEPT_BYTES = 48 << 20
"""Parts kept in memory."""


def ask_verify(ref: str) -> str:
    """Return the last sentence of an error about a damaged file, for readers who may see the public half alone."""
    return f"`sandmill verify {ref}` lists all that is damaged."


@dataclass(frozen=True)
class PartFiles:
    """The parts of a version, of which each is checked against the manifest when it is opened."""

    store: Store
    version: str
    ref: str
    _kept: dict[str, bytes] = field(default_factory=dict, init=False, repr=False)
    _footers: dict[str, tuple[Group, ...]] = field(default_factory=dict, init=False, repr=False)

    @contextmanager
    def open(self, part: PartFile, most_is_read: bool = False) -> Iterator[TableReader]:
        """Open one Parquet file of the version after its size was compared with the manifest.

        Raises:
            FileMissing: it is not there.
            IntegrityError: it has another size or number of rows than the manifest says, or is no such table.
        """
        try:
            file = self._open_file(part, WHOLE_BYTES if most_is_read else SMALL_BYTES)
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

    def _open_file(self, part: PartFile, most: int) -> BinaryIO:
        """Open a part. One of at most so many bytes is read by one request and kept, and one byte more if it has it."""
        path, kept = f"{self.version}/{part.path}", self._kept
        if part.path not in kept:
            if part.size > most:
                return self.store.open(path)
            if sum(map(len, kept.values())) + part.size > KEPT_BYTES:
                kept.clear()
            kept[part.path] = self.store.read_start(path, part.size + 1)
        return io.BytesIO(kept[part.path])


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


def reading_in_sequence(
    release: "StoredRelease", sides: Collection[str], task_ids: Sequence[str]
) -> Callable[[str, str], dict[str, bytes]]:
    """Return a reader of (side, task id) for many tasks, which is fast in the order of `in_stored_order`.

    The reader raises IntegrityError if files are not what the release recorded, or if all tasks together have more
    bytes than the manifest says.
    """
    is_ordered = list(task_ids) == in_stored_order(release, task_ids)
    wanted, held = (Counter(map(release.group_of, ids)) for ids in (task_ids, release.task_ids))
    sizes = [part.content for side in sides for part in release.parts(f"{side}/files")]
    left = None if None in sizes else sum(filter(None, sizes))

    def read(side: str, task_id: str) -> dict[str, bytes]:
        nonlocal left
        group = release.group_of(task_id)
        files = release.files(side, task_id, most_is_read=is_ordered and 2 * wanted[group] > held[group])
        if left is not None:
            left -= sum(map(len, files.values()))
            if left < 0:
                raise IntegrityError(f"{release.ref}: task {task_id}: more bytes of files than the manifest says")
        return files

    return read
