"""Results of a run: the private score on the final part, and limited feedback for the agent."""

from enum import StrEnum

from pydantic import Field

from sandmill.models.base import Frozen
from sandmill.models.reports import Medal, Outcome


class Score(Frozen):
    """Score of one run on the final part, for the trainer. The agent must not see it before its episode ends."""

    outcome: Outcome
    """How the run ended. `ok` means that the run ended well and its submission is valid."""
    reward: float
    """Total of the preset. With `gap`: 0 unless the outcome is `ok`, at most 1. 0 if `mask` is True."""
    gap_closed: float | None = None
    """Share of the way from the trivial solver to the oracle, unclipped; None without a valid submission."""
    medal: Medal | None = None
    score: float | None = None
    """Value of the task's metric, rounded to 5 decimals; None without a valid submission."""
    position: int | None = None
    """Position on the leaderboard; 1 is best."""
    mask: bool = False
    """True if the sandbox failed before the agent's code started. The rollout must be left out of the loss."""
    problems: tuple[str, ...] = ()
    """Problems of an invalid submission."""


class FeedbackStatus(StrEnum):
    """Status of a feedback answer."""

    SCORED = "scored"
    """The submission is valid and better than the trivial baseline. The answer has a rounded score."""
    BELOW_BASELINE = "below_baseline"
    """The submission is valid but not better than the trivial baseline after rounding. The answer has no score."""
    NOT_SCORED = "not_scored"
    """The run failed or its submission is invalid. `outcome` and `problems` give the reason."""
    EXHAUSTED = "exhausted"
    """No submissions were left, so this one was not read."""


class FeedbackAnswer(Frozen):
    """Feedback for the agent on one submission during an episode. The agent may see all of it."""

    status: FeedbackStatus
    outcome: Outcome | None = None
    """Outcome of the run and of parsing its submission; None if no submissions were left."""
    score: float | None = None
    """Score on the feedback part, rounded to a multiple of `step`. None unless the status is `scored`."""
    position: int | None = None
    """Position of the rounded score on the leaderboard of the feedback part; 1 is best."""
    entries: int | None = None
    """Entries of that leaderboard."""
    medal: Medal | None = None
    """Medal of the rounded score on the feedback part. The final part decides over the medal that counts."""
    step: float = Field(gt=0)
    """Rounding step of all scores of this episode."""
    problems: tuple[str, ...] = ()
    """Format problems of an invalid submission."""
    submissions_left: int = Field(ge=0)
    """Number of further valid submissions that will be scored."""

    @property
    def message(self) -> str:
        """Return the answer as text for the agent."""
        left = f" Submissions left: {self.submissions_left}."
        match self.status:
            case FeedbackStatus.SCORED:
                score = f"Valid submission. Score: {self.score:.10g}, rounded to steps of {self.step:.10g}."
                return f"{score}{self._rank}{left}"
            case FeedbackStatus.BELOW_BASELINE:
                return f"Valid submission. Its score is no better than that of a constant prediction.{left}"
            case FeedbackStatus.NOT_SCORED:
                why = "".join(f"\n- {problem}" for problem in self.problems)
                return f"No score: {self.outcome}.{left}{why}"
            case FeedbackStatus.EXHAUSTED:
                return "No submissions are left, so this one was not scored."

    @property
    def _rank(self) -> str:
        if self.position is None:
            return ""
        medal = f", {self.medal} medal" if self.medal else ""
        return f" Position {self.position} among {self.entries} leaderboard entries{medal}."
