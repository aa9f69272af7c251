"""The presets: rewards that follow a continuous score, steps of SandMLE, and partial credit of failed rollouts.

In rewards of SandMLE a score equal to a threshold reaches it, the median included: this is how SandMLE's code compares.
`GradeReport.above_median` is strict instead, as in mle-bench.
"""

from abc import abstractmethod
from collections.abc import Mapping
from itertools import pairwise
from typing import ClassVar, Self

import numpy as np
from pydantic import Field, model_validator

from sandmill.models.base import Frozen
from sandmill.models.reports import Check, GradeReport, Outcome
from sandmill.models.rollout import Ending, Marker, RewardParts, Rollout
from sandmill.scoring.gap import gap_closed
from sandmill.scoring.medals import reaches

MOST_FORMAT = 0.1
"""Largest weight of the format rate, as in both papers. A larger one would pay for words instead of models."""


class Reward(Frozen):
    """A reward of a whole rollout. A subclass states its formula and its source.

    In every preset, a rollout without a valid submission earns at most what a valid sample submission earns at the same
    format rate. Nothing is parsed from the transcript.
    """

    preset: ClassVar[str]
    """Name of the preset."""
    needs_facts: ClassVar[bool] = False
    """Whether the reward reads `Rollout.facts`, which are measured for it."""

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

    @property
    def part_names(self) -> tuple[str, ...]:
        """Names of the parts, which every rollout that is not masked has."""
        names = tuple(self.parts_of(_FAILED))
        return (*names, "format") if self.format_weight else names

    @abstractmethod
    def parts_of(self, rollout: Rollout) -> dict[str, float]:
        """Compute the named parts of the reward for a rollout that is not masked.

        The part for the format of the answer is not among them: `__call__` adds it.

        Every rollout has the same names of parts; a part that was not earned is 0.
        """


_FAILED = Rollout(task_id="", ending=Ending.FINISHED)


def valid_grade(rollout: Rollout) -> GradeReport | None:
    """Return the grade, or None if the rollout has no valid submission."""
    grade = rollout.grade
    return grade if grade is not None and grade.outcome is Outcome.OK else None


def closed_share(grade: GradeReport) -> float:
    """Return the unclipped share of the way from the trivial solver to the best possible score.

    The end is the oracle. If the ceiling is loose, the oracle is not known well enough, and the end is the lower end of
    the ceiling.
    """
    score, trivial, low = grade.score, grade.trivial, grade.ceiling_low
    if not grade.ceiling_is_loose or score is None or trivial is None or low is None or low == trivial:
        return grade.gap_closed or 0.0
    return gap_closed(score, trivial, low)


def clip(value: float, low: float, high: float) -> float:
    """Limit a value to a range."""
    return min(high, max(low, value)) + 0.0


FORMAT_CHECKS = tuple(check for check in Check if check is not Check.BEATS_TRIVIAL)
"""Checks that do not need the answers. A submission that passes all of them is valid."""


class Gap(Reward):
    """Share of the gap between the trivial solver and the oracle: `clip(gap_closed, 0, 1)`.

    If the ceiling of the task is loose, its lower end takes the place of the oracle. Without a valid submission the
    reward is 0.

    Source: Sandmill's own scale, on which tasks of all metrics compare.
    """

    preset: ClassVar[str] = "gap"

    def parts_of(self, rollout: Rollout) -> dict[str, float]:
        """Return the clipped share."""
        grade = valid_grade(rollout)
        return {"gap": 0.0 if grade is None else clip(closed_share(grade), 0.0, 1.0)}


_RUNGS = (0.0, 0.2, 0.4, 0.8, 1.0)
"""Pay of the trivial solver, bronze, silver, gold and the best possible score."""


class Ladder(Reward):
    """Piecewise linear in the score: trivial 0, bronze 0.2, silver 0.4, gold 0.8, oracle 1; constant beyond both ends.

    If the ceiling of the task is loose, its lower end takes the place of the oracle. Where these five scores do not
    rise strictly, or one is not known, the reward is that of `gap`, as the part of that name. Without a valid
    submission it is 0.

    Source: Sandmill's own. The thresholds of medals are milestones of the task: silver is about the median blind
    ensemble, and gold needs what the texts state. So a step of this reward pays for insight rather than for tuning.
    """

    preset: ClassVar[str] = "ladder"

    def parts_of(self, rollout: Rollout) -> dict[str, float]:
        """Return the pay by rungs, or that by the gap."""
        grade = valid_grade(rollout)
        if grade is None or grade.score is None:
            return {"ladder": 0.0, "gap": 0.0}
        if (rungs := rungs_of(grade)) is None:
            return {"ladder": 0.0, "gap": clip(closed_share(grade), 0.0, 1.0)}
        return {"ladder": float(np.interp(_upwards(grade.score, grade), rungs, _RUNGS)), "gap": 0.0}


MOST_FOR_FACTS = 0.2
"""Largest weight of the credit for facts: the step from trivial to bronze."""


