"""The public files of one task as a reader sees them first: rows, pictures, sounds, texts."""

import csv
from base64 import b64encode
from collections.abc import Iterator, Mapping
from contextlib import suppress
from io import BytesIO, StringIO
from itertools import islice
from zipfile import ZIP_STORED, ZipFile

from sandmill.errors import shorten
from sandmill.kinds.files.archives import BROKEN
from sandmill.kinds.files.item_files import item_fault
from sandmill.models.base import Frozen
from sandmill.models.texts import DESCRIPTION

_ROWS = 5
_COLUMNS = 60
_CELL = 120
_TABLES = 4
_MEDIA = 6
_TEXT = 800
_CSV_BYTES = 4 << 20
"""Of a table that is read. Training tables have 20 kB."""
_TYPES = {"png": "image/png", "jpg": "image/jpeg", "jpeg": "image/jpeg", "wav": "audio/wav"}
"""Media that browsers show. Others are named."""


class TableSample(Frozen):
    """The first rows of one table."""

    path: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


class MediaSample(Frozen):
    """One item that is no row of a table."""

    path: str
    uri: str = ""
    """The item itself; empty if it is too large or of a kind that browsers do not show."""
    text: str = ""
    note: str = ""


class TaskSample(Frozen):
    """What the public files of a task hold."""

    prompt: str
    files: tuple[tuple[str, int], ...]
    """Path and bytes of the files; of folders of items only the first ones."""
    tables: tuple[TableSample, ...] = ()
    media: tuple[MediaSample, ...] = ()


def sample_files(public: Mapping[str, bytes], media_bytes: int) -> TaskSample:
    """Sample the public files of a task, which may be hostile: sizes and formats are checked first.

    At most `media_bytes` of media, before they are encoded, are embedded.
    """
    tables: list[TableSample] = []
    media: list[MediaSample] = []
    left = media_bytes
    for path, content in _contents(public):
        is_table = path.lower().endswith(".csv")
        if is_table and len(tables) < _TABLES:
            tables += _sample_table(path, content)
        elif not is_table and len(media) < _MEDIA:
            media.append(_sample_item(path, content, left))
            left -= len(content) if media[-1].uri else 0
    return TaskSample(
        prompt=public.get(DESCRIPTION, b"").decode(errors="replace"),
        files=tuple((path, len(public[path])) for path in sorted(public)[:12]),
        tables=tuple(tables),
        media=tuple(media),
    )


def _contents(public: Mapping[str, bytes]) -> Iterator[tuple[str, bytes]]:
    """Yield files, training files first, and the first files of archives. Test items follow.

    Archives are read only if their entries are not compressed, so that none can expand.
    """
    for path in sorted(public, key=lambda path: ("train" not in path, path)):
        content = public[path]
        if path == DESCRIPTION or "sample_submission" in path:
            continue
        if not path.lower().endswith(".zip"):
            yield path, content
            continue
        with suppress(*BROKEN), ZipFile(BytesIO(content)) as archive:
            infos = archive.infolist()
            if sum(info.file_size for info in infos) <= len(content):
                plain = [info for info in infos if info.compress_type == ZIP_STORED and not info.is_dir()]
                yield from ((f"{path}: {info.filename}", archive.read(info)) for info in plain[:_MEDIA])


def _sample_table(path: str, content: bytes) -> list[TableSample]:
    if len(content) > _CSV_BYTES:
        return []
    try:
        lines = islice(csv.reader(StringIO(content.decode(errors="replace"))), _ROWS + 1)
        rows = [row[:_COLUMNS] for row in lines]
    except csv.Error:
        return []
    if not rows:
        return []
    header, *cells = rows
    shown = (tuple(shorten(cell, _CELL) for cell in row) for row in cells)
    columns = tuple(shorten(name, _CELL) for name in header)
    return [TableSample(path=shorten(path), columns=columns, rows=tuple(shown))]


def _sample_item(path: str, content: bytes, left: int) -> MediaSample:
    suffix = path.rpartition(".")[2].lower()
    named = shorten(path)
    if suffix in _TYPES:
        if fault := item_fault(path, content):
            return MediaSample(path=named, note=shorten(fault))
        if len(content) > left:
            return MediaSample(path=named, note=f"{len(content)} bytes, left out to keep this page small")
        return MediaSample(path=named, uri=f"data:{_TYPES[suffix]};base64,{b64encode(content).decode()}")
    if suffix in ("tif", "tiff", "aif", "aiff"):
        return MediaSample(path=named, note=f"{len(content)} bytes of a format that browsers do not show")
    text = content[: 4 * _TEXT].decode(errors="replace")
    return MediaSample(path=named, text=text[:_TEXT] + (" ..." if len(text) > _TEXT else ""))
