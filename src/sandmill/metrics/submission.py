"""Strict reading of submissions: plain CSV, the right rows and columns, finite numbers, or a list of what is wrong.

Stricter than the field's graders on purpose: ids are always compared (row order is free), columns are aligned by name,
duplicated ids, extra columns, NaN, infinities and values out of range are refused.
"""

import csv
import io
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sandmill.errors import InvalidSubmission, Problem
from sandmill.metrics.base import Array
from sandmill.models.base import Part
from sandmill.models.package import Brief
from sandmill.models.structure import TargetKind

MAX_SUBMISSION_BYTES = 64 * 1024 * 1024
SUM_TOLERANCE = 1e-6
"""How far a row of class probabilities may be from 1, as in mle-bench."""
_SHOWN = 3
_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,4})?")
_INTEGER_ZEROS = re.compile(r"\.0+$")


@dataclass(frozen=True)
class Answers:
    """The truth, row by row, and which part each row is graded in."""

    ids: tuple[str, ...]
    truth: Array
    is_final: NDArray[np.bool_]

    def part(self, part: Part) -> NDArray[np.bool_]:
        """Mask of the rows of a part."""
        return self.is_final if part is Part.FINAL else ~self.is_final


def read_answers(content: bytes, brief: Brief) -> Answers:
    """Parse our own private/answers.csv: id, target, part."""
    rows = list(csv.DictReader(io.StringIO(content.decode())))
    ids = tuple(row[brief.id_column] for row in rows)
    cells = [row[brief.target_column] for row in rows]
    if brief.target is TargetKind.REGRESSION:
        truth: Array = np.array([float(cell) for cell in cells])
    else:
        codes = {name: code for code, name in enumerate(brief.classes)}
        truth = np.array([codes[cell] for cell in cells], dtype=np.int64)
    return Answers(ids, truth, np.array([row["part"] == Part.FINAL for row in rows]))


def parse_submission(content: bytes, brief: Brief, ids: Sequence[str], source: str = "submission.csv") -> Array:
    """Turn a submission's bytes into a prediction array in the order of `ids`.

    Returns:
        probability: floats (rows,); label: class codes (rows,); class_probabilities: (rows, classes); value: (rows,).

    Raises:
        InvalidSubmission: with every problem found.
    """
    header, rows = _read_table(content, brief, source)
    problems: list[Problem] = []
    by_id = _index_rows(rows, header.index(brief.id_column), ids, problems)
    cells = [[row[header.index(name)] for name in brief.submission_columns] for _, row in rows]
    lines = [line for line, _ in rows]
    values = (
        _read_labels(cells, lines, brief, problems)
        if brief.encoding == "label"
        else _read_numbers(cells, lines, brief, problems)
    )
    if problems:
        raise InvalidSubmission(source, problems)
    aligned = values[[by_id[row_id] for row_id in ids]]
    return aligned if brief.encoding == "class_probabilities" else aligned[:, 0]


def _read_table(content: bytes, brief: Brief, source: str) -> tuple[list[str], list[tuple[int, list[str]]]]:
    """Header and rows with their line numbers; anything that stops reading is raised at once."""
    expected = [brief.id_column, *brief.submission_columns]
    if len(content) > MAX_SUBMISSION_BYTES:
        raise InvalidSubmission(source, [Problem("file", f"{len(content)} bytes", f"at most {MAX_SUBMISSION_BYTES}")])
    try:
        text = content.decode("utf-8-sig")
        reader = csv.reader(io.StringIO(text, newline=""), strict=True)
        header = next(reader, [])
        rows = [(reader.line_num, row) for row in reader if row]
    except (UnicodeDecodeError, csv.Error) as error:
        raise InvalidSubmission(source, [Problem("file", str(error), "plain CSV in UTF-8")]) from None
    problems = []
    if sorted(header) != sorted(expected):
        problems.append(
            Problem(
                "line 1", _shorten(",".join(header)) or "an empty file", f"the columns {_shorten(','.join(expected))}"
            )
        )
    ragged = [(line, row) for line, row in rows if len(row) != len(header)]
    if ragged:
        line, row = ragged[0]
        problems.append(
            Problem(f"line {line}", f"{len(row)} fields", f"{len(header)} fields as in the header{_others(ragged)}")
        )
    if problems:
        raise InvalidSubmission(source, problems)
    return header, rows


