"""Results of the calibration of one task: leaderboard, thresholds and difficulty."""

from enum import StrEnum
from typing import Any, Literal

from pydantic import Field, model_validator

from sandmill.models.base import Band, Frozen, MedalRule, Private, Steered, drops_former

BAND_FLOORS = {Band.EASY: 0.0, Band.MEDIUM: 0.25, Band.HARD: 0.5, Band.EXPERT: 0.75}
"""Lowest difficulty of each band. A band ends where the next one begins."""


LOOSE, LOOSE_BEFORE = 0.15, 0.2
"""Share of the gap between the ends of a ceiling above which it is loose; the same in records of older releases."""


class Tier(StrEnum):
    """Strength of a solver in the panel."""

    TRIVIAL = "trivial"
    NAIVE = "naive"
    COMPETENT = "competent"
    STRONG = "strong"
    SEARCH = "search"
    ENSEMBLE = "ensemble"
    """Averages of models of several kinds that read the data alone."""
    READER = "reader"
    """Knows the facts that the texts of the task state. All others read the data alone."""


class BoardEntry(Private):
    """Scores of one solver on the final and the feedback part, rounded to 5 decimals as in mle-bench."""

    solver: str
    tier: Tier
    final: float
    feedback: float


class Thresholds(Private):
    """Scores at which medals start, and the median score of the leaderboard.

    `Calibration.rule` says how they follow from what was measured.
    """

    gold: float
    silver: float
    bronze: float
    median: float


Interval = tuple[float, float]
"""Ends of a 90 % confidence interval from paired bootstraps."""


class Steadiness(Private):
    """Uncertainty of the thresholds of one part, from paired bootstraps: all entries use the same resampled rows."""

    gold: Interval
    silver: Interval
    bronze: Interval
    median: Interval
    order_held: float = Field(ge=0, le=1)
    """Share of bootstraps in which gold, silver, bronze and median keep their order."""
    _former = model_validator(mode="before")(drops_former("pair_sd", "steps_in_sd", "hint_sd", "steps_in_hint_sd"))


class Sizing(Frozen):
    """Choice of the test size, made once from a pilot. Pilot rows are in no task."""

    pilot_rows: int
    final_rows: int
    order_foretold: float = Field(ge=0, le=1)
    """Predicted share of bootstraps in which the thresholds keep their order at this size."""


class Difficulty(Frozen):
    """1 - clip(gap closed by the median competent solver, 0, 1), with a 90 % interval."""

    value: float = Field(ge=0, le=1)
    low: float = Field(ge=0, le=1)
    high: float = Field(ge=0, le=1)
    band: Band
    interval: Literal["test_rows", "replicates"] = "test_rows"
    """`test_rows`: confidence interval from bootstraps of the test rows, for this training draw.

    `replicates`: prediction interval for another training draw and other test rows of the same mechanism.
    """


class MilestoneEntry(Private):
    """A run that decides a threshold, measured on several training draws. Scores are rounded to 5 decimals."""

    solver: str
    tier: Tier
    final: float
    feedback: float
    shares: tuple[float, ...] = Field(min_length=1)
    """Gap closed on the pilot rows after training on each draw. The first draw is that of the task."""
    on_board: bool = True
    """False for the adversary."""


class Milestones(Private):
    """The runs from which thresholds follow by the rule `milestones`."""

    gold: Literal["readers", "margin"]
    """`readers`: between the best blind run and the better readers. `margin`: a small share of the gap above it."""
    margin: float | None = None
    """Best reader less best blind run, as a share of the gap, mean of the training draws. None without readers."""
    step: float | None = Field(default=None, gt=0)
    """Least distance of neighbouring thresholds, as a share of the gap: one standard deviation of the distance of two
    unrelated entries over training draws. None in older releases, whose thresholds may lie nearer."""
    informed: float | None = None
    """Share of the gap that the informed solver closes on the rows of the pilot. It limits gold of tasks whose texts
    state nothing. None in older releases, if it failed, and if the files do not hold the columns that it would use."""
    toward: float | None = Field(default=None, gt=0, le=1)
    """How far gold lies on the way from the best blind run to the better readers. Silver then lies at that run, if it
    is above the ensembles. None without readers, and in older releases: half-way, with silver at the ensembles."""
    searched: float | None = None
    """Share of the gap that `blind_v2`, a search for forms, closes on the rows of the pilot: less than gold asks. None
    in older releases, where the texts state nothing, and if it failed."""
    column: float | None = None
    """Largest share of the gap that a single column closes on the rows of the pilot, used as the prediction without a
    model. Bronze lies above it. None in older releases, and where no column can be a prediction."""
    median: Literal["board", "plain"] = "board"
    """Runs whose middle is the median. `board`, in older releases: all but ensembles and readers. `plain`: without
    searches too, so that the median does not depend on how many there are."""
    feedback_oracle: float
    entries: tuple[MilestoneEntry, ...] = Field(min_length=1)


