"""Look for what pictures give away beside what they show."""

import struct
from collections.abc import Iterator

import polars as pl

from sandmill.errors import count
from sandmill.kinds.files.item_files import jpeg_segments, tiff_tags

_PNG, _JPEG, _TIFF = b"\x89PNG\r\n\x1a\n", b"\xff\xd8", b"II*\0"
_CHUNKS = (b"IHDR", b"IDAT", b"IEND")
"""Chunks of a PNG file without remarks, times or other metadata."""
_CODES, _COMMENT, _APPLICATION = 0xC4, 0xFE, range(0xE1, 0xF0)
"""Markers of JPEG segments: codes of the pixels, a comment, and metadata of applications beside the usual head."""
_TAGS = frozenset({254, 256, 257, 258, 259, 262, 273, 277, 278, 279, 282, 283, 284, 296})
"""Tags of a TIFF file that say how its pixels are stored, and nothing else."""
_PLACES = frozenset({273, 279, 258})
"""Tags whose values are places in the file or lengths of strips."""


def image_findings(train: pl.Series, test: pl.Series) -> Iterator[str]:
    """Check that all pictures have the same size and number of bytes, and hold pixels alone.

    Args:
        train: files of the training pictures.
        test: files of the test pictures.
    """
    pictures = [bytes(picture) for picture in (*train, *test)]
    headers = [_header(picture) for picture in pictures]
    if broken := headers.count(None):
        yield f"{count(broken, 'picture')} not of a header, pixels and an end alone"
    if (forms := len(set(headers) - {None})) > 1:
        yield f"pictures of {forms} widths, heights or colour types; expected one"
    if (sizes := len({len(picture) for picture in pictures})) > 1:
        yield f"pictures of {sizes} numbers of bytes; expected one, so that sizes of files tell nothing"


def _header(picture: bytes) -> tuple[object, ...] | None:
    """Return what a file says of itself, the same for all pictures of a task; None if it says more than it should."""
    try:
        if picture.startswith(_PNG):
            return _png_header(picture)
        if picture.startswith(_JPEG):
            return _jpeg_header(picture)
        return _tiff_header(picture) if picture.startswith(_TIFF) else None
    except (struct.error, IndexError, ValueError):
        return None


def _png_header(picture: bytes) -> tuple[object, ...] | None:
    """Return width, height and colour type."""
    place, header, name = len(_PNG), None, b""
    while place + 12 <= len(picture):
        (length,) = struct.unpack_from(">I", picture, place)
        name, content = picture[place + 4 : place + 8], picture[place + 8 : place + 8 + length]
        if name not in _CHUNKS or (name == b"IHDR") != (header is None):
            return None
        header = content if name == b"IHDR" else header
        place += 12 + length
    return ("png", header) if place == len(picture) and name == b"IEND" else None


def _jpeg_header(picture: bytes) -> tuple[object, ...] | None:
    """Return the segments before the pixels. Codes follow from the pixels; a comment may hold zeros alone."""
    held = []
    for marker, start, end in jpeg_segments(picture):
        content = picture[start:end]
        if marker in _APPLICATION or (marker == _COMMENT and content.strip(b"\0")):
            return None
        if marker not in (_CODES, _COMMENT):
            held.append((marker, content))
    return ("jpg", *held) if picture.endswith(b"\xff\xd9") else None


def _tiff_header(picture: bytes) -> tuple[object, ...] | None:
    """Return all tags that say how pixels are stored, places in the file left out."""
    tags = list(tiff_tags(picture))
    if not {tag for tag, *_ in tags} <= _TAGS:
        return None
    return ("tif", *((tag, kind, values, None if tag in _PLACES else value) for tag, kind, values, value in tags))
