"""Seeds: real machine-learning tasks as raw material."""

from typing import Literal

from pydantic import Field

from sandmill.models.base import Frozen
from sandmill.models.structure import MOST_ROWS, Structure


class ColumnProfile(Frozen):
    """Statistics of one column of a real table, without any values of rows."""

    name: str
    kind: Literal["numeric", "categorical", "date", "text", "identifier"]
    distinct: int = Field(ge=0, le=MOST_ROWS)
    missing_share: float = Field(ge=0, le=1)
    skew: float | None = None
    """Third standardised moment, for numeric columns only."""
    dependence: float | None = Field(default=None, ge=0, le=1)
    """Correlation ratio or absolute correlation with the target; None where it cannot be computed."""


class SeedTask(Frozen):
    """A real task from which designs are made: facts in our own words, with source and licence."""

    id: str = Field(pattern=r"^[a-z0-9][a-z0-9-]*$")
    title: str = Field(min_length=1)
    summary: str = Field(min_length=1)
    structure: Structure
    source: str = Field(min_length=1)
    """Name of the competition, data set or paper of the real task."""
    licence: str = Field(min_length=1)
    """Licence of the real data. Its rows are never copied into a task."""
    origin: Literal["card", "folder", "mlebench"] = "card"
    profile: tuple[ColumnProfile, ...] = ()


class UnsupportedSeed(Frozen):
    """A seed that cannot be used. It is reported and does not count against the error budget."""

    id: str
    needs: tuple[str, ...]
    """Unsupported features of the seed, such as `modality image`, or missing information about it."""
    hint: str = ""
    """What the user can do, if known."""


class SeedNote(Frozen):
    """A warning about a seed, such as omitted rows. The seed is used."""

    seed_id: str
    text: str


class SkippedSource(Frozen):
    """A file or folder among the seeds that is not a seed."""

    source: str
    reason: str


class SeedIntake(Frozen):
    """Result of ingestion: supported and unsupported seeds, warnings, and skipped files."""

    supported: tuple[SeedTask, ...]
    unsupported: tuple[UnsupportedSeed, ...] = ()
    notes: tuple[SeedNote, ...] = ()
    skipped: tuple[SkippedSource, ...] = ()