class Rung(StrEnum):
    """The scripts that are published with a task."""

    REFERENCE = "reference"
    COMPETENT = "competent"
    NAIVE = "naive"
    READER = "reader"
    """A short script without searched numbers. Tables have it, but those of older releases."""


LADDER = (Rung.REFERENCE, Rung.COMPETENT, Rung.NAIVE)
"""The scripts that every task has, best first."""
RUNG_FILES = {
    Rung.REFERENCE: "solution.py",
    Rung.COMPETENT: "competent.py",
    Rung.NAIVE: "naive.py",
    Rung.READER: "reader.py",
}
"""Name of each script among a task's private files."""


class ScriptScore(Private):
    """A script and its scores, rounded to 5 decimals."""

    rung: Rung
    file: str
    approach: str
    """What it does, as a clause."""
    feedback: float
    final: float


class Ceiling(Private):
    """Lower and upper bound of the best possible score on the final part."""

    low: float
    """Has been reached: by a solver of the board, a script, or a solver with many more training items."""
    high: float
    """Of the oracle, which no solver can be expected to beat."""
    kind: Literal["exact", "plug_in", "bracket"]
    """`exact`: the posterior with the metric's best decision. `plug_in`: the posterior with a usual decision.

    `bracket`: the oracle knows latent columns that items show only in part, so the best possible score lies in between.
    """
    loose_above: float | None = None
    """Share of the gap between the ends above which the ceiling is loose. None in records of older releases."""

    def is_loose(self, trivial: float) -> bool:
        """Whether the ends are so far apart that rewards end at the lower one."""
        limit = LOOSE_BEFORE if self.loose_above is None else self.loose_above
        return abs(self.high - self.low) > limit * abs(self.high - trivial)

    def width(self, trivial: float) -> float:
        """Return the distance of the ends as a share of the gap between the trivial solver and the oracle."""
        return abs(self.high - self.low) / abs(self.high - trivial)


class Calibration(Private):
    """Everything that calibration measured on one task."""

    is_lower_better: bool
    trivial: float
    """Score of the trivial solver on the final part, which is 0 on the gap scale."""
    oracle: float
    """Score of the oracle on the final part, which is 1 on the gap scale."""
    oracle_is_exact: bool
    """Whether the oracle decides as the metric wants it, and not only nearly so."""
    ceiling: Ceiling | None = None
    """None in records of older releases, in which the oracle is the ceiling."""
    board: tuple[BoardEntry, ...]
    """Leaderboard, best final score first."""
    thresholds: Thresholds
    """Thresholds of the final part, for medals."""
    feedback_thresholds: Thresholds
    """Thresholds of the feedback part, by the same rule on feedback scores."""
    steps: tuple[float, float, float]
    """Distances gold to silver, silver to bronze and bronze to median, as shares of the gap."""
    steadiness: Steadiness
    sizing: Sizing
    difficulty: Difficulty
    rule: MedalRule = "ranks"
    milestones: Milestones | None = None
    """None where the rule is `ranks`."""
    medal_hardness: dict[str, Any] | None = None
    """Chance that no script of a small group reaches silver, in records of older releases."""
    reference: str = ""
    scripts: tuple[ScriptScore, ...] = ()
    scripts_rise: bool = True
    """Whether each of the scripts that every task has beats the next lower one on the final part."""
    no_data: float = Field(default=0.0, ge=0)
    """Share of the gap closed by the best prediction from description and file shapes alone."""
    informed: float | None = None
    """Score of a solver that knows the true form of the features: headroom between leaderboard and oracle."""
    _former = model_validator(mode="before")(drops_former("feedback_steadiness", "solve_rate", "lifts"))

    @property
    def reward_end(self) -> float:
        """Score at which rewards end: that of the oracle, or the lower end of a loose ceiling."""
        ceiling = self.ceiling
        is_loose = ceiling is not None and ceiling.is_loose(self.trivial) and ceiling.low != self.trivial
        return ceiling.low if ceiling is not None and is_loose else self.oracle

    @property
    def reading_gain(self) -> float | None:
        """Share of the gap that the board's best reader closes beyond its best blind entry; None without readers."""
        best: dict[bool, float] = {}
        for entry in reversed(self.board):
            best[entry.tier is Tier.READER] = entry.final
        if len(best) < 2:
            return None
        return round((best[True] - best[False]) / (self.oracle - self.trivial), 6)

    def band_by(self, steered: Steered) -> Band:
        """Return the band of a measure; that of difficulty where medal hardness was not measured."""
        by_medals = steered == "medal_hardness" and self.medal_hardness
        return Band(by_medals["band"]) if by_medals else self.difficulty.band
