"""The public files of one task as a reader sees them first: rows, profiles of columns, pictures, sounds, texts."""

import csv
from base64 import b64encode
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from io import BytesIO, StringIO
from math import isfinite
from statistics import median
from zipfile import ZIP_STORED, ZipFile

from sandmill.errors import shorten
from sandmill.kinds.files.archives import BROKEN
from sandmill.kinds.files.base import DESCRIPTION
from sandmill.kinds.files.item_files import item_fault
from sandmill.models.base import Frozen

_ROWS = 5
_COLUMNS = 60
_CELL = 120
_TABLES = 4
_MEDIA = 6
_TEXT = 800
_CSV_BYTES = 4 << 20
"""Of a table that is read. Training tables have 20 kB."""
_CSV_ROWS = 400
"""Most rows that a column profile reads. A micro task has at most 200 training rows."""
_TYPES = {"png": "image/png", "jpg": "image/jpeg", "jpeg": "image/jpeg", "wav": "audio/wav"}
"""Media that browsers show. Others are named."""


class ColumnProfile(Frozen):
    """One column."""

    name: str
    kind: str
    """`number` or `text`."""
    missing: int
    distinct: int
    least: float | None = None
    median: float | None = None
    most: float | None = None
    bins: tuple[int, ...] = ()
    """Cells in equal steps from `least` to `most`."""
    top: tuple[tuple[str, int], ...] = ()
    """Most frequent values of a column of text."""


class TableSample(Frozen):
    """The first rows of one table."""

    path: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    profiles: tuple[ColumnProfile, ...] = ()


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
    file_count: int
    tables: tuple[TableSample, ...] = ()
    media: tuple[MediaSample, ...] = ()
    media_bytes: int = 0


def sample_files(public: Mapping[str, bytes], media_bytes: int) -> TaskSample:
    """Sample the public files of a task, which may be a stranger's.

    Args:
        public: files by path.
        media_bytes: bytes of media that may be embedded, before they are encoded.
    """
    prompt = public.get(DESCRIPTION, b"").decode(errors="replace")
    listed = tuple((path, len(public[path])) for path in sorted(public)[:12])
    tables: list[TableSample] = []
    media: list[MediaSample] = []
    left = media_bytes
    for path, content in _contents(public):
        if path.lower().endswith(".csv") and len(tables) < _TABLES:
            tables += _sample_table(path, content)
        elif not path.lower().endswith(".csv") and len(media) < _MEDIA:
            one = _sample_item(path, content, left)
            left -= len(content) if one.uri else 0
            media.append(one)
    return TaskSample(
        prompt=prompt,
        files=listed,
        file_count=len(public),
        tables=tuple(tables),
        media=tuple(media),
        media_bytes=media_bytes - left,
    )


def _contents(public: Mapping[str, bytes]) -> Iterator[tuple[str, bytes]]:
    """Yield files, training files first, and the first files of archives. Test items follow."""
    for path in sorted(public, key=lambda path: ("train" not in path, path)):
        if path == DESCRIPTION or "sample_submission" in path:
            continue
        if path.lower().endswith(".zip"):
            yield from _inside(path, public[path])
        else:
            yield path, public[path]


def _inside(path: str, content: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield the first files of an archive whose entries are not compressed, so that none can expand."""
    try:
        with ZipFile(BytesIO(content)) as archive:
            infos = archive.infolist()
            if sum(info.file_size for info in infos) > len(content):
                return
            plain = [info for info in infos if info.compress_type == ZIP_STORED and not info.is_dir()]
            for info in plain[:_MEDIA]:
                yield f"{path}: {info.filename}", archive.read(info)
    except BROKEN:
        return


def _sample_table(path: str, content: bytes) -> list[TableSample]:
    if len(content) > _CSV_BYTES:
        return []
    rows: list[list[str]] = []
    try:
        for row in csv.reader(StringIO(content.decode(errors="replace"))):
            rows.append(row[:_COLUMNS])
            if len(rows) > _CSV_ROWS:
                break
    except csv.Error:
        return []
    if not rows:
        return []
    header, *cells = rows
    profiles = profile_columns(header, cells) if "train" in path else []
    return [
        TableSample(
            path=shorten(path),
            columns=tuple(shorten(name, _CELL) for name in header),
            rows=tuple(tuple(shorten(cell, _CELL) for cell in row) for row in cells[:_ROWS]),
            profiles=tuple(profiles),
        )
    ]


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


BINS = 12
_MOSTLY = 0.9
"""Share of the cells that must be numbers for a column of numbers."""
_TOP = 3
_LONGEST = 60


def profile_columns(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[ColumnProfile]:
    """Describe each column of a table."""
    return [_profile(name, [row[place] for row in rows if place < len(row)]) for place, name in enumerate(header)]


def _profile(name: str, cells: Sequence[str]) -> ColumnProfile:
    filled = [cell for cell in cells if cell.strip()]
    numbers = [number for cell in filled if (number := _number(cell)) is not None]
    missing, distinct = len(cells) - len(filled), len(set(filled))
    named = shorten(name, _LONGEST)
    if not numbers or len(numbers) < _MOSTLY * len(filled):
        ordered = sorted(Counter(filled).items(), key=lambda item: (-item[1], item[0]))
        top = tuple((shorten(value, _LONGEST), times) for value, times in ordered[:_TOP])
        return ColumnProfile(name=named, kind="text", missing=missing, distinct=distinct, top=top)
    low, high = min(numbers), max(numbers)
    bins = [0] * BINS
    for number in numbers:
        share = (number / 2 - low / 2) / (high / 2 - low / 2) if high > low else 0.0
        bins[min(BINS - 1, int(share * BINS))] += 1
    return ColumnProfile(
        name=named,
        kind="number",
        missing=missing,
        distinct=distinct,
        least=low,
        median=median(numbers),
        most=high,
        bins=tuple(bins),
    )


def _number(cell: str) -> float | None:
    try:
        number = float(cell)
    except ValueError:
        return None
    return number if isfinite(number) else None
