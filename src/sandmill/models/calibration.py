"""What the panel measured on one task: leaderboard, thresholds, difficulty."""

from enum import StrEnum

from pydantic import Field

from sandmill.models.base import Band, Frozen
from sandmill.models.skills import SkillLift

BANDS_VERSION = 1
"""Raise when the cut points change: bands of different versions do not compare."""

BAND_FLOORS = {Band.EASY: 0.0, Band.MEDIUM: 0.25, Band.HARD: 0.5, Band.EXPERT: 0.75}
"""Lowest difficulty of each band; a band ends where the next begins."""


def band_ends(band: Band) -> tuple[float, float]:
    """Give the lowest difficulty of a band, and where the next one begins: 1 for the last."""
    low = BAND_FLOORS[band]
    return low, min((floor for floor in BAND_FLOORS.values() if floor > low), default=1.0)


class Tier(StrEnum):
    """Rungs of the panel's ladder."""

    TRIVIAL = "trivial"
    NAIVE = "naive"
    COMPETENT = "competent"
    STRONG = "strong"
    SEARCH = "search"


class BoardEntry(Frozen):
    """One solver's run on one task. Scores are rounded to 5 decimals, as mle-bench does before comparing."""

    solver: str
    tier: Tier
    final: float
    """Score on the final part."""
    feedback: float
    """Score on the feedback part."""


class Thresholds(Frozen):
    """Scores that earn a medal, from the leaderboard by mle-bench's rank rule, 5 decimals."""

    gold: float
    silver: float
    bronze: float
    median: float


Interval = tuple[float, float]
"""Ends of a 90 % interval from paired bootstraps."""


class Steadiness(Frozen):
    """How sure the thresholds of one part are, by bootstraps that give every entry the same resampled rows."""

    gold: Interval
    silver: Interval
    bronze: Interval
    median: Interval
    order_held: float = Field(ge=0, le=1)
    """Share of bootstraps in which gold >= silver >= bronze >= median entries keep their order."""


class Sizing(Frozen):
    """How the test got its size: once, from a pilot, whose rows are in no task."""

    pilot_rows: int
    final_rows: int
    """Rows of the final part."""
    order_foretold: float = Field(ge=0, le=1)
    """Share of bootstraps in which the pilot foretold the order of thresholds to hold at that size."""


class Difficulty(Frozen):
    """1 - clip(gap closed by the median competent default, 0, 1), with a paired-bootstrap 90 % interval."""

    value: float = Field(ge=0, le=1)
    low: float = Field(ge=0, le=1)
    high: float = Field(ge=0, le=1)
    band: Band


class SolveRate(Frozen):
    """Share of agents that reach bronze: each submits the best on feedback of a few pipelines out of a frozen lot."""

    value: float = Field(ge=0, le=1)
    low: float = Field(ge=0, le=1)
    high: float = Field(ge=0, le=1)
    """A 90 % interval, from a bootstrap over pipelines."""
    pipelines: int = Field(ge=3)
    """Pipelines that were run, failed ones included."""
    attempts: int = 3
    """Pipelines that an agent tries."""
    version: int
    """Of the distribution that the pipelines come from: rates of different versions do not compare."""


class Rung(StrEnum):
    """The scripts that are published with a task, best first."""

    REFERENCE = "reference"
    COMPETENT = "competent"
    NAIVE = "naive"


RUNG_FILES = {Rung.REFERENCE: "solution.py", Rung.COMPETENT: "competent.py", Rung.NAIVE: "naive.py"}
"""Name of each script among a task's private files."""


class ScriptScore(Frozen):
    """A script and its scores, rounded to 5 decimals."""

    rung: Rung
    file: str
    approach: str
    """What it does, as a clause."""
    feedback: float
    final: float


class Calibration(Frozen):
    """All that calibration measured on one task."""

    is_lower_better: bool
    trivial: float
    """Score of the trivial solver on the final part: 0 on the gap scale."""
    oracle: float
    """Score of Bayes' rule on the final part: 1 on the gap scale."""
    oracle_is_exact: bool
    board: tuple[BoardEntry, ...]
    """Best first by final score."""
    thresholds: Thresholds
    """Of the final part: medals."""
    feedback_thresholds: Thresholds
    """Of the feedback part, by the same rank rule on its own scores."""
    steps: tuple[float, float, float]
    """Gold to silver, silver to bronze, bronze to median, as shares of the gap between trivial and oracle."""
    steadiness: Steadiness
    feedback_steadiness: Steadiness
    sizing: Sizing
    difficulty: Difficulty
    reference: str = ""
    """Approach of the reference solution."""
    scripts: tuple[ScriptScore, ...] = ()
    """Reference, competent and naive script."""
    scripts_rise: bool = True
    """Whether each of the scripts beats the next lower one on the final part."""
    no_data: float = Field(default=0.0, ge=0)
    """Share of the gap that the best guess from description and file shapes alone closes: a little, by luck."""
    informed: float | None = None
    """Score of a solver that is told the form of the features: headroom between the board and the oracle."""
    solve_rate: SolveRate | None = None
    lifts: tuple[SkillLift, ...] = ()
    """What each skill that the design declares is worth on it."""
