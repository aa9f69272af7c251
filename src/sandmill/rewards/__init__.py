"""Compute the reward of a graded rollout. Only valid submissions have rewards above 0."""

from collections.abc import Callable, Mapping

from sandmill.errors import InputError, Problem
from sandmill.models.reports import GradeReport, Outcome
from sandmill.models.rollout import RewardParts, Rollout

Reward = Callable[[Rollout], RewardParts]
"""Computes the reward of a finished rollout."""


def get_reward(reward: str | Reward) -> Reward:
    """Return a reward by its name."""
    if not isinstance(reward, str):
        return reward
    name = reward

    def compute(rollout: Rollout) -> RewardParts:
        if rollout.mask or rollout.grade is None:
            return RewardParts(preset=name, parts={}, mask=True)
        return RewardParts(preset=name, parts={name: reward_of(rollout.grade, name)})

    return compute


def reward_of(grade: GradeReport, preset: str = "gap") -> float:
    """Return the reward of a grade. Every preset gives 0 without a valid submission.

    Raises:
        InputError: if the preset is unknown.
    """
    if preset not in _PRESETS:
        raise InputError("reward", [Problem("preset", repr(preset), f"one of {', '.join(_PRESETS)}")], "")
    return _PRESETS[preset](grade) if grade.outcome is Outcome.OK else 0.0


def _gap(grade: GradeReport) -> float:
    """Return the share of the gap between trivial solver and oracle that was closed, clipped to 0..1."""
    return min(1.0, max(0.0, grade.gap_closed or 0.0))


_PRESETS: Mapping[str, Callable[[GradeReport], float]] = {"gap": _gap}
