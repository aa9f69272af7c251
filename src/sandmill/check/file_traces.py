"""Gate on names, sizes, order and headers of item files: none may reveal a target or a part of the test set."""

import struct
from collections.abc import Iterator, Mapping
from io import BytesIO
from zipfile import ZipFile

import numpy as np
import polars as pl

from sandmill.check.dependence import Levels, clustering_p_value, correlate_ranks, level
from sandmill.check.package_tables import PackageTables
from sandmill.check.targets import TargetValues, name_target
from sandmill.fingerprint import digest
from sandmill.kinds.files.item_files import jpeg_segments, sound_chunks, tiff_tags
from sandmill.models.base import Part

TRACE_ALPHA = 1e-5
"""p-value below which a trace depends on a target, shared by all traces, targets and classes of a file."""
_FILLING = 0xFE
"""JPEG comment, which may fill files up to one size. The checks of pictures require that it holds zeros alone."""
_STRIPS, _STRIP_BYTES = 273, 279


def check_traces(tables: PackageTables) -> Iterator[str]:
    """Try to learn targets from sizes, places and attributes in archives, and all bytes that are no pixels or samples.

    Names of files hold ids, which have a gate of their own.
    """
    final = TargetValues("the part", (tables.test_parts == str(Part.FINAL)).astype(np.float64), ("0", "1"))
    entries = _archive_entries(tables.package.public)
    for path, items, targets in (
        (tables.layout.train, tables.items.train, tables.train_targets),
        (tables.layout.test, tables.items.test, (*tables.test_targets, final)),
    ):
        if views := _traces(entries, items):
            yield from _read_targets(path, views, targets)


def _read_targets(path: str, views: Mapping[str, Levels], targets: tuple[TargetValues, ...]) -> Iterator[str]:
    alpha = TRACE_ALPHA / (len(views) * sum(len(target.known().orders()) for target in targets))
    for target in targets:
        for name, view in views.items():
            if (p := _p_value(view[target.is_known], target.known())) < alpha:
                yield f"{path}: {name} of the files tells {name_target(target, targets)} (p = {p:.1e})"


def _p_value(view: Levels, target: TargetValues) -> float:
    """Return the smaller p-value of two tests, doubled: a trend, and clusters of equal targets along the trace."""
    if len(view) < 3 or np.ptp(view) == 0:
        return 1.0
    sorting = np.argsort(view, kind="stable")
    trends = [correlate_ranks(view, order)[1] for order in target.orders()]
    return 2 * min([*trends, *(clustering_p_value(marks[sorting]) for marks in target.marks())])


def _traces(entries: Mapping[str, tuple[int, str]], items: pl.DataFrame) -> dict[str, Levels]:
    """Return each trace of the items as ranks, those that do not vary left out."""
    files = [name for name, kind in items.schema.items() if kind == pl.Binary]
    if not files:
        return {}
    contents = [bytes(content or b"") for content in items[files[0]]]
    archived = [entries.get(digest(content), (-1, "")) for content in contents]
    found = {
        "the size": level(np.array([len(content) for content in contents], dtype=np.float64)),
        "the head": level(pl.Series([digest(head_of(content)) for content in contents])),
        "the place in the archive": level(np.array([place for place, _ in archived], dtype=np.float64)),
        "an attribute in the archive": level(pl.Series([told for _, told in archived])),
    }
    return {name: view for name, view in found.items() if len(view) and np.ptp(view)}


def _archive_entries(public: Mapping[str, bytes]) -> dict[str, tuple[int, str]]:
    """Return place and attributes of each archived file, by the hash of its content."""
    entries = {}
    for path in sorted(path for path in public if path.endswith(".zip")):
        with ZipFile(BytesIO(public[path])) as archive:
            for place, info in enumerate(archive.infolist()):
                kept = (info.date_time, info.compress_type, info.external_attr, info.flag_bits, info.create_version)
                more = (info.compress_size - info.file_size, info.extra, info.comment)
                entries[digest(archive.read(info))] = place, repr((kept, more))
    return entries


def head_of(content: bytes) -> bytes:
    """Return all bytes of a file but pixels or samples; nothing if it is of another kind, or broken."""
    try:
        if content.startswith(b"\x89PNG\r\n\x1a\n"):
            return _png_head(content)
        if content.startswith(b"\xff\xd8"):
            return _jpeg_head(content)
        if content.startswith(b"II*\0"):
            return _tiff_head(content)
        if content[:4] in (b"RIFF", b"FORM"):
            return _sound_head(content)
    except (struct.error, LookupError, ValueError):
        return b""
    return b""


def _png_head(content: bytes) -> bytes:
    head, place = content[:8], 8
    while place + 12 <= len(content):
        (length,) = struct.unpack_from(">I", content, place)
        name, end = content[place + 4 : place + 8], place + 12 + length
        head += content[place : place + 8] if name == b"IDAT" else content[place:end]
        place = end
    return head + content[place:]


def _jpeg_head(content: bytes) -> bytes:
    segments = [(marker, content[start:end]) for marker, start, end in jpeg_segments(content)]
    head = b"".join(bytes([marker]) + held for marker, held in segments if marker != _FILLING)
    return head + content[content.rfind(b"\xff\xd9") :]


def _tiff_head(content: bytes) -> bytes:
    tags = {tag: (kind, values, value) for tag, kind, values, value in tiff_tags(content)}
    (_, strips, start), (_, _, length) = tags[_STRIPS], tags[_STRIP_BYTES]
    # Where there are several strips, these two values are places of lists, and all is judged but the strips' own tags.
    return content[:start] + content[start + length :] if strips == 1 else repr(sorted(tags.items())).encode()


def _sound_head(content: bytes) -> bytes:
    chunks = list(sound_chunks(content, "<" if content.startswith(b"RIFF") else ">"))
    whole = 12 + sum(8 + len(held) + len(held) % 2 for _, held in chunks)
    told = b"".join(name + (held if name not in (b"data", b"SSND") else held[:0]) for name, held in chunks)
    return content[:12] + told + content[whole:]
