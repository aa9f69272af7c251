"""Steps and rollouts: what an agent did in an episode on one task, what feedback it got, and what it earned."""

from dataclasses import dataclass
from enum import StrEnum
from math import fsum
from typing import Self

from pydantic import Field, field_validator

from sandmill.models.base import Frozen, Private
from sandmill.models.llm import Message
from sandmill.models.reports import Check, GradeReport, Medal, Outcome
from sandmill.models.run import MOST_SECONDS, Isolation

MODEL_ERROR = "model_error"
"""Failure kind: the model did not answer, so the rollout is masked."""
NO_RUN = "no_run"
"""Failure kind: the agent never ran a script."""
_WAITING_S = 3600.0
"""Seconds of an episode for the model and for waiting, unless its wall clock is given."""
_MOST_CLOSING_S = 10.0
"""Most seconds at the end of an episode that are kept for killing a run, collecting its files and grading them."""


class Score(Frozen):
    """Score of one run on the final part, for the trainer. The agent must not see it before its episode ends."""

    outcome: Outcome
    """How the run ended. `ok` means that the run ended well and its submission is valid."""
    reward: float
    """Total of the preset. With `ladder`: 0 unless the outcome is `ok`, at most 1. 0 if `mask` is True."""
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
    medal: Medal | None = None
    """Medal of the rounded score on the feedback part. The final part decides over the medal that counts."""
    step: float = Field(gt=0)
    """Rounding step of all scores of this episode."""
    problems: tuple[str, ...] = ()
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


class Action(StrEnum):
    """What an agent can do in one step."""

    RUN = "run"
    """Run a script. If it leaves a valid submission, this becomes the candidate for the final score."""
    SUBMIT = "submit"
    FINISH = "finish"
    """End the episode, with the latest valid submission or with that of a named step."""


class Act(Frozen):
    """What an agent does in one step, as `MLEnv.step` takes it."""

    action: Action
    code: str = ""
    step: int | None = Field(default=None, ge=1)
    """For `finish`: number of the step whose submission is graded. None means the latest valid one."""

    @field_validator("code")
    @classmethod
    def _is_encodable(cls, code: str) -> str:
        """Replace halves of surrogate pairs, which JSON of a model can hold and neither a file nor a rollout can."""
        return code.encode(errors="replace").decode()

    @classmethod
    def run(cls, code: str) -> Self:
        """Run a script."""
        return cls(action=Action.RUN, code=code)

    @classmethod
    def submit(cls) -> Self:
        """Ask for feedback on the submission of the latest run."""
        return cls(action=Action.SUBMIT)

    @classmethod
    def finish(cls, step: int | None = None) -> Self:
        """End the episode."""
        return cls(action=Action.FINISH, step=step)


class EpisodeLimits(Frozen):
    """Limits of one episode."""

    max_steps: int = Field(default=12, ge=1)
    """Actions of all kinds together."""
    max_submissions: int = Field(default=5, ge=1)
    time_budget: float = Field(default=600.0, gt=0)
    """Seconds of all runs together. Time that runs wait for the sandbox, and the time of the model, do not count."""
    timeout: float = Field(default=30.0, gt=0, le=MOST_SECONDS)
    """Seconds of wall time of one run."""
    wall_clock: float | None = Field(default=None, gt=0)
    """Seconds of the whole episode, with waiting and with the time of the model. None means one hour more than
    `time_budget`."""

    @property
    def longest_s(self) -> float:
        """Seconds after which an episode is over, whatever the agent and the sandbox do."""
        return self.wall_clock or self.time_budget + _WAITING_S

    @property
    def closing_s(self) -> float:
        """The last seconds of an episode, in which nothing starts any more: it is ended and graded."""
        return min(_MOST_CLOSING_S, self.longest_s / 10)


class Marker(StrEnum):
    """Progress that an instrumented script prints. The script's own process can fake it."""

    IMPORTS = "imports"
    DATA_LOADED = "data_loaded"
    FEATURES = "features"
    MODEL_BUILT = "model_built"
    TRAINED = "trained"
    PREDICTED = "predicted"
    SUBMISSION_WRITTEN = "submission_written"


class Ending(StrEnum):
    """Why an episode ended."""

    FINISHED = "finished"
    STEPS = "steps"
    TIME = "time"
    STOPPED = "stopped"
    """The trainer stopped the episode, for example because the context of the model was full."""
    INFRA = "infra"
    """The sandbox or the server of the model failed. The rollout is masked."""


