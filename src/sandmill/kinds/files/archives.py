"""Zip archives of item files, and of tables. They are the same bytes on every machine."""

import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from io import BytesIO
from itertools import islice
from zipfile import ZIP_STORED, BadZipFile, ZipFile, ZipInfo

import polars as pl

from sandmill.errors import name_some
from sandmill.kinds.files.base import Files, Items, Layout, Names
from sandmill.kinds.files.item_files import MAX_FILE_BYTES, item_fault
from sandmill.kinds.files.tables import header_shows_target, items_of_tables, read_csv, table_excess
from sandmill.models.package import TaskFacts
from sandmill.models.spec import Sizes

_DAY = (2020, 1, 1, 0, 0, 0)
"""Time of every file, so that times tell nothing."""
BROKEN = (BadZipFile, ValueError, NotImplementedError, OSError, RuntimeError, EOFError, zlib.error)
"""What reading a damaged or hostile archive can raise."""


def pack(files: Iterable[tuple[str, bytes]]) -> bytes:
    """Return an archive of files in their order, without compression. Equal files give equal bytes."""
    whole = BytesIO()
    with ZipFile(whole, "w", ZIP_STORED) as archive:
        for name, content in files:
            info = ZipInfo(name, _DAY)
            info.create_system, info.external_attr = 3, 0o644 << 16
            archive.writestr(info, content)
    return whole.getvalue()


def unpack(public: Files, path: str, faults: list[str]) -> list[tuple[str, bytes]]:
    """Return names and contents of an archive in its order. Whatever else an entry carries is a fault.

    Returns:
        Nothing if the archive cannot be read, would grow, or holds two files of the same name.
    """
    known = len(faults)
    if path not in public:
        faults.append(f"{path}: the file is not there")
        return []
    try:
        with ZipFile(BytesIO(public[path])) as archive:
            infos = archive.infolist()
            if told := [info.filename for info in infos if _tells_more(info)]:
                faults.append(f"{path}: files with a time, comment or packing of their own ({name_some(told)})")
            if archive.comment:
                faults.append(f"{path}: the archive has a comment")
            names = [info.filename for info in infos]
            if len(set(names)) < len(names):
                faults.append(f"{path}: files of the same name")
            if sum(info.file_size for info in infos) > len(public[path]):
                faults.append(f"{path}: files that share bytes of the archive")
            if len(faults) > known:
                return []
            files = [(info.filename, archive.read(info)) for info in infos]
    except BROKEN as error:
        faults.append(f"{path}: not a zip archive ({error})")
        return []
    if pack(files) != public[path]:
        faults.append(f"{path}: holds bytes beside its files, or files with attributes of their own")
    return files


def archive_excess(path: str, content: bytes, items: int, item: str) -> Iterator[str]:
    """Count bytes, files, pixels and samples without unpacking more than the start of a file.

    Entries that share bytes of the archive, and small files that decode to large items, are refused unread.
    """

    def judge(archive: ZipFile) -> Iterator[str]:
        infos = archive.infolist()
        is_small = sum(info.file_size for info in infos) <= len(content) and len(infos) <= items
        packed = [info.filename for info in infos if info.compress_type != ZIP_STORED]
        if not is_small:
            yield f"{path} holds more files or bytes than an archive of {items} {item}s can"
        elif not packed:
            faults = (fault for info in infos if (fault := item_fault(info.filename, archive.read(info))))
            yield from (f"{path} holds {fault}" for fault in islice(faults, 1))
        if len(infos) != items:
            yield f"{path} has {len(infos)} files; its design has {items}"
        if packed:
            yield f"{path} holds compressed files ({name_some(packed)}); {item}s are stored as they are"

    return _judged(path, content, judge)


def _judged(path: str, content: bytes, judge: Callable[[ZipFile], Iterator[str]]) -> Iterator[str]:
    """Yield what is wrong with an archive, which may be a stranger's."""
    if len(content) > MAX_FILE_BYTES:
        yield f"{path} has {len(content)} bytes; the most is {MAX_FILE_BYTES}"
        return
    try:
        with ZipFile(BytesIO(content)) as archive:
            faults = list(judge(archive))
    except BROKEN as error:
        faults = [f"{path} is not a zip archive ({error})"]
    yield from faults


def _tells_more(info: ZipInfo) -> bool:
    """Whether an entry carries more than its name and content."""
    return info.date_time != _DAY or info.compress_type != ZIP_STORED or bool(info.comment or info.extra)


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

    def read(self, public: Files, facts: TaskFacts, features: Names, only_in_training: Names = ()) -> Items:
        """Read both tables. Cells without quotes are faults."""
        faults: list[str] = []
        tables = [self._read(public, path, facts, faults) for path in (self.train, self.test)]
        return items_of_tables(self, tables[0], tables[1], facts, features, only_in_training, faults)

    def excess(self, public: Files, sizes: Sizes) -> Iterator[str]:
        """Count bytes, columns and rows, without parsing a table."""
        for path, items in ((self.train, sizes.train), (self.test, sizes.feedback + sizes.final)):
            yield from zipped_excess(path, public[path], items, items * self.most_rows)

    def shows_target(self, public: Files, facts: TaskFacts) -> bool:
        """Look for a target's name in the header."""
        return header_shows_target(_unpacked(public, self.test, []), facts)

    def pack_sample(self, csv: bytes) -> bytes:
        """Return the archive of the sample submission."""
        faults: list[str] = []
        table = read_csv({self.sample: csv}, self.sample, faults)
        if table is None:
            raise ValueError("; ".join(faults))
        return _pack(self.sample, quoted_csv(table))

    def sample_csv(self, public: Files) -> bytes:
        """Return the sample submission as a CSV file; nothing if there is none."""
        return _unpacked(public, self.sample, [])

    def _read(self, public: Files, path: str, facts: TaskFacts, faults: list[str]) -> pl.DataFrame | None:
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
    """Say why an archive of one table is larger than a micro task's. It may be a stranger's."""

    def judge(archive: ZipFile) -> Iterator[str]:
        infos = archive.infolist()
        if len(infos) == 1 and infos[0].compress_type == ZIP_STORED and infos[0].file_size <= len(content):
            yield from table_excess(path, archive.read(infos[0]), least, most)
        else:
            yield f"{path} holds something else than one file without compression"

    return _judged(path, content, judge)


def _pack(path: str, content: bytes) -> bytes:
    return pack([(path.removesuffix(_SUFFIX), content)])


def _unpacked(public: Files, path: str, faults: list[str]) -> bytes:
    """Return the only file of an archive; nothing, and a fault, if there is no such file."""
    known = len(faults)
    files = unpack(public, path, faults)
    if len(faults) > known:
        return b""
    if [name for name, _ in files] != [path.removesuffix(_SUFFIX)]:
        faults.append(f"{path}: holds something else than {path.removesuffix(_SUFFIX)}")
        return b""
    return files[0][1]
