"""Tasks, policies and executors without models and without a sandbox, for tests of evaluations."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sandmill.models.calibration import Thresholds
from sandmill.models.reports import GradeReport, Medal, Outcome
from sandmill.models.rollout import Action, Ending, Rollout, Step
from sandmill_learn.results import Scored

THRESHOLDS = Thresholds(gold=0.9, silver=0.8, bronze=0.7, median=0.6)


@dataclass(frozen=True)
class StandInTask:
    """What evaluations read of a `LearningTask`."""

    id: str
    facts: tuple[str, ...] = ("metric=auc",)
    family: str = ""
    source: str = "final"


@dataclass
class StandInRunner:
    """Scores an answer by a function. Calls are counted."""

    gap_of: Callable[[str, str], float | None]
    feedback_of: Callable[[str, str], float] = lambda task_id, text: 0.0
    masked: frozenset[str] = frozenset()
    is_lower_better: bool = False
    pairs: list[tuple[str, str]] = field(default_factory=list)

    @property
    def requested(self) -> int:
        return len(self.pairs)

    @property
    def executed(self) -> int:
        return len(set(self.pairs))

    def rollouts(self, pairs: Sequence[tuple[str, str]]) -> list[Rollout]:
        self.pairs += pairs
        return [self._rollout(task_id, text) for task_id, text in pairs]

    def _rollout(self, task_id: str, text: str) -> Rollout:
        if task_id in self.masked:
            return Rollout(task_id=task_id, ending=Ending.INFRA, mask=True)
        feedback = self.feedback_of(task_id, text)
        return make_rollout(task_id, self.gap_of(task_id, text), feedback, is_lower_better=self.is_lower_better)


def make_rollout(task_id: str, gap: float | None, feedback: float = 0.0, *, is_lower_better: bool = False) -> Rollout:
    """Return the rollout of one script; None is an invalid submission."""
    outcome = Outcome.OK if gap is not None else Outcome.RUNTIME_ERROR
    grade = GradeReport(
        outcome=outcome,
        score=gap,
        gap_closed=gap,
        is_lower_better=is_lower_better,
        thresholds=THRESHOLDS,
        medal=Medal.GOLD if gap is not None and gap >= 0.9 else None,
        position_score=max(0.0, min(1.0, gap or 0.0)),
        feedback_score=None if gap is None else feedback,
    )
    step = Step(number=1, action=Action.RUN, outcome=outcome, duration_s=0.5)
    return Rollout(
        task_id=task_id,
        steps=(step,),
        ending=Ending.STEPS,
        grade=grade,
        chosen=None if gap is None else 1,
        duration_s=2.0,
    )


class StandInPolicy:
    """Samples fixed answers, and remembers what it was asked."""

    def __init__(self, *answers: str) -> None:
        self.answers, self.asked = answers, []

    def sample(self, prompts: Sequence[Sequence[str]], *, n: int, temperature: float, seed: int) -> list[list[str]]:
        self.asked.append((tuple(map(tuple, prompts)), n, temperature, seed))
        return [[self.answers[place % len(self.answers)] for place in range(n)] for _ in prompts]


def scored_rows(
    arm: str, gaps: Mapping[str, float] | np.ndarray, *, seed: int = 0, draws: int = 1, **values: Any
) -> list[Scored]:
    """Return a row for each family and draw; an array names its families by number."""
    named = gaps if isinstance(gaps, Mapping) else {f"family-{place:03d}": gap for place, gap in enumerate(gaps)}
    return [
        Scored(
            **{
                "arm": arm,
                "seed": seed,
                "task_id": f"{family}.d{draw}",
                "family": family,
                "source": "final",
                "draw": draw,
                "gap": float(np.clip(gap, -1, 1)),
                "valid": True,
                "script_digest": "one",
                **values,
            }
        )
        for family, gap in named.items()
        for draw in range(draws)
    ]
