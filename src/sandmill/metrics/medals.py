"""Medals and positions of a score on a leaderboard, by the rules of mle-bench and MLE-Dojo."""

from collections.abc import Sequence

from sandmill.metrics.base import SCORE_DECIMALS
from sandmill.models.calibration import Thresholds
from sandmill.models.reports import Medal


def rounded(score: float) -> float:
    """Round a score to the precision at which medals are decided. Minus zero becomes zero."""
    return round(float(score), SCORE_DECIMALS) + 0.0


def medal_of(score: float, thresholds: Thresholds, is_lower_better: bool) -> Medal | None:
    """Return the best medal earned, or None. A score equal to the threshold earns it (mle-bench, `rank_score`)."""
    sign = -1 if is_lower_better else 1
    reached = sign * rounded(score)
    for medal, bar in zip(Medal, (thresholds.gold, thresholds.silver, thresholds.bronze), strict=True):
        if reached >= sign * bar:
            return medal
    return None


def above_median(score: float, thresholds: Thresholds, is_lower_better: bool) -> bool:
    """Return whether a score is strictly better than the median (mle-bench). A tie counts for medals, not here."""
    sign = -1 if is_lower_better else 1
    return sign * rounded(score) > sign * thresholds.median


def position_of(score: float, board_scores: Sequence[float], is_lower_better: bool) -> int:
    """Return the best position whose score is tied or beaten (HumanRank of MLE-Dojo).

    Args:
        score: score of the submission, in any precision.
        board_scores: scores of the leaderboard, rounded to 5 decimals, in any order.
        is_lower_better: direction of the metric.

    Returns:
        1 for the best position. A score below all entries, or one that is not a number, gets their number + 1.
    """
    sign = -1 if is_lower_better else 1
    reached = sign * rounded(score)
    return 1 + sum(not reached >= sign * other for other in board_scores)
