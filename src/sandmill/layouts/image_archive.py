"""Two zip archives of PNG pictures. The label of a training picture is in its file name and nowhere else."""

import re
import struct
import zlib
from collections.abc import Iterator, Mapping
from io import BytesIO
from zipfile import ZIP_STORED, BadZipFile, ZipFile, ZipInfo

import polars as pl

from sandmill.errors import name_some
from sandmill.layouts.base import MAX_FILE_BYTES, Items, Layout
from sandmill.models.package import TaskFacts
from sandmill.models.spec import Sizes

MAX_SIDE = 96
"""Pixels of the width or height of a picture, as in `models.channels.images.ImageChannel`."""
_DAY = (2020, 1, 1, 0, 0, 0)
"""Time of every file, so that times tell nothing."""
_TRAIN_NAME = re.compile(r"(?P<label>[A-Za-z0-9_]+)\.(?P<id>[0-9a-f]+)\.png")
_TEST_NAME = re.compile(r"(?P<id>[0-9a-f]+)\.png")


class ImageArchive(Layout):
    """`train.zip` with `<label>.<id>.png`, `test.zip` with `<id>.png`."""

    train, test = "train.zip", "test.zip"
    item = "picture"
    cell = "PNG picture"

    def write(self, train: pl.DataFrame, test: pl.DataFrame, facts: TaskFacts) -> dict[str, bytes]:
        """Pack pictures in the order of the frames, without compression."""
        pictures = next(name for name in test.columns if name != facts.id_column)
        labelled = zip(train[facts.target_column].cast(pl.String), train[facts.id_column], strict=True)
        return {
            self.train: _pack([f"{label}.{id_}.png" for label, id_ in labelled], train[pictures]),
            self.test: _pack([f"{id_}.png" for id_ in test[facts.id_column]], test[pictures]),
        }

    def read(self, public: Mapping[str, bytes], facts: TaskFacts, features: tuple[str, ...]) -> Items:
        """Take labels and ids from the file names."""
        faults: list[str] = []
        train = _unpack(public, self.train, _TRAIN_NAME, faults)
        test = _unpack(public, self.test, _TEST_NAME, faults)
        (column,) = features
        names = {"label": facts.target_column, "id": facts.id_column, "content": column}
        order = [facts.id_column, column, facts.target_column]
        return Items(
            train.rename(names).select(order), test.rename(names, strict=False).select(order[:2]), tuple(faults)
        )

    def excess(self, name: str, content: bytes, items: int) -> Iterator[str]:
        """Count bytes, files and pixels.

        Entries that share bytes of the archive, and small files that decode to large pictures, are refused unread.
        """
        if len(content) > MAX_FILE_BYTES:
            yield f"{name} has {len(content)} bytes; the most is {MAX_FILE_BYTES}"
            return
        try:
            with ZipFile(BytesIO(content)) as archive:
                infos = archive.infolist()
                is_small = sum(info.file_size for info in infos) <= len(content) and len(infos) <= items
                large = [info.filename for info in infos if is_small and not _is_small_png(archive, info)]
        except (BadZipFile, ValueError, NotImplementedError, OSError, RuntimeError, zlib.error) as error:
            yield f"{name} is not a zip archive ({error})"
            return
        if not is_small:
            yield f"{name} holds more files or bytes than an archive of {items} pictures can"
        if large:
            yield f"{name} holds files that are no PNG of at most {MAX_SIDE} pixels a side ({name_some(large)})"
        if len(infos) != items:
            yield f"{name} has {len(infos)} files; its design has {items}"
        if packed := [info.filename for info in infos if info.compress_type != ZIP_STORED]:
            yield f"{name} holds compressed files ({name_some(packed)}); pictures are stored as they are"

    def shows_target(self, public: Mapping[str, bytes], facts: TaskFacts) -> bool:
        """Look for file names in the test archive that hold more than an id."""
        with ZipFile(BytesIO(public[self.test])) as archive:
            return not all(_TEST_NAME.fullmatch(name) for name in archive.namelist())

    def contents(self, facts: TaskFacts, sizes: Sizes) -> list[tuple[str, str]]:
        """Say what the names of the files mean."""
        return [
            (
                self.train,
                f"{sizes.train} pictures, each named `<{facts.target_column}>.<{facts.id_column}>.png`: "
                f"the name holds the target",
            ),
            (
                self.test,
                f"{sizes.feedback + sizes.final} pictures to predict, each named `<{facts.id_column}>.png`",
            ),
        ]


def _is_small_png(archive: ZipFile, info: ZipInfo) -> bool:
    with archive.open(info) as file:
        head = file.read(24)
    if len(head) < 24 or head[:8] != b"\x89PNG\r\n\x1a\n" or head[12:16] != b"IHDR":
        return False
    width, height = struct.unpack(">II", head[16:24])
    return bool(max(width, height) <= MAX_SIDE)


def _pack(names: list[str], pictures: pl.Series) -> bytes:
    whole = BytesIO()
    with ZipFile(whole, "w", ZIP_STORED) as archive:
        for name, picture in zip(names, pictures, strict=True):
            info = ZipInfo(name, _DAY)
            info.create_system, info.external_attr = 3, 0o644 << 16
            archive.writestr(info, picture)
    return whole.getvalue()


def _unpack(public: Mapping[str, bytes], path: str, names: re.Pattern[str], faults: list[str]) -> pl.DataFrame:
    """Read an archive as a table: the parts of its names, and content. What a name or an entry adds is a fault."""
    schema = dict.fromkeys(names.groupindex, pl.String) | {"content": pl.Binary}
    rows: list[tuple[str | bytes, ...]] = []
    if path not in public:
        faults.append(f"{path}: the file is not there")
        return pl.DataFrame(schema=schema)
    try:
        with ZipFile(BytesIO(public[path])) as archive:
            infos = archive.infolist()
            if told := [info.filename for info in infos if _tells_more(info)]:
                faults.append(f"{path}: files with a time, comment or packing of their own ({name_some(told)})")
            if archive.comment:
                faults.append(f"{path}: the archive has a comment")
            found = [(names.fullmatch(info.filename), info) for info in infos]
            rows = [(*match.groups(), archive.read(info)) for match, info in found if match and not told]
    except (BadZipFile, ValueError, NotImplementedError, OSError) as error:
        faults.append(f"{path}: not a zip archive ({error})")
        return pl.DataFrame(schema=schema)
    if strange := [info.filename for match, info in found if not match]:
        faults.append(f"{path}: files with names of another form ({name_some(strange)})")
    return pl.DataFrame(rows, schema=schema, orient="row")


def _tells_more(info: ZipInfo) -> bool:
    """Whether an entry carries more than its name and content."""
    return info.date_time != _DAY or info.compress_type != ZIP_STORED or bool(info.comment or info.extra)


IMAGE_ARCHIVE = ImageArchive()
