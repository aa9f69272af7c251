"""Medals and positions of a score on a leaderboard, by the rules of mle-bench and MLE-Dojo."""

from collections.abc import Sequence

from sandmill.models.calibration import Thresholds
from sandmill.models.reports import Medal
from sandmill.scoring.base import rounded


def medal_of(score: float, thresholds: Thresholds, is_lower_better: bool) -> Medal | None:
    """Return the best medal earned, or None. A score equal to the threshold earns it (mle-bench, `rank_score`)."""
    bars = zip(Medal, (thresholds.gold, thresholds.silver, thresholds.bronze), strict=True)
    return next((medal for medal, bar in bars if reaches(score, bar, is_lower_better)), None)


def above_median(score: float, thresholds: Thresholds, is_lower_better: bool) -> bool:
    """Return whether a score is strictly better than the median (mle-bench). A tie counts for medals, not here."""
    return reaches(score, thresholds.median, is_lower_better) and rounded(score) != thresholds.median


def position_of(score: float, board_scores: Sequence[float], is_lower_better: bool) -> int:
    """Return the best position whose score is tied or beaten, 1 for the best (HumanRank of MLE-Dojo).

    The scores of the leaderboard are rounded to 5 decimals, in any order. A score below all of them, or one that is
    not a number, gets their number + 1.
    """
    return 1 + sum(not reaches(score, other, is_lower_better) for other in board_scores)


def reaches(score: float, bar: float, is_lower_better: bool) -> bool:
    """Return whether a score is equal to or better than a threshold that has 5 decimals."""
    return rounded(score) <= bar if is_lower_better else rounded(score) >= bar
