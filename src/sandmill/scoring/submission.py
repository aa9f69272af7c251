"""Read private answers, and submissions strictly: plain CSV, the right rows and columns, finite numbers.

All problems are listed at once. The reader is stricter than the usual graders on purpose. Rows are aligned by id and
columns by name. Duplicate ids, extra columns, NaN, infinities and values out of range are refused.
"""

import csv
import io
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from operator import methodcaller
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sandmill.errors import InvalidSubmission, Problem, name_some, shorten
from sandmill.models.base import Part
from sandmill.models.package import TaskFacts
from sandmill.scoring.base import Array
from sandmill.scoring.forms import form_of
from sandmill.scoring.forms.base import Lengths, others

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


__all__ = ["MAX_SUBMISSION_BYTES", "Answers", "most_bytes", "parse_submission", "read_answers"]

MAX_SUBMISSION_BYTES = 64 * 1024 * 1024
_HEADER_PASSED = 3
"""Checks that a submission with the right header has passed: file, parses, header."""
_SLACK = 4
"""Factor on the bytes of a plain submission up to which a file is read."""
_SPARE_BYTES, _SPARE_ROWS = 1 << 16, 1000
"""Bytes and rows allowed in addition."""
UNSCORED = "unscored"
"""Value of the column `part` for rows that are not scored, although a submission must contain them."""


def parse_submission(content: bytes, facts: TaskFacts, ids: Sequence[str], lengths: Lengths = None) -> Array:
    """Parse a submission into a prediction array in the order of `ids`.

    Args:
        content: of the file.
        facts: what the task asks for.
        ids: of the test items.
        lengths: answer rows of each item, where they differ between items.

    Returns:
        The prediction in the shape and type of the task's answer form. The first axis is the item.

    Raises:
        InvalidSubmission: if the submission is not valid. It lists every problem.
    """
    form = form_of(facts)
    ids = form.row_ids(ids, facts, lengths)
    header, columns, lines = _read_table(content, facts, ids)
    problems: list[Problem] = []
    found = columns[header.index(facts.id_column)]
    is_in_order = found == tuple(ids) and len(set(found)) == len(found)
    by_id = {} if is_in_order else _index_rows(found, ids, problems)
    cells = [columns[header.index(name)] for name in facts.submission_columns]
    passed = _HEADER_PASSED if problems else _HEADER_PASSED + 1
    values = form.read(cells, lines, facts, problems)
    if problems:
        raise InvalidSubmission(SUBMISSION, problems, passed=passed)
    ordered = values if is_in_order else values[list(map(by_id.__getitem__, ids))]
    return form.to_items(ordered, facts, lengths)


def _read_table(
    content: bytes, facts: TaskFacts, ids: Sequence[str]
) -> tuple[list[str], list[tuple[str, ...]], Sequence[int]]:
    """Return header, columns and the line number of each row.

    Raises:
        InvalidSubmission: if the file is too large, not CSV, or has the wrong shape.
    """
    expected = [facts.id_column, *facts.submission_columns]
    if len(content) > (most := most_bytes(facts, ids)):
        expected_size = f"{EXPECTED}, at most {most} bytes"
        raise InvalidSubmission(SUBMISSION, [Problem("file", f"{len(content)} bytes", expected_size)])
    text = decode_text(content)
    most_rows = 2 * len(ids) + _SPARE_ROWS
    if (plain := read_plain(text)) and sorted(plain.header) == sorted(expected) and 0 < plain.rows <= most_rows:
        return plain.header, plain.columns, range(2, 2 + plain.rows)
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        header = next(reader, [])
        numbered = [(reader.line_num, row) for row in islice(reader, most_rows) if row]
        lines, rows = [line for line, _ in numbered], [row for _, row in numbered]
        has_more = next(reader, None) is not None
    except csv.Error as error:
        saw = f"text that is not CSV ({error})"
        raise InvalidSubmission(SUBMISSION, [Problem(f"line {reader.line_num}", saw, EXPECTED)]) from None
    if has_more:
        raise InvalidSubmission(SUBMISSION, [Problem("file", f"more than {most_rows} lines", f"{len(ids)} rows")])
    problems = []
    if sorted(header) != sorted(expected):
        saw = shorten(",".join(header)) or ("an empty line" if content else "an empty file")
        problems.append(Problem("line 1", saw, f"the columns {shorten(','.join(expected))}"))
    if not set(map(len, rows)) <= {len(header)}:
        ragged = [(line, row) for line, row in zip(lines, rows, strict=True) if len(row) != len(header)]
        line, row = ragged[0]
        wanted = f"{len(header)} fields as in the header{others(ragged)}"
        problems.append(Problem(f"line {line}", f"{len(row)} fields", wanted))
    if problems:
        raise InvalidSubmission(SUBMISSION, problems, passed=_HEADER_PASSED - 1)
    return header, list(zip(*rows, strict=True)) or [()] * len(header), lines


