"""Find cells of a CSV that are too large. Polars and DuckDB load whole cells, so the check reads blocks of bytes.

DuckDB's limit for lines is no substitute: it passes over a long last line that has no end.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from sandmill.seeds.source_problems import SourceProblem
from sandmill.seeds.wording import show

MAX_CELL = 1 << 20
"""Bytes of one cell."""

_BLOCK = MAX_CELL // 4
_MARKS = re.compile(rb'[",\n]')


def find_large_cell(path: Path) -> tuple[int, int] | None:
    """Find the first cell of more than `MAX_CELL` bytes.

    Returns:
        The line that it begins in, and the number of its column, both from 1. None if every cell is small enough.

    Raises:
        OSError: if the file cannot be read.
    """
    return _locate(path) if _is_suspicious(path) else None


def _blocks(path: Path) -> Iterator[bytes]:
    with path.open("rb") as stream:
        while block := stream.read(_BLOCK):
            yield block


def _is_suspicious(path: Path) -> bool:
    """Return whether a block may lie inside one cell. Most files have no such block, and are not read again.

    Inside a plain cell there is no comma and no line end. Inside a quoted one, quotes come only in pairs; a pair may be
    cut by the end of a block, so quotes at its ends prove nothing.
    """
    has_quotes = False
    for block in _blocks(path):
        has_quotes = has_quotes or b'"' in block
        is_plain = b"," not in block and b"\n" not in block
        is_quoted = has_quotes and b'"' not in block.strip(b'"').replace(b'""', b"")
        if len(block) == _BLOCK and (is_plain or is_quoted):
            return True
    return False


def _locate(path: Path) -> tuple[int, int] | None:
    """Scan every comma, quote and line end. A quote opens a cell only at its start; elsewhere it is text."""
    line, column, begin, begin_line, offset = 1, 1, 0, 1, 0
    is_quoted = is_open = False
    for block in _blocks(path):
        for mark in _MARKS.finditer(block):
            kind, place = mark[0], offset + mark.start()
            line += kind == b"\n"
            if kind == b'"':
                is_quoted = is_quoted or place == begin
                is_open = is_quoted and not is_open
            elif not is_open:
                if place - begin > MAX_CELL:
                    return begin_line, column
                column = column + 1 if kind == b"," else 1
                begin, begin_line, is_quoted = place + 1, line, False
        offset += len(block)
        if offset - begin > MAX_CELL:
            return begin_line, column
    return None


def large_cell(file: str, name: str, line: int = 0) -> SourceProblem:
    """Return the problem for a large cell. Line 0 means that the file has no lines."""
    saw = f"a cell of more than {MAX_CELL >> 20} MB in the column {show(name)}"
    return SourceProblem(file, saw, f"cells of at most {MAX_CELL >> 20} MB", line)
