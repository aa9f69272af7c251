"""Tables that lie in zip archives alone, one in each, with all cells quoted."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from io import BytesIO
from zipfile import ZIP_STORED, ZipFile

import polars as pl

from sandmill.kinds.files.archives import BROKEN, pack, unpack
from sandmill.kinds.files.base import Items, Layout
from sandmill.kinds.files.item_files import MAX_FILE_BYTES
from sandmill.kinds.files.tables import header_shows_target, items_of_tables, read_csv, table_excess
from sandmill.models.package import TaskFacts
from sandmill.models.spec import Sizes

_SUFFIX = ".zip"


def quoted_csv(frame: pl.DataFrame) -> bytes:
    """Write CSV with LF line ends and every cell in quotes, the header included."""
    return frame.with_columns(pl.all().cast(pl.String).fill_null("")).write_csv(quote_style="always").encode()


@dataclass(frozen=True)
class ZippedTables(Layout):
    """An archive for each part, and one for the sample submission. Each holds one CSV file without compression.

    Where an item has several rows, a subclass turns items to rows and back.
    """

    train: str = "train.csv.zip"
    test: str = "test.csv.zip"
    sample: str = "sample_submission.csv.zip"
    item: str = "row"
    most_rows: int = 1
    """Most rows of one item."""

    def rows_of(self, items: pl.DataFrame, facts: TaskFacts) -> pl.DataFrame:
        """Return the rows of a table, in the order of the items."""
        return items

    def items_of(self, rows: pl.DataFrame, facts: TaskFacts) -> pl.DataFrame:
        """Return the items of a table, whose cells are text: the inverse of `rows_of`."""
        return rows

    def write(self, train: pl.DataFrame, test: pl.DataFrame, facts: TaskFacts) -> dict[str, bytes]:
        """Write both tables, each into its archive."""
        return {
            path: _pack(path, quoted_csv(self.rows_of(items, facts)))
            for path, items in ((self.train, train), (self.test, test))
        }

    def read(
        self,
        public: Mapping[str, bytes],
        facts: TaskFacts,
        features: tuple[str, ...],
        only_in_training: tuple[str, ...] = (),
    ) -> Items:
        """Read both tables. Cells without quotes are faults."""
        faults: list[str] = []
        tables = [self._read(public, path, facts, faults) for path in (self.train, self.test)]
        return items_of_tables(self, tables[0], tables[1], facts, features, only_in_training, faults)

    def excess(self, public: Mapping[str, bytes], sizes: Sizes) -> Iterator[str]:
        """Count bytes, columns and rows, without parsing a table."""
        for path, items in ((self.train, sizes.train), (self.test, sizes.feedback + sizes.final)):
            yield from zipped_excess(path, public[path], items, items * self.most_rows)

    def shows_target(self, public: Mapping[str, bytes], facts: TaskFacts) -> bool:
        """Look for a target's name in the header."""
        return header_shows_target(_unpacked(public, self.test, []), facts)

    def pack_sample(self, csv: bytes) -> bytes:
        """Return the archive of the sample submission."""
        faults: list[str] = []
        table = read_csv({self.sample: csv}, self.sample, faults)
        if table is None:
            raise ValueError("; ".join(faults))
        return _pack(self.sample, quoted_csv(table))

    def sample_csv(self, public: Mapping[str, bytes]) -> bytes:
        """Return the sample submission as a CSV file; nothing if there is none."""
        return _unpacked(public, self.sample, [])

    def _read(self, public: Mapping[str, bytes], path: str, facts: TaskFacts, faults: list[str]) -> pl.DataFrame | None:
        known = len(faults)
        content = _unpacked(public, path, faults)
        if len(faults) > known:
            return None
        table = read_csv({path: content}, path, faults)
        if table is not None and quoted_csv(table) != content:
            faults.append(f"{path}: cells without quotes, or lines that end in another way than with a line feed")
            return None
        return None if table is None else self.items_of(table, facts)


def zipped_excess(path: str, content: bytes, least: int, most: int) -> Iterator[str]:
    """Say why an archive of one table is larger than a micro task's. It may be a stranger's.

    Args:
        path: of the archive.
        content: its bytes.
        least: fewest rows.
        most: most rows.
    """
    if len(content) > MAX_FILE_BYTES:
        yield f"{path} has {len(content)} bytes; the most is {MAX_FILE_BYTES}"
        return
    try:
        with ZipFile(BytesIO(content)) as archive:
            infos = archive.infolist()
            is_plain = len(infos) == 1 and infos[0].compress_type == ZIP_STORED and infos[0].file_size <= len(content)
            table = archive.read(infos[0]) if is_plain else b""
    except BROKEN as error:
        yield f"{path} is not a zip archive ({error})"
        return
    if not is_plain:
        yield f"{path} holds something else than one file without compression"
        return
    yield from table_excess(path, table, least, most)


def _pack(path: str, content: bytes) -> bytes:
    return pack([(path.removesuffix(_SUFFIX), content)])


def _unpacked(public: Mapping[str, bytes], path: str, faults: list[str]) -> bytes:
    """Return the only file of an archive; nothing, and a fault, if there is no such file."""
    known = len(faults)
    files = unpack(public, path, faults)
    if len(faults) > known:
        return b""
    if [name for name, _ in files] != [path.removesuffix(_SUFFIX)]:
        faults.append(f"{path}: holds something else than {path.removesuffix(_SUFFIX)}")
        return b""
    return files[0][1]
