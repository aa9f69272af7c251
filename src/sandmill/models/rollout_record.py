"""A stored rollout with its conversation, and the few facts of it from which figures are computed."""

from dataclasses import dataclass
from enum import StrEnum

from pydantic import Field

from sandmill.models.base import Frozen
from sandmill.models.llm import Message
from sandmill.models.reports import Medal, Outcome
from sandmill.models.rollout import Action, EpisodeLimits, Rollout

MODEL_ERROR = "model_error"
"""Failure kind: the model did not answer, so the rollout is masked."""
NO_RUN = "no_run"
"""Failure kind: the agent never ran a script."""


class Operator(StrEnum):
    """How the prompt of an episode is made."""

    DRAFT = "draft"
    """The task alone."""
    IMPROVE = "improve"
    """The task with an earlier solution and its output, to improve."""
    DEBUG = "debug"
    """The task with a script that failed and its error, to repair."""
    CROSSOVER = "crossover"
    """The task with two earlier solutions and their outputs, to combine."""


class RolloutRecord(Frozen):
    """One rollout as it is stored."""

    rollout: Rollout
    messages: tuple[Message, ...] = ()
    """The conversation with the model."""
    operator: Operator = Operator.DRAFT
    error: str = ""
    """Why the model did not answer, if this ended the episode; empty after a full context."""

    @property
    def failure(self) -> str:
        """Failure kind; empty for a valid submission.

        It is `infra_error` or `model_error` for a masked rollout, `no_run` if no script ran, and else the outcome of
        the grade.
        """
        rollout = self.rollout
        if rollout.mask:
            return MODEL_ERROR if self.error else Outcome.INFRA_ERROR.value
        if rollout.grade is None or rollout.grade.outcome is Outcome.OK:
            return ""
        has_run = any(step.action is Action.RUN for step in rollout.steps)
        return rollout.grade.outcome.value if has_run else NO_RUN

    @property
    def facts(self) -> "RolloutFacts":
        """The facts for figures."""
        rollout, grade, reward = self.rollout, self.rollout.grade, self.rollout.reward
        return RolloutFacts(
            task_id=rollout.task_id,
            release=rollout.release,
            sample=rollout.sample,
            mask=rollout.mask,
            failure=self.failure,
            reward=None if reward is None or reward.mask else reward.total,
            is_valid=grade is not None and grade.outcome is Outcome.OK,
            medal=grade.medal if grade else None,
            gap_closed=grade.gap_closed if grade else None,
            prompt_tokens=rollout.usage.prompt_tokens,
            completion_tokens=rollout.usage.completion_tokens,
            usd=rollout.usage.usd,
            seconds=rollout.duration_s,
        )


@dataclass(frozen=True, slots=True)
class RolloutFacts:
    """What figures need to know of a rollout."""

    task_id: str
    release: str
    sample: int
    mask: bool
    failure: str
    reward: float | None
    """None if the rollout is masked."""
    is_valid: bool
    medal: Medal | None
    gap_closed: float | None
    prompt_tokens: int
    completion_tokens: int
    usd: float | None
    seconds: float

    @property
    def is_solved(self) -> bool:
        """Whether it reached bronze or better."""
        return self.medal is not None

    @property
    def clipped_gap(self) -> float:
        """`gap_closed` between 0 and 1; 0 without a valid submission."""
        return min(1.0, max(0.0, self.gap_closed or 0.0))


class RolloutSettings(Frozen):
    """What all rollouts of one folder have in common. How many there are, and of which tasks, may differ."""

    release: str
    """Version of the release, number and content hash, such as 0003-ab12cd34."""
    model: str
    reward: str
    limits: EpisodeLimits
    temperature: float
    max_tokens: int
    """Most tokens of one message of the model."""
    context_tokens: int | None = None
    """Longest conversation in tokens. None leaves it to the server."""
    seed: int | None = None
    operators: dict[str, float] = {}
    """Weights of the operators; empty for the task alone."""
    parents: str = ""
    """Content hash of the earlier rollouts that prompts may show."""
    memory_mb: int
    """Memory of a script."""


class TaskPlace(Frozen):
    """Where a task belongs."""

    task_id: str
    split: str
    structure: str
    band: str
    difficulty: float = Field(ge=0, le=1)