class LadderFacts(Ladder):
    """`ladder` + `facts_weight` x mean credit for facts, if the score is above that of the trivial solver.

    The credit says how far the predictions use each fact that the texts state: 0 to 1, the mean over the facts that can
    be measured on the task. It grows from 0 at the trivial score to its whole at `whole_at` of the gap, so that no
    answer earns more by the credit than by a better score. Where nothing can be measured it is 0, and the reward is
    that of `ladder`. A training can lower the weight step by step, down to 0.

    Source: Sandmill's own, for models that begin to read: a first attempt at a stated fact often pays nothing by score.
    """

    preset: ClassVar[str] = "ladder-facts"
    needs_facts: ClassVar[bool] = True

    facts_weight: float = Field(default=MOST_FOR_FACTS, ge=0, le=MOST_FOR_FACTS)
    whole_at: float = Field(default=0.1, gt=0, le=1)
    """Share of the gap from which the credit is whole."""

    def parts_of(self, rollout: Rollout) -> dict[str, float]:
        """Return the parts of `ladder`, and the credit for facts."""
        grade, known = valid_grade(rollout), [one.value for one in rollout.facts if one.value is not None]
        credit = 0.0
        if grade is not None and known:
            earned = clip(closed_share(grade) / self.whole_at, 0.0, 1.0)
            credit = self.facts_weight * earned * sum(known) / len(known)
        return {**super().parts_of(rollout), "facts": credit}


def rungs_of(grade: GradeReport) -> tuple[float, ...] | None:
    """Return trivial, bronze, silver, gold and the best score, negated if lower is better; None if they do not rise."""
    bars, top = grade.thresholds, grade.ceiling_low if grade.ceiling_is_loose else grade.oracle
    if grade.trivial is None or top is None:
        return None
    rungs = tuple(_upwards(score, grade) for score in (grade.trivial, bars.bronze, bars.silver, bars.gold, top))
    return rungs if all(low < high for low, high in pairwise(rungs)) else None


def _upwards(score: float, grade: GradeReport) -> float:
    return (-score if grade.is_lower_better else score) + 0.0


def reached_steps(rollout: Rollout) -> set[str]:
    """Return the steps of SandMLE's reward that a rollout reached: `execute`, and thresholds by name."""
    grade = valid_grade(rollout)
    if grade is None or grade.score is None:
        return set()
    bars, score, is_lower_better = grade.thresholds.model_dump(), grade.score, grade.is_lower_better
    return {"execute", *(name for name, bar in bars.items() if reaches(score, bar, is_lower_better))}


class _Steps(Reward):
    """A reward that adds a fixed pay for each step of SandMLE's reward that is reached."""

    steps: ClassVar[Mapping[str, float]]
    """Pay of each step of `reached_steps`."""

    def parts_of(self, rollout: Rollout) -> dict[str, float]:
        """Return one part for each step."""
        reached = reached_steps(rollout)
        return {name: pay * (name in reached) for name, pay in self.steps.items()}


class SandmlePaper(_Steps):
    """0.3 execute + 0.1 median + 0.2 bronze + 0.2 silver + 0.1 gold + `format_weight` x format rate.

    Each threshold that is reached adds its step, so gold earns 0.9. The paper's weight of the format is 0.1, which
    makes 1.0. `execute` is paid for a valid submission: a run that ends well without one earns nothing.

    Source: SandMLE (arXiv 2604.04872), the reward of its training section. Its released code pays other steps.
    """

    preset: ClassVar[str] = "sandmle-paper"
    steps: ClassVar[Mapping[str, float]] = {"execute": 0.3, "median": 0.1, "bronze": 0.2, "silver": 0.2, "gold": 0.1}


class Sparse(_Steps):
    """0.9 gold + `format_weight` x format rate.

    Source: SandMLE (arXiv 2604.04872), ablation of the reward, with the format weight 0.1.
    """

    preset: ClassVar[str] = "sparse"
    steps: ClassVar[Mapping[str, float]] = {"gold": 0.9}


class PartialCreditGrpo(Reward):
    """A valid submission earns `clip(share, 0, 1)`; a failure earns -0.5 + 0.05 a check + 0.02 a marker.

    `share` is that of the preset `gap`. Checks are what the parent process observes of the best submission of the
    rollout: file, parses, header, ids, values. They are the core of the credit. Markers are printed by the agent's own
    process, which can fake them. Therefore both together stay below the lowest reward of a valid submission: at most
    -0.11. A rollout in which a submission was tampered with gets no credit.

    Source: RL for MLE Agents (arXiv 2509.01684), the reward with environment instrumentation, with checks and rescaled
    for GRPO: the -10 of the paper makes the standard deviation of a group so large that its good rollouts get nearly
    equal advantages.
    """

    preset: ClassVar[str] = "partial-credit-grpo"

    failure: float = Field(default=-0.5, lt=0, allow_inf_nan=False)
    """Reward of a failure without any progress."""
    check_credit: float = Field(default=0.05, ge=0, allow_inf_nan=False)
    marker_credit: float = Field(default=0.02, ge=0, allow_inf_nan=False)

    @model_validator(mode="after")
    def _is_bounded(self) -> Self:
        most = self.failure + self.check_credit * len(FORMAT_CHECKS) + self.marker_credit * len(Marker)
        if most >= 0:
            raise ValueError(f"a failure with all checks and markers earns {most:g}; it must be less than 0")
        return self

    def parts_of(self, rollout: Rollout) -> dict[str, float]:
        """Return the score of a valid submission, or the failure with its credit."""
        if grade := valid_grade(rollout):
            return {"score": clip(closed_share(grade), 0.0, 1.0), "failure": 0.0, "checks": 0.0, "markers": 0.0}
        checks, markers = _progress(rollout)
        return {
            "score": 0.0,
            "failure": self.failure,
            "checks": self.check_credit * checks,
            "markers": self.marker_credit * markers,
        }


def _progress(rollout: Rollout) -> tuple[int, int]:
    """Return the number of checks and of markers that count."""
    grade = rollout.grade
    outcomes = {step.outcome for step in rollout.steps} | ({grade.outcome} if grade else set())
    if Outcome.TAMPER in outcomes:
        return 0, 0
    passed = set(rollout.checks) | set(grade.checks if grade else ())
    return len(passed & set(FORMAT_CHECKS)), len(set(rollout.markers))
