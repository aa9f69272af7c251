"""Decode submissions, name the format of bytes that are not text, and read plain CSV faster than the csv module."""

import codecs
from operator import methodcaller
from typing import NamedTuple

from sandmill.errors import InvalidSubmission, Problem

SUBMISSION, EXPECTED = "submission.csv", "plain CSV in UTF-8"

_SIGNATURES: tuple[tuple[bytes, str], ...] = (
    (codecs.BOM_UTF32_LE, "UTF-32 text"),
    (codecs.BOM_UTF32_BE, "UTF-32 text"),
    (codecs.BOM_UTF16_LE, "UTF-16 text"),
    (codecs.BOM_UTF16_BE, "UTF-16 text"),
    (b"PK\x03\x04", "a ZIP archive, which Excel workbooks and .npz files are too"),
    (b"\x1f\x8b", "a gzip file"),
    (b"PAR1", "a Parquet file"),
    (b"ARROW1", "an Arrow or Feather file"),
    (b"\x93NUMPY", "a NumPy array"),
    (b"\x89PNG", "a PNG image"),
    *((bytes([0x80, protocol]), "a Python pickle") for protocol in range(2, 6)),
)
"""First bytes of formats that are submitted by mistake. Longer signatures come before their own beginnings."""

_LINE_FEED = b"\n"
_SAMPLE = 4096
"""Bytes in which zeros are counted to detect UTF-16."""
_MOSTLY = 0.7
"""Share of zero bytes at odd or even positions above which a file counts as UTF-16 without a byte order mark."""
_UNUSUAL = ('"', "\r", "\n\n")
"""Text that is left to the csv module."""
_LONGEST_LINE = 1 << 16
"""Longest line that is taken. The csv module refuses longer fields with a message."""
_commas = methodcaller("count", ",")


def decode_text(content: bytes) -> str:
    """Decode UTF-8, with or without a byte order mark.

    Zero bytes are refused although UTF-8 allows them: tables never contain them; UTF-16 and most binary formats do.

    Raises:
        InvalidSubmission: if the content is anything else. The error names the format if it is known.
    """
    if b"\0" in content:
        saw = name_format(content) or "binary data with zero bytes"
        raise InvalidSubmission(SUBMISSION, [Problem("file", saw, EXPECTED)])
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        # The decoder counts from behind the byte order mark.
        start = error.start + len(content) - len(error.object)
        line = f"line {1 + content.count(_LINE_FEED, 0, start)}"
        foreign = name_format(content)
        where, saw = ("file", foreign) if foreign else (line, f"the byte 0x{content[start]:02x}")
        raise InvalidSubmission(SUBMISSION, [Problem(where, saw, EXPECTED)]) from None


def name_format(content: bytes) -> str | None:
    """Return the name of a file format by its first bytes, or None if no known format matches.

    Some signatures are letters that a CSV may start with, so call this only for content that is not valid text.
    """
    for mark, name in _SIGNATURES:
        if content.startswith(mark):
            return name
    head = content[:_SAMPLE]
    for first in (0, 1):
        zeros = head[first::2].count(0)
        if len(head) > 1 and zeros > _MOSTLY * len(head[first::2]) and not head[1 - first :: 2].count(0):
            return "UTF-16 text"
    return None


class PlainTable(NamedTuple):
    """The columns of a CSV file, in the order of the header."""

    header: list[str]
    columns: list[tuple[str, ...]]
    rows: int


def read_plain(text: str) -> PlainTable | None:
    """Read a file without quotes and empty lines whose lines have equally many cells.

    Returns:
        None if the file is not plain. The csv module then reads it or reports its problems.
    """
    if any(mark in text for mark in _UNUSUAL):
        return None
    lines = text.removesuffix("\n").split("\n")
    header = lines[0].split(",")
    if max(map(len, lines)) > _LONGEST_LINE or set(map(_commas, lines)) != {len(header) - 1}:
        return None
    cells = ",".join(lines[1:]).split(",") if len(lines) > 1 else []
    columns = [tuple(cells[place :: len(header)]) for place in range(len(header))]
    return PlainTable(header, columns, len(lines) - 1)
