"""Open the parts of one version. Small parts and footers are kept, since single tasks are read from the same few."""

import io
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import BinaryIO

from sandmill.errors import IntegrityError
from sandmill.models.release import PartFile
from sandmill.store.arrow_tables import schema_of_part
from sandmill.store.faults import FileMissing
from sandmill.store.files import Store
from sandmill.store.footer import Group
from sandmill.store.parquet import TableReader
from sandmill.store.repair import ask_verify

FOOTERS_KEPT = 128
SMALL_BYTES = 1 << 18
"""Parts up to this size are read whole: on S3, a second request takes longer than these bytes."""
SMALL_KEPT = 128
"""Small parts kept in memory, 32 MB at most."""


@dataclass(frozen=True)
class PartFiles:
    """The parts of a version, of which each is checked against the manifest when it is opened."""

    store: Store
    version: str
    ref: str
    """Names the version in messages."""
    _small: dict[str, bytes] = field(default_factory=dict, init=False, repr=False)
    _footers: dict[str, tuple[Group, ...]] = field(default_factory=dict, init=False, repr=False)

    @contextmanager
    def open(self, part: PartFile, fetched: Callable[[], bytes] | None = None) -> Iterator[TableReader]:
        """Open one Parquet file of the version after its size was compared with the manifest.

        Args:
            part: as the manifest describes it.
            fetched: returns what `fetch` returned, if that was called before.

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
