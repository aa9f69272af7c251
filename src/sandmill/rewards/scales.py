"""Rewards that follow a continuous score: share of the gap, position on the leaderboard, raw score."""

from typing import ClassVar

from sandmill.errors import InputError, Problem
from sandmill.models.reports import GradeReport
from sandmill.models.rollout import Rollout
from sandmill.rewards.base import Reward, clip, closed_share, valid_grade


class Gap(Reward):
    """Share of the gap between the trivial solver and the oracle: `clip(gap_closed, 0, 1)`.

    If the ceiling of the task is loose, the reward is `clip(gap_to_gold, 0, 1)`. Without a valid submission it is 0.

    Source: Sandmill's own scale, on which tasks of all metrics compare.
    """

    preset: ClassVar[str] = "gap"

    def parts_of(self, rollout: Rollout) -> dict[str, float]:
        """Return the clipped share."""
        grade = valid_grade(rollout)
        return {"gap": 0.0 if grade is None else clip(closed_share(grade), 0.0, 1.0)}


class Position(Reward):
    """Position on the leaderboard: `(entries - position + 1) / entries`, 0 to 1.

    A score that ties an entry gets the position of that entry. Without a valid submission the reward is 0.

    Source: HumanRank of MLE-Dojo (arXiv 2505.07782), with the leaderboard of the task in place of the public and
    private boards of Kaggle.
    """

    preset: ClassVar[str] = "position"

    def parts_of(self, rollout: Rollout) -> dict[str, float]:
        """Return the position score."""
        grade = valid_grade(rollout)
        return {"position": 0.0 if grade is None else grade.position_score}


class Raw(Reward):
    """Score of the task's metric, negated if lower is better: `max(score, floor)`.

    `floor = trivial - |oracle - trivial|`, with the same sign. It is as far below the trivial solver as the oracle is
    above it. Without a valid submission the reward is the floor, so a failure never beats a valid submission. The
    clipping at the floor is needed for that, since most metrics have no worst score.

    Rewards of different tasks do not compare. Source: the score as reward in RL for MLE Agents (arXiv 2509.01684), but
    bounded below.
    """

    preset: ClassVar[str] = "raw"

    def parts_of(self, rollout: Rollout) -> dict[str, float]:
        """Return the bounded score."""
        if rollout.grade is None:
            problem = Problem("grade", "None", "the grade of the rollout; a failed rollout has a grade too")
            raise InputError(f"reward {self.preset!r}", [problem], "")
        floor, grade = _floor(rollout.grade), valid_grade(rollout)
        score = None if grade is None else grade.score
        return {"score": floor if score is None else max(_upwards(score, rollout.grade), floor)}


def _floor(grade: GradeReport) -> float:
    if grade.trivial is None or grade.oracle is None:
        saw = ", ".join(name for name in ("trivial", "oracle") if getattr(grade, name) is None)
        problem = Problem("grade", f"no score of {saw}", "a grade by this version of sandmill", "Grade it again.")
        raise InputError("reward 'raw'", [problem], "")
    return _upwards(grade.trivial, grade) - abs(grade.oracle - grade.trivial)


def _upwards(score: float, grade: GradeReport) -> float:
    return (-score if grade.is_lower_better else score) + 0.0
