"""Rewards of SandMLE: a step for each threshold that the final score reaches.

In all of them a score equal to a threshold reaches it, the median included: this is how SandMLE's code compares.
`GradeReport.above_median` is strict instead, as in mle-bench.
"""

from enum import IntEnum
from typing import ClassVar

from sandmill.models.rollout import Rollout
from sandmill.rewards.base import Reward, valid_grade
from sandmill.scoring.medals import reaches


class ReachedThreshold(IntEnum):
    """Highest threshold that a rollout reached."""

    FAILED = 0
    VALID = 1
    MEDIAN = 2
    BRONZE = 3
    SILVER = 4
    GOLD = 5


def tier_of(rollout: Rollout) -> ReachedThreshold:
    """Return the tier of a rollout that is not masked."""
    grade = valid_grade(rollout)
    if grade is None or grade.score is None:
        return ReachedThreshold.FAILED
    bars = grade.thresholds
    for tier, bar in (
        (ReachedThreshold.GOLD, bars.gold),
        (ReachedThreshold.SILVER, bars.silver),
        (ReachedThreshold.BRONZE, bars.bronze),
    ):
        if reaches(grade.score, bar, grade.is_lower_better):
            return tier
    return (
        ReachedThreshold.MEDIAN if reaches(grade.score, bars.median, grade.is_lower_better) else ReachedThreshold.VALID
    )


class SandmlePaper(Reward):
    """0.3 execute + 0.1 median + 0.2 bronze + 0.2 silver + 0.1 gold + `format_weight` x format rate.

    Each threshold that is reached adds its step, so gold earns 0.9. The paper's weight of the format is 0.1, which
    makes 1.0. `execute` is paid for a valid submission: a run that ends well without one earns nothing.

    Source: SandMLE (arXiv 2604.04872), the reward of its training section. Its released code pays other steps:
    `sandmle-release`.
    """

    preset: ClassVar[str] = "sandmle-paper"

    def parts_of(self, rollout: Rollout) -> dict[str, float]:
        """Return one part for each step."""
        reached = tier_of(rollout)
        steps = {
            "execute": (ReachedThreshold.VALID, 0.3),
            "median": (ReachedThreshold.MEDIAN, 0.1),
            "bronze": (ReachedThreshold.BRONZE, 0.2),
            "silver": (ReachedThreshold.SILVER, 0.2),
            "gold": (ReachedThreshold.GOLD, 0.1),
        }
        return {name: pay * (reached >= tier) for name, (tier, pay) in steps.items()}


_TIER_PAY = {
    ReachedThreshold.MEDIAN: 0.1,
    ReachedThreshold.BRONZE: 0.5,
    ReachedThreshold.SILVER: 0.6,
    ReachedThreshold.GOLD: 0.7,
}
"""Pay of the highest tier alone in SandMLE's code."""


class SandmleRelease(Reward):
    """0.2 if a score exists + tier (median 0.1, bronze 0.5, silver 0.6, gold 0.7) + `format_weight` x format rate.

    Only the highest tier is paid, so gold earns 0.9. The released code's weight of the format is 0.1, which makes 1.0.
    A score that is not finite is no score here; the released code accepts it.

    Source: code released with SandMLE (arXiv 2604.04872). Its steps differ from those of the paper.
    """

    preset: ClassVar[str] = "sandmle-release"

    def parts_of(self, rollout: Rollout) -> dict[str, float]:
        """Return the part of a score and that of the tier."""
        reached = tier_of(rollout)
        return {"score": 0.2 * (reached >= ReachedThreshold.VALID), "tier": _TIER_PAY.get(reached, 0.0)}


class Sparse(Reward):
    """0.9 gold + `format_weight` x format rate.

    Source: SandMLE (arXiv 2604.04872), ablation of the reward, with the format weight 0.1.
    """

    preset: ClassVar[str] = "sparse"

    def parts_of(self, rollout: Rollout) -> dict[str, float]:
        """Return the part of gold."""
        return {"gold": 0.9 * (tier_of(rollout) >= ReachedThreshold.GOLD)}
