"""Read a competition's description, as a short plain summary, and the scores of its leaderboard."""

import csv
import io
import re
import unicodedata
from itertools import islice
from pathlib import Path

from sandmill.errors import shorten
from sandmill.seeds.regular import read_text
from sandmill.seeds.source_problems import SourceProblem, Unsound
from sandmill.seeds.wording import show

MAX_SUMMARY = 600
"""Characters of the first paragraph that are kept."""

_MAX_LINE = 5000
"""Characters of a line that are read. The patterns below take time that grows with its square."""
_MARKUP = re.compile(r"!\[[^\]]*\]\([^)]*\)|<[^>]*>|[*_`#>]")
_LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")

_LFS_POINTER = "version https://git-lfs"
_MAX_ROWS = 200_000
_MAX_COLUMNS = 1000
_MAX_BYTES = 1 << 26
"""Real leaderboards have less than a hundredth of this."""


def read_summary(path: Path, file: str) -> str:
    """Return the first paragraph under the first heading as short plain text.

    Raises:
        Unsound: if the file is absent, a link, too large, not text or has no paragraph.
    """
    paragraph: list[str] = []
    for line in read_text(path, file).splitlines():
        text = _plain_text(line) if not line.lstrip().startswith("#") else ""
        if text:
            paragraph.append(text)
        elif paragraph:
            break
    if not paragraph:
        raise Unsound([SourceProblem(file, "no paragraph", "a heading and a paragraph of text")])
    return shorten(" ".join(paragraph), MAX_SUMMARY)


def _plain_text(line: str) -> str:
    """Remove markup, links and control characters."""
    text = _LINK.sub(r"\1", _MARKUP.sub("", line[:_MAX_LINE]))
    return " ".join("".join(c if unicodedata.category(c)[0] != "C" else " " for c in text).split())


def read_leaderboard(path: Path, file: str) -> tuple[float, float]:
    """Read the first and the last score of a leaderboard, whose rows go from best to worst.

    Raises:
        Unsound: if it is no leaderboard: absent, a link, too large, no CSV, or with scores that are no numbers.
    """
    text = read_text(path, file, _MAX_BYTES)
    if text.startswith(_LFS_POINTER):
        hint = "Run git lfs pull in the clone of MLE-bench."
        raise Unsound([SourceProblem(file, "a Git LFS pointer", "the leaderboard itself", 1, hint=hint)])
    try:
        scores = _scores(text, file)
    except csv.Error as error:
        raise Unsound([SourceProblem(file, shorten(str(error), 120), "a leaderboard in CSV")]) from None
    wrong = ((line, score) for line, score in scores if not _is_number(score))
    if found := [SourceProblem(file, show(score), "a number", line, field="score") for line, score in islice(wrong, 5)]:
        raise Unsound(found)
    if not scores:
        raise Unsound([SourceProblem(file, "no rows", "at least one score")])
    return float(scores[0][1]), float(scores[-1][1])


def _scores(text: str, file: str) -> list[tuple[int, str]]:
    """Return line and score of each row."""
    rows = csv.reader(io.StringIO(text, newline=""))
    header = next(rows, [])
    if len(header) > _MAX_COLUMNS:
        raise Unsound([SourceProblem(file, f"{len(header)} columns", f"at most {_MAX_COLUMNS}", 1)])
    if "score" not in header:
        saw = f"columns {', '.join(shorten(name) for name in header[:10])}" if header else "no header"
        raise Unsound([SourceProblem(file, saw, "a column score", 1)])
    place = header.index("score")
    filled = ((rows.line_num, row[place] if place < len(row) else "") for row in rows if row)
    return list(islice(filled, _MAX_ROWS))


def _is_number(text: str) -> bool:
    try:
        return float(text) * 0 == 0
    except ValueError:
        return False
