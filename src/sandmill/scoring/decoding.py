"""Decode submissions, and name the file format of bytes that are not text."""

import codecs

from sandmill.errors import InvalidSubmission, Problem

SUBMISSION, EXPECTED = "submission.csv", "plain CSV in UTF-8"

_SIGNATURES: tuple[tuple[bytes, str], ...] = (
    (codecs.BOM_UTF32_LE, "UTF-32 text"),
    (codecs.BOM_UTF32_BE, "UTF-32 text"),
    (codecs.BOM_UTF16_LE, "UTF-16 text"),
    (codecs.BOM_UTF16_BE, "UTF-16 text"),
    (b"PK\x03\x04", "a ZIP archive, which Excel workbooks and .npz files are too"),
    (b"\x1f\x8b", "a gzip file"),
    (b"BZh", "a bzip2 file"),
    (b"\xfd7zXZ\x00", "an xz file"),
    (b"\x28\xb5\x2f\xfd", "a zstd file"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
    (b"PAR1", "a Parquet file"),
    (b"ARROW1", "an Arrow or Feather file"),
    (b"FEA1", "a Feather file"),
    (b"\x93NUMPY", "a NumPy array"),
    (b"\x89HDF\r\n", "an HDF5 file"),
    (b"SQLite format 3\x00", "an SQLite database"),
    (b"\xd0\xcf\x11\xe0", "an old Excel workbook"),
    (b"\x89PNG", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF8", "a GIF image"),
    (b"%PDF", "a PDF document"),
    (b"\x7fELF", "an ELF program"),
    *((bytes([0x80, protocol]), "a Python pickle") for protocol in range(2, 6)),
)
"""First bytes of formats that are submitted by mistake. Longer signatures come before their own beginnings."""

_LINE_FEED = b"\n"
_SAMPLE = 4096
"""Bytes in which zeros are counted to detect UTF-16."""
_MOSTLY = 0.7
"""Share of zero bytes at odd or even positions above which a file counts as UTF-16 without a byte order mark."""


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
