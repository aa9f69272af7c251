"""Read submission.csv: a regular file, plain CSV in UTF-8, the right columns, each id once."""

import csv
import io
import os
import stat
from itertools import islice
from typing import Any

Task = dict[str, Any]
"""Facts of one task: columns, classes, range, direction, and thresholds and leaderboard of each part."""
Table = dict[str, list[str]]
"""Cells by column, in the order of the ids of answers.csv."""
Rows = list[dict[str, str]]
"""Rows of answers.csv."""

MOST_BYTES = 64 * 1024 * 1024
"""Largest submission in bytes."""


class Refused(Exception):
    """The submission is not valid."""


def read_file(path: str | os.PathLike[str], most: int) -> bytes | None:
    """Return the content of a regular file, and None if there is no file. Links are not followed."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise Refused(f"the file cannot be read: {error.strerror}") from None
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise Refused("not a regular file")
        return file.read(most + 1)


def read_table(content: bytes, task: Task, ids: list[str]) -> Table:
    """Return the cells of each column by name, in the order of `ids`."""
    if len(content) > limit_bytes(task, ids):
        raise Refused(f"the file has {len(content)} bytes, more than {limit_bytes(task, ids)}")
    if b"\0" in content:
        raise Refused("the file is not text")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise Refused("the file is not UTF-8") from None
    expected = [task["id_column"], *task["columns"]]
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        header = next(reader, [])
        rows = [row for row in islice(reader, 2 * len(ids) + 1000) if row]
        has_more = next(reader, None) is not None
    except csv.Error as error:
        raise Refused(f"line {reader.line_num}: not CSV ({error})") from None
    if sorted(header) != sorted(expected):
        raise Refused(f"the header must have the columns {', '.join(expected)}"[:500])
    if has_more or any(len(row) != len(header) for row in rows):
        raise Refused("too many lines, or lines with another number of cells than the header")
    place = header.index(task["id_column"])
    by_id = {row[place]: row for row in rows}
    if len(by_id) != len(rows) or by_id.keys() != set(ids):
        raise Refused(f"{len(rows)} rows with {len(by_id)} different ids; expected each of {len(ids)} ids once")
    return {name: [by_id[key][header.index(name)] for key in ids] for name in task["columns"]}


def limit_bytes(task: Task, ids: list[str]) -> int:
    """Return the largest accepted size: four times that of a plain submission, plus 64 KB."""
    cells: int = len(ids) * len(task["columns"]) * task["cell_bytes"]
    return min(MOST_BYTES, 4 * (len("".join(ids).encode()) + cells) + 65536)
