"""What a trainer and an agent get for a run: the private score of the final part, and metered feedback."""

from enum import StrEnum

from pydantic import Field

from sandmill.models.base import Frozen
from sandmill.models.reports import Medal, Outcome


class Score(Frozen):
    """What one run is worth on the final part. For the trainer: an agent must not see it before its episode ends."""

    outcome: Outcome
    """How the run ended, unless that is `ok`: then whether its submission is valid."""
    reward: float
    """0 unless the outcome is ok; at most 1 with the preset `gap`."""
    gap_closed: float | None = None
    """Share of the way from the trivial solver to the oracle, unclipped; None without a valid submission."""
    medal: Medal | None = None
    score: float | None = None
    """Of the task's metric, rounded to 5 decimals; None without a valid submission."""
    position: int | None = None
    """Place on the leaderboard, 1 is best."""
    mask: bool = False
    """True if the sandbox failed before the agent's code started: leave the rollout out of the loss."""
    problems: tuple[str, ...] = ()
    """What is wrong with an invalid submission."""


class FeedbackStatus(StrEnum):
    """What a feedback answer says of a submission."""

    SCORED = "scored"
    """Valid and better than the trivial baseline; the answer holds a rounded score."""
    BELOW_BASELINE = "below_baseline"
    """Valid, and after rounding no better than the trivial baseline; the answer holds no score."""
    NOT_SCORED = "not_scored"
    """The run failed or its submission is invalid; `outcome` and `problems` say why."""
    EXHAUSTED = "exhausted"
    """No submissions are left; this one was not looked at."""


class FeedbackAnswer(Frozen):
    """All that an agent may be told about one submission during an episode."""

    status: FeedbackStatus
    outcome: Outcome | None = None
    """How the run and the reading of its submission ended; None if no submissions were left."""
    score: float | None = None
    """Score on the feedback part, rounded to a multiple of `step`; None unless the status is `scored`."""
    step: float = Field(gt=0)
    """Rounding of all scores of this episode."""
    problems: tuple[str, ...] = ()
    """What is wrong with the form of an invalid submission."""
    submissions_left: int = Field(ge=0)
    """Valid submissions that will still be answered."""

    @property
    def message(self) -> str:
        """The answer as a text for the agent."""
        left = f" Submissions left: {self.submissions_left}."
        match self.status:
            case FeedbackStatus.SCORED:
                return f"Valid submission. Score: {self.score:.10g}, rounded to steps of {self.step:.10g}.{left}"
            case FeedbackStatus.BELOW_BASELINE:
                return f"Valid submission. Its score is no better than that of a constant prediction.{left}"
            case FeedbackStatus.NOT_SCORED:
                why = "".join(f"\n- {problem}" for problem in self.problems)
                return f"No score: {self.outcome}.{left}{why}"
            case FeedbackStatus.EXHAUSTED:
                return "No submissions are left, so this one was not scored."
