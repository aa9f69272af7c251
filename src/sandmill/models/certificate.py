"""The certificate of a version, `qc.json`: what its build measured, by release and by kind, never by task."""

from math import sqrt
from typing import Any, Self

from pydantic import Field, model_validator

from sandmill.models.base import Frozen
from sandmill.models.release import Counts

_Z = 1.6449
"""Standard errors on each side of a 90 % interval."""


class Rate(Frozen):
    """A share of tasks."""

    count: int = Field(ge=0)
    of: int = Field(ge=1)
    low: float = Field(ge=0, le=1)
    high: float = Field(ge=0, le=1)
    """`low` and `high` are a 90 % interval by Wilson's formula, as if tasks were drawn from all that builds make."""

    @classmethod
    def among(cls, count: int, of: int) -> Self | None:
        """Return the share of `count` in `of` tasks; None without tasks."""
        if not of:
            return None
        share, scale = count / of, 1 + _Z**2 / of
        middle = (share + _Z**2 / (2 * of)) / scale
        half = _Z * sqrt(share * (1 - share) / of + _Z**2 / (4 * of**2)) / scale
        return cls(count=count, of=of, low=round(max(middle - half, 0), 6), high=round(min(middle + half, 1), 6))


class Mean(Frozen):
    """A mean over tasks with a 90 % interval, which needs two tasks."""

    value: float
    low: float | None
    high: float | None
    tasks: int = Field(ge=1)


class Quantiles(Frozen):
    """Quantiles over tasks."""

    p50: float
    p95: float
    p99: float
    tasks: int = Field(ge=1)


class Explained(Frozen):
    """Figures of which some may be null."""

    not_measured: dict[str, str] = {}
    """Why a figure is null, by its name."""

    @model_validator(mode="after")
    def _nulls_have_reasons(self) -> Self:
        nulls = {name for name, value in self if value is None}
        if nulls != set(self.not_measured):
            raise ValueError(f"null are {sorted(nulls)}; reasons are given for {sorted(self.not_measured)}")
        return self

    @classmethod
    def explain(cls, reasons: dict[str, str], **figures: Any) -> Self:
        """Make the model with the reasons of those figures that are null."""
        nulls = {
            name: reasons.get(name, "no task of this group has it") for name, one in figures.items() if one is None
        }
        return cls(not_measured=nulls, **figures)


class GroupFigures(Explained):
    """Figures of all tasks, or of the tasks of one kind. What is about scripts was run before publishing."""

    tasks: int = Field(ge=1)
    designs: int = Field(ge=0)
    """Tasks less further renderings of a design."""
    bands: Counts
    """Tasks by band of difficulty."""
    in_band: Rate
    """Tasks in the band that was asked for."""
    difficulty: Mean
    difficulty_width: Mean
    """Widths of the tasks' own 90 % intervals of difficulty."""
    ceilings: Counts
    """Tasks by what is known of the best possible score: `exact`, `plug_in`, `bracket` or `wide_bracket`, whose rewards
    end at its lower end."""
    bracket_width: Quantiles | None
    """Distance of both ends of a bracket as a share of the gap."""
    verified: Rate
    """Tasks for which all seven facts held."""
    reference_gold: Rate
    """The reference script, alone in a fresh process, reached gold on rows it was not chosen on."""
    sample_wins_nothing: Rate
    """The sample submission is valid, wins no medal and closes none of the gap."""
    noop_wins_nothing: Rate
    """No submission: no score and no medal."""
    scripts_repeat: Rate
    """Each script scored in a fresh process what calibration recorded."""
    renders_equal_bytes: Rate
    """A second rendering of the design gave the same bytes."""
    best_solver_gold: Rate
    """The one solver without reading that wins most."""
    adversary_gold: Rate | None
    """A blind solver that stands outside of the leaderboard."""
    reader_gold: Rate | None
    """A solver that knows the stated facts, on tasks whose gold follows from such solvers."""
    search_gap: Mean | None
    """Share of the gap that a blind search which parses the files for forms closes on the pilot's rows."""
    search_gold: Rate | None
    """That share is not below the share at which gold lies."""
    single_column_gap: Mean | None
    """Largest share of the gap that one column closes on the pilot's rows without a model."""
    training_draws: Counts
    """Tasks by the training draws on which their thresholds were measured."""
    script_seconds: dict[str, Quantiles] | None
    """Of each column of `durations.parquet`: processor seconds of the panel's solvers."""


class Contamination(Frozen):
    """Where rows and texts come from."""

    statement: str
    seeds: int = Field(ge=0)
    compared_seeds: int = Field(ge=0)
    """Seeds that are tables, with whose rows the rows of their tasks were compared by salted hashes."""
    equal_rows_refused: int = Field(ge=0)
    """Packages that were refused for a row or rare value of such a table."""


class Certificate(Explained):
    """What the build of a version measured, and the hashes of its files.

    `sandmill verify --certificate` computes it again from the files. A signature over its bytes says who made it.
    """

    format: int = 1
    dataset: str
    version: str
    content: str
    tasks: int = Field(ge=0)
    code_version: str
    agent_env: str
    """Hash of the pinned libraries of the agent environment."""
    figures: GroupFigures
    kinds: dict[str, GroupFigures]
    libraries: dict[str, tuple[str, ...]]
    """Versions of the numeric libraries that made the tasks."""
    duplicates: Counts
    """`equal_designs`: tasks whose design an earlier task has, further renderings left out.

    `equal_files`: tasks whose files are all those of an earlier task.
    """
    prose: Counts
    """`tasks` compared, the first ones by id; `sentences` of their prompts, and those `shared` with another task; and
    `equal_prompts`, which an earlier task has. Templates and statements of metrics are among shared sentences."""
    refusals: Counts | None
    """Packages refused by each gate of the check stage."""
    guessing: dict[str, float | str | None] | None
    """Whether names and texts of the release give the roles of columns away: `reports/guessing.json`."""
    contamination: Contamination | None
    red_team: Counts | None
    """Results of scripts that attack sandbox and grader on this version."""
    files: dict[str, str]
    """SHA-256 of each file that the manifest lists, but for the card and the files that are made from these."""
