"""Read the scores of a competition's leaderboard."""

import csv
import io
from itertools import islice
from pathlib import Path

from sandmill.errors import shorten
from sandmill.seeds.regular import read_text
from sandmill.seeds.source_problems import SourceProblem, Unsound
from sandmill.seeds.wording import show

_LFS_POINTER = "version https://git-lfs"
_MAX_ROWS = 200_000
_MAX_COLUMNS = 1000
_MAX_BYTES = 1 << 26
"""Real leaderboards have less than a hundredth of this."""


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
