"""Decode submissions, and read plain CSV faster than the csv module."""

from operator import methodcaller
from typing import NamedTuple

from sandmill.errors import InvalidSubmission, Problem

SUBMISSION, EXPECTED = "submission.csv", "plain CSV in UTF-8"

_UNUSUAL = ('"', "\r", "\n\n")
"""Text that is left to the csv module."""
_LONGEST_LINE = 1 << 16
"""Longest line that is taken. The csv module refuses longer fields with a message."""
_commas = methodcaller("count", ",")


def decode_text(content: bytes) -> str:
    """Decode UTF-8, with or without a byte order mark.

    Zero bytes are refused although UTF-8 allows them: tables never contain them; UTF-16 and most binary formats do.

    Raises:
        InvalidSubmission: if the content is anything else.
    """
    if b"\0" in content:
        saw = "zero bytes, as in UTF-16 and in binary formats"
        raise InvalidSubmission(SUBMISSION, [Problem("file", saw, EXPECTED)])
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        # The decoder counts from behind the byte order mark.
        start = error.start + len(content) - len(error.object)
        line = f"line {1 + content[:start].count(10)}"
        raise InvalidSubmission(SUBMISSION, [Problem(line, f"the byte 0x{content[start]:02x}", EXPECTED)]) from None


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