def most_bytes(facts: TaskFacts, ids: Sequence[str]) -> int:
    """Return the largest accepted file size, from the size of a plain submission. Reading takes a multiple of it."""
    cell = form_of(facts).cell_bytes(facts)
    rows = len("".join(ids).encode()) + len(ids) * len(facts.submission_columns) * cell
    return min(MAX_SUBMISSION_BYTES, _SLACK * rows + _SPARE_BYTES)


def _index_rows(row_ids: Sequence[str], ids: Sequence[str], problems: list[Problem]) -> dict[str, int]:
    """Map ids to row positions, and report repeated, unknown and missing ids."""
    by_id = dict(zip(row_ids, range(len(row_ids)), strict=True))
    if len(by_id) == len(row_ids) == len(ids) and by_id.keys() >= set(ids):
        return by_id
    seen = Counter(row_ids)
    wanted = set(ids)
    doubled = [row_id for row_id, count in seen.items() if count > 1]
    unknown = [row_id for row_id in seen if row_id not in wanted]
    absent = [row_id for row_id in ids if row_id not in seen]
    for found, fault, expected in (
        (doubled, "repeated", "each id once"),
        (unknown, "that are not asked for", "the ids of the sample submission"),
        (absent, "missing", f"all {len(ids)} ids of the sample submission"),
    ):
        if found:
            problems.append(Problem("ids", f"{len(found)} {fault} ({name_some(map(shorten, found))})", expected))
    return by_id


@dataclass(frozen=True, repr=False)
class Answers:
    """Ids, truth and part of the test items. Where an item has several answer rows, the files alone have a row each."""

    ids: tuple[str, ...]
    """Ids of the items."""
    truth: Array
    """Targets as metrics expect them; the first axis is the item."""
    is_final: NDArray[np.bool_]
    is_scored: NDArray[np.bool_] | None = None
    """False for items that belong to neither part. None if all items are scored."""
    lengths: NDArray[np.intp] | None = None
    """Answer rows of each item, where they differ between items."""

    def __repr__(self) -> str:
        return f"Answers({len(self.ids)} items)"

    def part(self, part: Part) -> NDArray[np.bool_]:
        """Return the mask of the items of a part."""
        chosen = self.is_final if part is Part.FINAL else ~self.is_final
        return chosen if self.is_scored is None else chosen & self.is_scored


def read_answers(content: bytes, facts: TaskFacts) -> Answers:
    """Parse private/answers.csv: id, target columns as written by the answer form, part.

    Raises:
        KeyError: if a column is missing, or a class is none of the task.
        ValueError: if a cell is no number where there should be one, or rows of an item are missing or apart.
    """
    columns = _read_columns(content.decode())
    form, row_ids, parts = form_of(facts), columns[facts.id_column], np.array(columns["part"], dtype=np.str_)
    ids, found = form.item_ids(row_ids, facts)
    if list(form.row_ids(ids, facts, found)) != list(row_ids):
        raise ValueError("the ids are not those of whole items")
    lengths = None if found is None else np.asarray(found, dtype=np.intp)
    starts = _starts(len(row_ids), len(ids), lengths)
    if not (parts == np.repeat(parts[starts], np.diff([*starts, len(parts)]))).all():
        raise ValueError("rows of one item are of several parts")
    parts = parts[starts]
    return Answers(
        ids=tuple(ids),
        truth=form.to_items(form.read_truth(columns, facts), facts, lengths),
        is_final=parts == Part.FINAL,
        is_scored=parts != UNSCORED if (parts == UNSCORED).any() else None,
        lengths=lengths,
    )


def _read_columns(text: str) -> dict[str, tuple[str, ...]]:
    if plain := read_plain(text):
        return dict(zip(plain.header, plain.columns, strict=True))
    header, *rows = filter(None, csv.reader(io.StringIO(text, newline="")))
    return dict(zip(header, zip(*rows, strict=True), strict=True)) if rows else dict.fromkeys(header, ())


def _starts(rows: int, items: int, lengths: NDArray[np.intp] | None) -> NDArray[np.intp]:
    """Return the first row of each item."""
    counts = np.full(items, rows // max(1, items), dtype=np.intp) if lengths is None else lengths
    return np.cumsum(counts) - counts
