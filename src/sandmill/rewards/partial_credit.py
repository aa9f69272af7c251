"""Rewards that give failed rollouts credit for their progress, but less than any valid submission earns."""

from typing import ClassVar, Self

from pydantic import Field, model_validator

from sandmill.models.reports import Check, Outcome
from sandmill.models.rollout import Marker, Rollout
from sandmill.rewards.base import Reward, clip, closed_share, valid_grade

FORMAT_CHECKS = tuple(check for check in Check if check is not Check.BEATS_TRIVIAL)
"""Checks that do not need the answers. A submission that passes all of them is valid."""


class PartialCredit(Reward):
    """A valid submission earns `clip(share, -1, 1)`; a failure earns -10 + 0.2 a check + 0.1 a marker.

    `share` is that of the preset `gap`, unclipped: the trivial solver is 0 and the oracle is 1. Checks are what the
    parent process observes of the best submission of the rollout: file, parses, header, ids, values. They are the core
    of the credit. Markers are printed by the agent's own process, which can fake them. Therefore both together stay
    below the lowest reward of a valid submission: at most -8.3. A rollout whose submission was tampered with gets no
    credit.

    Source: RL for MLE Agents (arXiv 2509.01684), the reward with environment instrumentation: -10 for a total failure,
    0.1 for each printed milestone, the true score (about -1 to 1, higher is better) for a valid solution. The checks,
    and the common scale for scores of all metrics, are our own.
    """

    preset: ClassVar[str] = "partial-credit"
    worst_valid: ClassVar[float] = -1.0
    """Lowest reward of a valid submission."""

    failure: float = Field(default=-10.0, lt=0, allow_inf_nan=False)
    """Reward of a failure without any progress."""
    check_credit: float = Field(default=0.2, ge=0, allow_inf_nan=False)
    marker_credit: float = Field(default=0.1, ge=0, allow_inf_nan=False)

    @model_validator(mode="after")
    def _is_bounded(self) -> Self:
        most = self.failure + self.check_credit * len(FORMAT_CHECKS) + self.marker_credit * len(Marker)
        if most >= self.worst_valid:
            raise ValueError(
                f"a failure with all checks and markers earns {most:g}; it must be less than {self.worst_valid:g}, "
                f"the lowest reward of a valid submission"
            )
        return self

    def parts_of(self, rollout: Rollout) -> dict[str, float]:
        """Return the score of a valid submission, or the failure with its credit."""
        if grade := valid_grade(rollout):
            score = clip(closed_share(grade), self.worst_valid, 1.0)
            return {"score": score, "failure": 0.0, "checks": 0.0, "markers": 0.0}
        checks, markers = _progress(rollout)
        return {
            "score": 0.0,
            "failure": self.failure,
            "checks": self.check_credit * checks,
            "markers": self.marker_credit * markers,
        }


class PartialCreditGrpo(PartialCredit):
    """A valid submission earns `clip(share, 0, 1)`; a failure earns -0.5 + 0.05 a check + 0.02 a marker.

    Group normalisation divides by the standard deviation of the group. One failure of -10 makes it so large that the
    good rollouts of the group get nearly equal advantages. With -0.5 they stay apart. Checks and markers together
    leave a failure at -0.11 or less.

    Source: `partial-credit`, rescaled for GRPO.
    """

    preset: ClassVar[str] = "partial-credit-grpo"
    worst_valid: ClassVar[float] = 0.0

    failure: float = Field(default=-0.5, lt=0, allow_inf_nan=False)
    check_credit: float = Field(default=0.05, ge=0, allow_inf_nan=False)
    marker_credit: float = Field(default=0.02, ge=0, allow_inf_nan=False)


def _progress(rollout: Rollout) -> tuple[int, int]:
    """Return the number of checks and of markers that count."""
    if rollout.grade is not None and rollout.grade.outcome is Outcome.TAMPER:
        return 0, 0
    passed = set(rollout.checks) | set(rollout.grade.checks if rollout.grade else ())
    return len(passed & set(FORMAT_CHECKS)), len(set(rollout.markers))