def _index_rows(
    rows: list[tuple[int, list[str]]], id_at: int, ids: Sequence[str], problems: list[Problem]
) -> dict[str, int]:
    """Map ids to row positions, and say which are doubled, unknown or absent."""
    seen = Counter(row[id_at] for _, row in rows)
    wanted = set(ids)
    doubled = [row_id for row_id, count in seen.items() if count > 1]
    unknown = [row_id for row_id in seen if row_id not in wanted]
    absent = [row_id for row_id in ids if row_id not in seen]
    if doubled:
        problems.append(Problem("ids", f"{len(doubled)} repeated ({_examples(doubled)})", "each id once"))
    if unknown:
        problems.append(
            Problem("ids", f"{len(unknown)} that are not in test.csv ({_examples(unknown)})", "the ids of test.csv")
        )
    if absent:
        problems.append(
            Problem("ids", f"{len(absent)} missing ({_examples(absent)})", f"all {len(ids)} ids of test.csv")
        )
    return {row[id_at]: position for position, (_, row) in enumerate(rows)}


def _read_labels(cells: list[list[str]], lines: list[int], brief: Brief, problems: list[Problem]) -> Array:
    """Class codes; a whole number may be written as 1 or 1.0."""
    codes = {name: code for code, name in enumerate(brief.classes)}
    found = [codes.get(row[0].strip(), codes.get(_INTEGER_ZEROS.sub("", row[0].strip()), -1)) for row in cells]
    bad = [(line, row[0]) for line, row, code in zip(lines, cells, found, strict=True) if code < 0]
    if bad:
        line, cell = bad[0]
        problems.append(
            Problem(
                f"line {line}, {brief.submission_columns[0]}",
                f'"{_shorten(cell)}"',
                f"one of {', '.join(brief.classes)}{_others(bad)}",
            )
        )
    return np.array(found, dtype=np.int64).reshape(-1, 1)


def _read_numbers(cells: list[list[str]], lines: list[int], brief: Brief, problems: list[Problem]) -> Array:
    """Finite floats, in 0..1 where they are probabilities, rows of class probabilities summing to 1."""
    is_probability = brief.encoding != "value"
    expected = "a probability from 0 to 1" if is_probability else "a finite number"
    width = len(brief.submission_columns)
    values = np.array([float(cell) if _NUMBER.fullmatch(cell.strip()) else np.nan for row in cells for cell in row])
    values = values.reshape(-1, width)
    wrong = ~np.isfinite(values)
    if is_probability:
        wrong |= (values < 0) | (values > 1)
    bad = [(int(row), int(column)) for row, column in np.argwhere(wrong)]
    if bad:
        row, column = bad[0]
        where = f"line {lines[row]}, {brief.submission_columns[column]}"
        problems.append(Problem(where, f'"{_shorten(cells[row][column])}"', f"{expected}{_others(bad)}"))
    elif brief.encoding == "class_probabilities":
        off = np.flatnonzero(np.abs(values.sum(axis=1) - 1) > SUM_TOLERANCE)
        if len(off):
            total = values[off[0]].sum()
            problems.append(
                Problem(
                    f"line {lines[off[0]]}", f"probabilities that sum to {total:.6g}", f"a sum of 1{_others(list(off))}"
                )
            )
    return values


def _examples(names: Sequence[str]) -> str:
    shown = ", ".join(_shorten(name) for name in names[:_SHOWN])
    return f"{shown}, ..." if len(names) > _SHOWN else shown


def _others(bad: Sequence[object]) -> str:
    return f" ({len(bad) - 1} more such lines)" if len(bad) > 1 else ""


def _shorten(text: str, limit: int = 80) -> str:
    return text if len(text) <= limit else f"{text[:limit]}..."
