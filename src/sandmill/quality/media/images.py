"""Look for what pictures give away beside what they show."""

import struct
from collections.abc import Iterator

import polars as pl

from sandmill.errors import count

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_HEADER, _CHUNKS = b"IHDR", (b"IHDR", b"IDAT", b"IEND")
"""Chunks of a picture without remarks, times or other metadata."""


def image_findings(train: pl.Series, test: pl.Series) -> Iterator[str]:
    """Check that all pictures have the same size and number of bytes, and hold pixels alone.

    Args:
        train: PNG files of the training pictures.
        test: PNG files of the test pictures.
    """
    pictures = [bytes(picture) for picture in (*train, *test)]
    headers = [_header(picture) for picture in pictures]
    if broken := headers.count(None):
        yield f"{count(broken, 'picture')} not of a header, pixels and an end alone"
    if (forms := len(set(headers) - {None})) > 1:
        yield f"pictures of {forms} widths, heights or colour types; expected one"
    if (sizes := len({len(picture) for picture in pictures})) > 1:
        yield f"pictures of {sizes} numbers of bytes; expected one, so that sizes of files tell nothing"


def _header(picture: bytes) -> bytes | None:
    """Return width, height and colour type, or None if the file is no plain PNG."""
    if not picture.startswith(_SIGNATURE):
        return None
    place, header = len(_SIGNATURE), None
    while place + 12 <= len(picture):
        (length,) = struct.unpack_from(">I", picture, place)
        name, content = picture[place + 4 : place + 8], picture[place + 8 : place + 8 + length]
        if name not in _CHUNKS or (name == _HEADER) != (header is None):
            return None
        header = content if name == _HEADER else header
        place += 12 + length
    return header if place == len(picture) and name == b"IEND" else None