class Step(Frozen):
    """One action of an agent and its results."""

    number: int = Field(ge=1)
    action: Action
    code: str = ""
    """The script as the agent wrote it, without instrumentation."""
    outcome: Outcome | None = None
    """How the run ended, or the outcome of the submission; None for `finish`."""
    duration_s: float = Field(default=0.0, ge=0)
    stdout: str = ""
    stderr: str = ""
    detail: str = ""
    checks: tuple[Check, ...] = ()
    """Checks of the format that the submission of this step passed. The parent process makes them."""
    markers: tuple[Marker, ...] = ()
    """Markers in standard output of an instrumented script, each once."""
    feedback: FeedbackAnswer | None = None
    problems: tuple[str, ...] = ()
    mask: bool = False


class Usage(Frozen):
    """Use of a language model in one episode."""

    prompt_tokens: int = Field(default=0, ge=0)
    completion_tokens: int = Field(default=0, ge=0)
    seconds: float = Field(default=0.0, ge=0)
    usd: float | None = Field(default=None, ge=0)
    """Price; None if it is not known."""


class RewardParts(Frozen):
    """A reward and the parts whose sum it is."""

    preset: str
    parts: dict[str, float]
    mask: bool = False
    """True if the rollout must be left out of the loss. The parts are empty then, and the total means nothing."""

    @property
    def total(self) -> float:
        """Sum of the parts."""
        return fsum(self.parts.values())


class FactCredit(Frozen):
    """How far a submission uses one fact that the texts of its task state."""

    fact: str
    """Kind and name, such as `formula:body_mass_index`."""
    value: float | None = Field(default=None, ge=0, le=1)
    """0: not at all, 1: as far as can be expected. None: it cannot be measured on this task."""
    error: float | None = None
    """Standard error of the value."""

    @property
    def kind(self) -> str:
        """Kind of the fact, such as `formula`."""
        return self.fact.partition(":")[0]


class Rollout(Private):
    """A whole episode. Rewards are computed from it, and it can be stored as a row of Parquet.

    `grade` and `reward` are for the trainer. The agent must not see them before its episode ends.
    """

    task_id: str
    release: str = ""
    """Reference of the exact version of the release; empty for a task from a folder."""
    episode_id: str = ""
    """Random name of the episode, which traces and trackers have too; empty for rollouts of older code."""
    sample: int = Field(default=0, ge=0)
    """Number of the rollout among those of the same task."""
    isolation: Isolation | None = None
    """Weakest isolation of its scripts; `none` if one of them ran as a plain process. None: no script ran, or an older
    rollout."""
    steps: tuple[Step, ...] = ()
    ending: Ending
    grade: GradeReport | None = None
    """Grade of the chosen submission on the final part; None if the rollout is masked."""
    chosen: int | None = None
    """Number of the step whose submission was graded; None if there was no valid one."""
    facts: tuple[FactCredit, ...] = ()
    """What the chosen submission uses of the stated facts, on the final part. Empty if it was not measured."""
    format_rate: float | None = Field(default=None, ge=0, le=1)
    """Share of the model's messages in the asked-for format, if an adapter measures it."""
    mask: bool = False
    """True if the sandbox failed before the agent's code started: no failure of the agent, so not a reward of 0."""
    reward: RewardParts | None = None
    duration_s: float = Field(default=0.0, ge=0)
    """Wall time of the episode in seconds, with the time of the model."""
    model: str = ""
    usage: Usage = Usage()

    @property
    def terminated(self) -> bool:
        """Whether the agent ended the episode."""
        return self.ending is Ending.FINISHED

    @property
    def truncated(self) -> bool:
        """Whether a limit, the trainer or a fault ended the episode."""
        return not self.terminated

    @property
    def checks(self) -> tuple[Check, ...]:
        """Most checks that one submission of this rollout passed."""
        return max((step.checks for step in self.steps), key=len, default=())

    @property
    def markers(self) -> tuple[Marker, ...]:
        """Markers of all steps, each once, in the order of `Marker`."""
        found = {marker for step in self.steps for marker in step.markers}
        return tuple(marker for marker in Marker if marker in found)


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
            credits=rollout.facts,
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
    credits: tuple[FactCredit, ...] = ()
    """What its submission uses of the stated facts."""

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
    context_tokens: int | None = None
    """Longest conversation in tokens. None leaves it to the server."""
    seed: int | None = None
    operators: dict[str, float] = {}
    parents: str = ""
    """Content hash of the earlier rollouts that prompts may show."""
    memory_mb: int


class TaskPlace(Frozen):
    """Where a task belongs."""

    task_id: str
    split: str
    structure: str
    band: str
    difficulty: float = Field(ge=0, le=1)
