"""Seeds: real machine-learning tasks as raw material."""

from typing import Literal

from pydantic import Field

from sandmill.models.base import Frozen
from sandmill.models.names import HASH_PATTERN
from sandmill.models.structure import Structure


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
    profile: tuple[()] = ()
    """Always empty. It stays because it is part of a seed's fingerprint."""
    guard: str | None = Field(default=None, pattern=HASH_PATTERN)
    """SHA-256 of the salted hashes of its rows and rare values, see `sandmill.seeds.guard`. None: there is no table."""


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
    guards: dict[str, bytes] = Field(default={}, exclude=True, repr=False)
    """Salted hashes of the rows and rare values of tables, by their SHA-256."""
