"""Leaderboard and thresholds: who ran how well, and what earns a medal."""

from collections.abc import Sequence
from itertools import pairwise
from statistics import median

from sandmill.errors import ItemRejected
from sandmill.models.base import Stage
from sandmill.models.calibration import BoardEntry, Thresholds

SMALLEST_STEP = 1e-4
"""Least distance of neighbouring thresholds: graders that do not round must agree with those that do."""


def leaderboard(entries: Sequence[BoardEntry], is_lower_better: bool) -> tuple[BoardEntry, ...]:
    """Rank runs: best final score first, equals by name."""
    sign = 1 if is_lower_better else -1
    return tuple(sorted(entries, key=lambda entry: (sign * entry.final, entry.solver)))


def medal_rows(entries: int) -> tuple[int, int, int]:
    """Give the 1-based rows of the gold, silver and bronze threshold (mle-bench, `grade_helpers.rank_score`).

    Args:
        entries: rows of the board, at least 1.
    """
    if entries < 100:
        return max(1, entries // 10), max(1, entries // 5), max(1, entries * 2 // 5)
    if entries < 250:
        return 10, entries // 5, entries * 2 // 5
    if entries < 1000:
        return 10 + entries // 500, 50, 100
    return 10 + entries // 500, entries // 20, entries // 10


def median_rows(entries: int) -> tuple[int, ...]:
    """Give the 1-based row in the middle, or the two whose mean is the median."""
    return tuple(sorted({(entries + 1) // 2, entries // 2 + 1}))


def thresholds(board: Sequence[BoardEntry], is_lower_better: bool) -> Thresholds:
    """Fix what earns a medal, by mle-bench's rank rule on a board that is sorted best first.

    Raises:
        ItemRejected: `flat_board`, unless gold, silver, bronze and median fall strictly, by at least 1e-4 each.
    """
    scores = [entry.final for entry in board]
    if not scores:
        raise ItemRejected(Stage.CALIBRATE, "flat_board", "no solver has a score")
    bars = [*(scores[row - 1] for row in medal_rows(len(scores))), round(median(scores), 5)]
    sign = -1 if is_lower_better else 1
    steps = [round(sign * (better - worse), 9) for better, worse in pairwise(bars)]
    if min(steps) < SMALLEST_STEP:
        shown = ", ".join(f"{step:.5f}" for step in steps)
        detail = f"gold to silver to bronze to median falls by {shown}; each step must be at least {SMALLEST_STEP:g}"
        raise ItemRejected(Stage.CALIBRATE, "flat_board", detail)
    gold, silver, bronze, middle = bars
    return Thresholds(gold=gold, silver=silver, bronze=bronze, median=middle)
