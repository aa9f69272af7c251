"""Read submissions strictly: plain CSV, the right rows and columns, finite numbers. All problems are listed at once.

The reader is stricter than the usual graders on purpose. Rows are aligned by id and columns by name. Duplicate ids,
extra columns, NaN, infinities and values out of range are refused.
"""

import csv
import io
from collections import Counter
from collections.abc import Sequence
from itertools import islice

from sandmill.errors import InvalidSubmission, Problem, shorten
from sandmill.models.package import TaskFacts
from sandmill.scoring.answers import Answers, read_answers
from sandmill.scoring.base import Array
from sandmill.scoring.decoding import EXPECTED, SUBMISSION, decode_text, name_format
from sandmill.scoring.forms import form_of
from sandmill.scoring.forms.base import Lengths, others
from sandmill.scoring.plain_csv import read_plain

__all__ = ["MAX_SUBMISSION_BYTES", "Answers", "most_bytes", "parse_submission", "read_answers"]

MAX_SUBMISSION_BYTES = 64 * 1024 * 1024
_HEADER_PASSED = 3
"""Checks that a submission with the right header has passed: file, parses, header."""
_SHOWN = 3
"""Ids that a message lists."""
_SLACK = 4
"""Factor on the bytes of a plain submission up to which a file is read."""
_SPARE_BYTES, _SPARE_ROWS = 1 << 16, 1000
"""Bytes and rows allowed in addition."""


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
        foreign = name_format(content)
        saw = f"{foreign} of {len(content)} bytes" if foreign else f"{len(content)} bytes"
        raise InvalidSubmission(SUBMISSION, [Problem("file", saw, f"{EXPECTED}, at most {most} bytes")])
    text = decode_text(content)
    most_rows = 2 * len(ids) + _SPARE_ROWS
    if (plain := read_plain(text)) and sorted(plain.header) == sorted(expected) and 0 < plain.rows <= most_rows:
        return plain.header, plain.columns, range(2, 2 + plain.rows)
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        header = next(reader, [])
        rows = [row for row in islice(reader, most_rows) if row]
        lines: Sequence[int] = range(2, 2 + len(rows))
        if reader.line_num > 1 + len(rows):
            lines = _number_lines(text, most_rows)
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


def _number_lines(text: str, most_rows: int) -> list[int]:
    """Return the line on which each row ends, for files with empty lines or line ends in quotes."""
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    next(reader, [])
    return [reader.line_num for row in islice(reader, most_rows) if row]


def most_bytes(facts: TaskFacts, ids: Sequence[str]) -> int:
    """Return the largest accepted file size, from the size of a plain submission. Reading takes a multiple of it.

    Args:
        facts: what the task asks for.
        ids: of the answer rows.
    """
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
            problems.append(Problem("ids", f"{len(found)} {fault} ({_examples(found)})", expected))
    return by_id


def _examples(names: Sequence[str]) -> str:
    shown = ", ".join(shorten(name) for name in names[:_SHOWN])
    return f"{shown}, ..." if len(names) > _SHOWN else shown
