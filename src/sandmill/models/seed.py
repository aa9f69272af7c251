"""Real machine-learning tasks as raw material."""

from typing import Literal

from pydantic import Field

from sandmill.models.base import Frozen
from sandmill.models.structure import MOST_ROWS, Structure


class ColumnProfile(Frozen):
    """What one column of a real table looks like: figures only, never values of rows."""

    name: str
    kind: Literal["numeric", "categorical", "date", "text", "identifier"]
    distinct: int = Field(ge=0, le=MOST_ROWS)
    missing_share: float = Field(ge=0, le=1)
    skew: float | None = None
    """Third standardised moment, numeric columns only."""
    dependence: float | None = Field(default=None, ge=0, le=1)
    """Correlation ratio or absolute correlation with the target; None where it cannot be computed."""


class SeedTask(Frozen):
    """A real task that designs descend from: facts in our own words, with source and licence."""

    id: str = Field(pattern=r"^[a-z0-9][a-z0-9-]*$")
    title: str = Field(min_length=1)
    summary: str = Field(min_length=1)
    structure: Structure
    source: str = Field(min_length=1)
    """Where the real task lives: competition, data set or paper, by name."""
    licence: str = Field(min_length=1)
    """Terms of the real data. Its rows are never copied into a task."""
    origin: Literal["card", "folder", "mlebench"] = "card"
    profile: tuple[ColumnProfile, ...] = ()


class SeedIntake(Frozen):
    """What ingestion found: seeds that can be built on, and those whose structure is not supported yet."""

    supported: tuple[SeedTask, ...]
    unsupported: tuple["UnsupportedSeed", ...] = ()


class UnsupportedSeed(Frozen):
    """A sound seed set aside. It is reported and does not count against the error budget."""

    id: str
    needs: tuple[str, ...]
    """What the seed asks for that cannot be made yet, such as `target multi_target` or `metric rmsle_columns`."""
