"""Real machine-learning tasks as raw material."""

from typing import Literal

from pydantic import Field

from sandmill.models.base import Frozen
from sandmill.models.structure import Structure


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
    profile: tuple[()] = ()
    """Always empty. It stays because it is part of a seed's fingerprint."""


class UnsupportedSeed(Frozen):
    """A seed set aside. It is reported and does not count against the error budget."""

    id: str
    needs: tuple[str, ...]
    """What the seed asks for that cannot be made yet, such as `modality image`, or what must be known of it first."""
    hint: str = ""
    """What to do about it, where that is known."""


class SeedNote(Frozen):
    """A warning about a seed, such as rows that are left out. The seed is used all the same."""

    seed_id: str
    text: str


class SkippedSource(Frozen):
    """Something in a folder of seeds that is no seed."""

    source: str
    reason: str


class SeedIntake(Frozen):
    """What ingestion found: seeds that can be built on, seeds set aside, and what a person should know of either."""

    supported: tuple[SeedTask, ...]
    unsupported: tuple[UnsupportedSeed, ...] = ()
    notes: tuple[SeedNote, ...] = ()
    skipped: tuple[SkippedSource, ...] = ()
