"""Leaderboard of the solvers of a task, and the thresholds of its medals."""

from collections.abc import Container, Sequence
from itertools import pairwise
from statistics import median

from sandmill.errors import ItemRejected
from sandmill.models.base import Stage
from sandmill.models.calibration import BoardEntry, Milestones, Thresholds, Tier
from sandmill.scoring.gap import gap_closed

SMALLEST_STEP = 1e-4
"""Least distance of neighbouring thresholds: graders that do not round must agree with those that do."""
LEAST_STEP = 0.02
"""Least distance of neighbouring thresholds, as a share of the gap between trivial and oracle."""


def leaderboard(entries: Sequence[BoardEntry], is_lower_better: bool) -> tuple[BoardEntry, ...]:
    """Rank runs: best final score first, equals by name."""
    sign = 1 if is_lower_better else -1
    return tuple(sorted(entries, key=lambda entry: (sign * entry.final, entry.solver)))


def medal_rows(entries: int) -> tuple[int, int, int]:
    """Give the 1-based rows of the gold, silver and bronze threshold (mle-bench, `grade_helpers.rank_score`)."""
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


def thresholds(scores: Sequence[float], is_lower_better: bool) -> Thresholds:
    """Compute the thresholds of medals by mle-bench's rank rule over all entries of a leaderboard.

    Args:
        scores: of one part, rounded to 5 decimals, in any order.
        is_lower_better: direction.

    Raises:
        ItemRejected: `flat_board`, unless gold, silver, bronze and median fall strictly, by at least 1e-4 each.
    """
    if not scores:
        raise ItemRejected(Stage.CALIBRATE, "flat_board", "no solver has a score")
    ranked = sorted(scores, reverse=not is_lower_better)
    gold, silver, bronze = (ranked[row - 1] for row in medal_rows(len(ranked)))
    return falling(Thresholds(gold=gold, silver=silver, bronze=bronze, median=middle_of(scores)), is_lower_better)


def median_tiers(found: Milestones) -> Container[Tier]:
    """Return the tiers whose runs count for the median.

    Ensembles and readers place medals: with them, the median would lie among ordinary pipelines.
    """
    plain = (Tier.TRIVIAL, Tier.NAIVE, Tier.COMPETENT, Tier.STRONG)
    return plain if found.median == "plain" else (*plain, Tier.SEARCH)


def middle_of(scores: Sequence[float]) -> float:
    """Return the median of a board, rounded as scores are."""
    return round(median(scores), 5)


def falling(bars: Thresholds, is_lower_better: bool) -> Thresholds:
    """Return thresholds that fall from gold to the median.

    Raises:
        ItemRejected: `flat_board`, unless they fall strictly, by at least 1e-4 each.
    """
    sign = -1 if is_lower_better else 1
    falls = pairwise((bars.gold, bars.silver, bars.bronze, bars.median))
    steps = [round(sign * (better - worse), 9) for better, worse in falls]
    if min(steps) < SMALLEST_STEP:
        shown = ", ".join(f"{step:.5f}" for step in steps)
        detail = f"gold to silver to bronze to median falls by {shown}; each step must be at least {SMALLEST_STEP:g}"
        raise ItemRejected(Stage.CALIBRATE, "flat_board", detail)
    return bars


def gap_steps(bars: Thresholds, trivial: float, oracle: float) -> tuple[float, float, float]:
    """How far apart neighbouring thresholds lie, as shares of the gap between trivial and oracle.

    Raises:
        ItemRejected: `near_ties`, if a step is under 2 % of the gap: what separates medals would be luck.
    """
    places = [gap_closed(bar, trivial, oracle) for bar in (bars.gold, bars.silver, bars.bronze, bars.median)]
    first, second, third = (round(better - worse, 6) for better, worse in pairwise(places))
    if min(first, second, third) < LEAST_STEP:
        detail = (
            f"gold to silver to bronze to median falls by {first:.3f}, {second:.3f}, {third:.3f} of the gap; "
            f"each step must be at least {LEAST_STEP:g}"
        )
        raise ItemRejected(Stage.CALIBRATE, "near_ties", detail)
    return first, second, third
