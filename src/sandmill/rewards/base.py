"""Base class of rewards."""

from abc import abstractmethod
from typing import ClassVar

from pydantic import Field

from sandmill.models.base import Frozen
from sandmill.models.reports import GradeReport, Outcome
from sandmill.models.rollout import RewardParts, Rollout

MOST_FORMAT = 0.1
"""Largest weight of the format rate, as in both papers. A larger one would pay for words instead of models."""


class Reward(Frozen):
    """A reward of a whole rollout. A subclass states its formula and its source.

    In every preset, a rollout without a valid submission earns at most what a valid sample submission earns at the same
    format rate. Nothing is parsed from the transcript.
    """

    preset: ClassVar[str]
    """Name of the preset."""

    format_weight: float = Field(default=0.0, ge=0, le=MOST_FORMAT)
    """Weight of `Rollout.format_rate`, which an adapter measures. A rollout without a rate counts as 0."""

    def __call__(self, rollout: Rollout) -> RewardParts:
        """Return the reward and its parts. A masked rollout has a mask and no parts."""
        if rollout.mask:
            return RewardParts(preset=self.preset, parts={}, mask=True)
        parts = self.parts_of(rollout)
        if self.format_weight:
            parts["format"] = self.format_weight * (rollout.format_rate or 0.0)
        return RewardParts(preset=self.preset, parts=parts)

    @abstractmethod
    def parts_of(self, rollout: Rollout) -> dict[str, float]:
        """Compute the named parts of the reward for a rollout that is not masked.

        The part for the format of the answer is not among them: `__call__` adds it.

        Every rollout has the same names of parts; a part that was not earned is 0.
        """


def valid_grade(rollout: Rollout) -> GradeReport | None:
    """Return the grade, or None if the rollout has no valid submission."""
    grade = rollout.grade
    return grade if grade is not None and grade.outcome is Outcome.OK else None


def closed_share(grade: GradeReport) -> float:
    """Return the unclipped share of the way from the trivial solver to the best possible score.

    The end is the oracle. If the ceiling is loose, the oracle is not known well enough, and the end is the threshold of
    gold.
    """
    share = grade.gap_closed
    if grade.ceiling_is_loose and grade.gap_to_gold is not None:
        share = grade.gap_to_gold
    return share or 0.0


def clip(value: float, low: float, high: float) -> float:
    """Limit a value to a range."""
    return min(high, max(low, value)) + 0.0
