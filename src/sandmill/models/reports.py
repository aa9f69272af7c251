"""What happened: rejections, grades, verified facts, the funnel."""

from enum import StrEnum

from pydantic import Field

from sandmill.models.base import Frozen, Stage
from sandmill.models.calibration import Thresholds


class Rejection(Frozen):
    """A design or package that failed. Kept as data; the detail never names answers, rule or thresholds."""

    slot: int
    round: int = 0
    attempt: int = 0
    replicate: int = Field(default=0, ge=0)
    """Above 0: a further rendering of a design that had filled its slot already."""
    seed_id: str
    stage: Stage
    reason: str
    """One word of a small vocabulary, such as `twins`, `no_signal`, `off_band`, `error`."""
    detail: str
    seconds: float = Field(default=0.0, ge=0)
    """Work spent on the attempt."""


class Outcome(StrEnum):
    """How a run or a submission ended."""

    OK = "ok"
    RUNTIME_ERROR = "runtime_error"
    NO_CODE = "no_code"
    NO_SUBMISSION = "no_submission"
    INVALID_SUBMISSION = "invalid_submission"
    TIMEOUT = "timeout"
    OOM = "oom"
    INFRA_ERROR = "infra_error"
    TAMPER = "tamper"


class Medal(StrEnum):
    """Exclusive: the best that was earned."""

    GOLD = "gold"
    SILVER = "silver"
    BRONZE = "bronze"


class GradeReport(Frozen):
    """One submission's grade on the final part. The private side's view: it names thresholds."""

    outcome: Outcome
    score: float | None = None
    """Rounded to 5 decimals; None unless the outcome is ok."""
    is_lower_better: bool
    thresholds: Thresholds
    medal: Medal | None = None
    above_median: bool = False
    """Strictly better than the median, as in mle-bench."""
    position: int | None = None
    """Place that the score ties or beats on the leaderboard, 1 is best, entries + 1 is last, as in MLE-Dojo."""
    position_score: float = 0.0
    """(entries - position + 1) / entries."""
    gap_closed: float | None = None
    """0 is the trivial solver, 1 the oracle; unclipped."""
    feedback_score: float | None = None
    """Score on the feedback part."""
    problems: tuple[str, ...] = ()
    """What is wrong with an invalid submission."""


class Verification(Frozen):
    """Facts established by running things, one field a fact."""

    reference_score: float | None
    """Of the reference script on the final part; None if it left no valid submission."""
    reference_is_gold: bool
    """The reference script, alone, in a fresh process on a copy of public/, reached gold on the final part."""
    reference_matches_board: bool
    """Its score equals the panel's score of the same solver."""
    sample_wins_nothing: bool
    """The sample submission is valid, wins no medal and closes none of the gap."""
    noop_wins_nothing: bool
    """No submission: no score and no medal."""
    renders_equal_bytes: bool
    """Rendering again from the design gave the same bytes."""

    @property
    def holds(self) -> bool:
        """Whether every fact is as it must be."""
        return (
            self.reference_is_gold
            and self.reference_matches_board
            and self.sample_wins_nothing
            and self.noop_wins_nothing
            and self.renders_equal_bytes
        )


class SlotReport(Frozen):
    """Cost and outcome of one slot in one shard: figures that differ between runs, so never part of a task's bytes."""

    slot: int
    round: int
    wanted: str
    reached: str | None = None
    """Band of the verified task; None if the slot stayed empty."""
    task_ids: tuple[str, ...] = ()
    attempts: int = Field(ge=0)
    seconds: dict[Stage, float] = {}
    """Work by stage, all attempts together."""


class Funnel(Frozen):
    """How many survived each stage of a build."""

    slots: int
    designed: int
    rendered: int
    calibrated: int
    checked: int
    verified: int
    filled: int
    """Slots that hold a verified task."""
    tasks: int
    """Published tasks: filled slots times replicates, less replicates that failed."""
    in_band: int
    """Filled slots whose task is in the band that was asked for."""
