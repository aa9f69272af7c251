"""What a score earns against fixed thresholds and a fixed board, in the way the field's benchmarks count it."""

from collections.abc import Sequence

from sandmill.metrics.base import SCORE_DECIMALS
from sandmill.models.calibration import Thresholds
from sandmill.models.reports import Medal


def rounded(score: float) -> float:
    """Bring a score to the precision at which medals are decided; minus zero becomes zero."""
    return round(float(score), SCORE_DECIMALS) + 0.0


def medal_of(score: float, thresholds: Thresholds, is_lower_better: bool) -> Medal | None:
    """Pay the best medal earned: a score that equals the threshold earns it (mle-bench, `rank_score`)."""
    sign = -1 if is_lower_better else 1
    reached = sign * rounded(score)
    for medal, bar in zip(Medal, (thresholds.gold, thresholds.silver, thresholds.bronze), strict=True):
        if reached >= sign * bar:
            return medal
    return None


def above_median(score: float, thresholds: Thresholds, is_lower_better: bool) -> bool:
    """Tell the upper half of the board from the lower: strictly, unlike medals (mle-bench)."""
    sign = -1 if is_lower_better else 1
    return sign * rounded(score) > sign * thresholds.median


def position_of(score: float, board_scores: Sequence[float], is_lower_better: bool) -> int:
    """Give the first place that the score ties or beats (MLE-Dojo's HumanRank).

    Args:
        score: rounded here to 5 decimals.
        board_scores: in any order, at 5 decimals.
        is_lower_better: direction of the metric.

    Returns:
        1 is best; the number of entries + 1 is worse than all, and so is a score that is not a number.
    """
    sign = -1 if is_lower_better else 1
    reached = sign * rounded(score)
    return 1 + sum(not reached >= sign * other for other in board_scores)
