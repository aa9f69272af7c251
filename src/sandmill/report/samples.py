"""The public files of one task as a reader sees them first: rows, pictures, sounds, texts."""

import csv
import struct
import wave
from base64 import b64encode
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from io import BytesIO, StringIO
from itertools import islice
from zipfile import ZIP_STORED, ZipFile

from sandmill.errors import shorten
from sandmill.kinds.files.archives import BROKEN
from sandmill.kinds.files.item_files import item_fault, sound_chunks, tiff_tags
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
_TYPES = {"png": "image/png", "jpg": "image/jpeg", "tif": "image/png", "wav": "audio/wav", "aif": "audio/wav"}
"""Media that are shown, and as what: TIFF pictures as PNG and AIFF sounds as WAV, since browsers read neither."""
_LEAST_RATE, _SLOWEST = 8_000, 1_000
"""Samples a second that all browsers play (Chromium needs 3,000), and the fewest that are raised to as many."""


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
    tables: tuple[TableSample, ...] = ()
    media: tuple[MediaSample, ...] = ()


def sample_files(public: Mapping[str, bytes], media_bytes: int) -> TaskSample:
    """Sample the public files of a task, which may be hostile: sizes and formats are checked first.

    At most `media_bytes` of media, before they are encoded, are embedded.
    """
    tables: list[TableSample] = []
    media: list[MediaSample] = []
    seen: Counter[tuple[str, str]] = Counter()
    ranked: list[tuple[tuple[bool, bool, int, int], str, bytes]] = []
    left = media_bytes
    for path, content in _contents(public):
        folder, _, name = path.rpartition("/")
        suffix = name.rpartition(".")[2].lower()
        if suffix == "csv" and len(tables) < _TABLES:
            tables += _sample_table(path, content)
        elif suffix != "csv":
            # Pictures and sounds before texts, training items before others, then one of each folder: picture, mask.
            order = suffix not in _TYPES, "train" not in path, seen[folder, suffix], len(ranked)
            ranked.append((order, path, content))
            seen[folder, suffix] += 1
    for _, path, content in sorted(ranked)[:_MEDIA]:
        media.append(_sample_item(path, content, left))
        left -= len(media[-1].uri) * 3 // 4
    return TaskSample(
        prompt=public.get(DESCRIPTION, b"").decode(errors="replace"),
        tables=tuple(tables),
        media=tuple(media),
    )


def _contents(public: Mapping[str, bytes]) -> Iterator[tuple[str, bytes]]:
    """Yield files, training files first, and the first files of archives. Test items follow.

    Archives are read only if their entries are not compressed, so that none can expand.
    """
    for path in sorted(public, key=lambda path: ("train" not in path, path)):
        content = public[path]
        if path == DESCRIPTION or "samplesubmission" in path.lower().replace("_", ""):
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
        fault = item_fault(path, content)
        shown = None if fault else _shown(suffix, content)
        if not shown:
            return MediaSample(path=named, note=shorten(fault or "an item that cannot be shown"))
        if len(shown) > left:
            return MediaSample(path=named, note=f"{len(content)} bytes, left out to keep this page small")
        return MediaSample(path=named, uri=f"data:{_TYPES[suffix]};base64,{b64encode(shown).decode()}")
    text = content[: 4 * _TEXT].decode(errors="replace")
    return MediaSample(path=named, text=text[:_TEXT] + (" ..." if len(text) > _TEXT else ""))


def _shown(suffix: str, content: bytes) -> bytes | None:
    """Return an item that passed the checks in a format that browsers read; None if there is none."""
    if suffix == "tif":
        return _picture(content)
    return content if suffix in ("png", "jpg") else _sound(suffix, content)


def _picture(content: bytes) -> bytes | None:
    """Return a TIFF picture as PNG if its pixels are one block of bytes, grey or RGB."""
    from PIL import Image

    width, height, bits, start, samples = 256, 257, 258, 273, 277
    tags = {tag: value for tag, _, values, value in tiff_tags(content) if values == 1}
    depth, size = tags.get(samples, 1), (tags[width], tags[height])
    first = tags.get(start, len(content))
    pixels = content[first : first + depth * size[0] * size[1]]
    if len(pixels) < depth * size[0] * size[1] or (depth, tags.get(bits)) not in ((1, 8), (3, None)):
        return None
    out = BytesIO()
    Image.frombytes("L" if depth == 1 else "RGB", size, pixels).save(out, "png")
    return out.getvalue()


def _sound(suffix: str, content: bytes) -> bytes | None:
    """Return a sound as WAV that browsers play: AIFF is rewritten, and a low rate is raised by interpolation."""
    import numpy as np

    chunks = dict(sound_chunks(content, "<" if suffix == "wav" else ">"))
    if suffix == "wav":
        (rate, bits), held = struct.unpack_from("<4xI6xH", chunks[b"fmt "]), chunks[b"data"]
    else:
        bits, exponent, mantissa = struct.unpack_from(">6xHHQ", chunks[b"COMM"])
        rate, held = mantissa >> max(0, 16446 - exponent), chunks[b"SSND"][8:]
    if suffix == "wav" and rate >= _LEAST_RATE:
        return content
    if bits not in (8, 16) or not _SLOWEST <= rate <= 192_000:
        return None
    samples = np.frombuffer(held, {"wav": ("u1", "<i2"), "aif": ("i1", ">i2")}[suffix][bits // 8 - 1]).astype(
        np.float64
    )
    samples = samples if bits == 16 else 256 * (samples - (128 if suffix == "wav" else 0))
    times = -(-_LEAST_RATE // rate)
    finer = np.interp(np.arange(times * len(samples)) / times, np.arange(len(samples)), samples)
    out = BytesIO()
    with wave.open(out, "wb") as file:
        file.setparams((1, 2, rate * times, 0, "NONE", ""))
        file.writeframes(finer.round().astype("<i2").tobytes())
    return out.getvalue()
