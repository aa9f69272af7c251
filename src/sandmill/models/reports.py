"""What happened: rejections, grades, verified facts, the funnel."""

from enum import StrEnum

from pydantic import Field

from sandmill.models.base import Frozen, Private, Stage
from sandmill.models.calibration import Thresholds
from sandmill.models.spec import Knobs


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
    """One word of a small vocabulary, such as `twins`, `no_signal`, `off_band`. `internal_error` is a failure of our
    own code and says nothing about the design."""
    detail: str
    """What was found; of an internal error only the type of the exception, since its text may quote data."""
    seconds: float = Field(default=0.0, ge=0)
    """Work spent on the attempt."""
    usd: float = Field(default=0.0, ge=0)
    transcript: str = ""
    """Private file with all that was said over it, where a language model designed it."""
    traceback: str = ""
    """Of an internal error. It may name paths and data: kept with the shard, never in a release."""


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


class Check(StrEnum):
    """Checks of a submission in the order in which they are made. Each needs the ones before it."""

    FILE = "file"
    """The run ended well and wrote the file."""
    PARSES = "parses"
    """It is CSV of a possible size."""
    HEADER = "header"
    """It has the right columns."""
    IDS = "ids"
    """It has each id once."""
    VALUES = "values"
    """Every value is finite and allowed."""
    BEATS_TRIVIAL = "beats_trivial"
    """Its final score is better than that of the trivial solver. Only the trainer may know this."""


class Medal(StrEnum):
    """Exclusive: the best that was earned."""

    GOLD = "gold"
    SILVER = "silver"
    BRONZE = "bronze"


class GradeReport(Private):
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
    trivial: float | None = None
    oracle: float | None = None
    gap_to_gold: float | None = None
    """0 is the trivial solver, 1 the threshold of gold; unclipped."""
    ceiling_is_loose: bool = False
    """Whether the ends of the ceiling are so far apart that `gap_closed` says little."""
    ceiling_low: float | None = None
    """Best score that has been reached; None where only the oracle is known, and in grades of older versions."""
    checks: tuple[Check, ...] = ()
    feedback_score: float | None = None
    """Exact score on the feedback part. Repeated exact scores give labels away: show agents `Feedback` answers only."""
    problems: tuple[str, ...] = ()


class Verification(Frozen):
    """Facts established by running things, grouped by the seven truths that every published task has."""

    reference_score: float | None
    """Of the reference script on the final part; None if it left no valid submission."""
    is_micro: bool
    """50 to 200 training rows, as many test rows as the design says, and the reference script ran in seconds."""
    reference_is_gold: bool
    """The reference script, alone, in a fresh process on a copy of public/, reached gold on the final part."""
    script_scores: dict[str, float | None] = {}
    """Score of each script on the final part by file name; None if it left no valid submission."""
    scripts_repeat: bool
    """Each script scored what calibration recorded, to 5 decimals."""
    sample_wins_nothing: bool
    """The sample submission is valid, wins no medal and closes none of the gap."""
    noop_wins_nothing: bool
    """No submission: no score and no medal."""
    best_is_known: bool
    """The oracle is above the trivial solver, and no solver is above the oracle by more than luck."""
    thresholds_hold: bool
    """They follow from the board by the rank rule, lie 2 % of the gap apart, and their order held in 95 %."""
    difficulty_holds: bool
    """It follows from the board's competent tier, lies in its interval, and its band is the one it names."""
    nothing_given_away: bool
    """public/ holds the four files and nothing else; no target in test.csv; no threshold, solver or design named."""
    renders_equal_bytes: bool
    """Rendering again from the design gave the same bytes."""

    @property
    def truths(self) -> dict[str, bool]:
        """The seven truths in words, and whether each holds."""
        executed = (
            self.reference_is_gold,
            self.scripts_repeat,
            self.sample_wins_nothing,
            self.noop_wins_nothing,
        )
        return {
            "micro-scale": self.is_micro,
            "executed": all(executed),
            "best score known": self.best_is_known,
            "thresholds apart": self.thresholds_hold,
            "difficulty measured": self.difficulty_holds,
            "nothing given away": self.nothing_given_away,
            "same bytes again": self.renders_equal_bytes,
        }

    @property
    def holds(self) -> bool:
        """Whether every fact is as it must be."""
        return all(self.truths.values())


class AttemptReport(Frozen):
    """One step of the search within a slot: where the knobs stood, and what came of it."""

    attempt: int = Field(ge=1)
    variant: int = Field(ge=0)
    """Which fresh design of the slot; steered ones keep it."""
    hardness: float = Field(ge=0, le=1)
    knobs: Knobs = Knobs()
    train_rows: int | None = None
    difficulty: float | None = None
    """None if the attempt ended before it was measured."""
    panel_s: float | None = None
    """Processor time of the whole panel; None if it did not run to the end."""
    outcome: str
    """`verified`, or the reason of the rejection."""


class ScriptSeconds(Frozen):
    """Processor seconds of the solvers of the panel on one task: quantiles over the solvers."""

    task_id: str
    cpu_s_p50: float = Field(ge=0)
    cpu_s_p95: float = Field(ge=0)
    cpu_s_p99: float = Field(ge=0)


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
    path: tuple[AttemptReport, ...] = ()
    script_seconds: tuple[ScriptSeconds, ...] = ()
    """Of each task. Empty in reports of older code."""


class Funnel(Frozen):
    """Number of attempts that passed each stage of a build."""

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
    internal_errors: int = 0
    """Attempts that ended in a failure of our own code. They are counted in no stage."""
