"""Steps and rollouts: what an agent did in an episode on one task, and what it earned."""

from enum import StrEnum
from math import fsum
from typing import Self

from pydantic import Field, field_validator

from sandmill.models.base import Frozen, Private
from sandmill.models.episode import FeedbackAnswer
from sandmill.models.reports import Check, GradeReport, Outcome
from sandmill.models.run import MOST_SECONDS


class Action(StrEnum):
    """What an agent can do in one step."""

    RUN = "run"
    """Run a script. If it leaves a valid submission, this becomes the candidate for the final score."""
    SUBMIT = "submit"
    """Ask for feedback on the submission of the latest run."""
    FINISH = "finish"
    """End the episode, with the latest valid submission or with that of a named step."""


class Act(Frozen):
    """What an agent does in one step, as `MLEnv.step` takes it."""

    action: Action
    code: str = ""
    """The script to run."""
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
    """Valid submissions that get feedback."""
    time_budget: float = Field(default=600.0, gt=0)
    """Seconds of all runs together. Time that runs wait for the sandbox, and the time of the model, do not count."""
    timeout: float = Field(default=30.0, gt=0, le=MOST_SECONDS)
    """Seconds of wall time of one run."""


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
    """The agent chose to finish."""
    STEPS = "steps"
    """The last of `max_steps` was used."""
    TIME = "time"
    """The time budget was used."""
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
    """Wall time of the agent's code in seconds."""
    stdout: str = ""
    stderr: str = ""
    detail: str = ""
    """Explanation of the outcome."""
    checks: tuple[Check, ...] = ()
    """Checks of the format that the submission of this step passed. The parent process makes them."""
    markers: tuple[Marker, ...] = ()
    """Markers in standard output of an instrumented script, each once."""
    feedback: FeedbackAnswer | None = None
    problems: tuple[str, ...] = ()
    """Format problems of its submission."""
    mask: bool = False
    """True if the sandbox failed before the agent's code started."""


class Usage(Frozen):
    """Use of a language model in one episode."""

    prompt_tokens: int = Field(default=0, ge=0)
    completion_tokens: int = Field(default=0, ge=0)
    seconds: float = Field(default=0.0, ge=0)
    """Time waited for the model."""
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


class Rollout(Private):
    """A whole episode. Rewards are computed from it, and it can be stored as a row of Parquet.

    `grade` and `reward` are for the trainer. The agent must not see them before its episode ends.
    """

    task_id: str
    release: str = ""
    """Reference of the exact version of the release; empty for a task from a folder."""
    sample: int = Field(default=0, ge=0)
    """Number of the rollout among those of the same task."""
    steps: tuple[Step, ...] = ()
    ending: Ending
    grade: GradeReport | None = None
    """Grade of the chosen submission on the final part; None if the rollout is masked."""
    chosen: int | None = None
    """Number of the step whose submission was graded; None if there was no valid one."""
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
