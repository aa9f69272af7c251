"""Slots and shards: fixed before any work, so that any worker can do any of it and a killed run can resume."""

from pydantic import Field

from sandmill.models.base import Band, Frozen
from sandmill.models.design_draft import Authorship, DesignDraft
from sandmill.models.reports import Rejection
from sandmill.models.request import BuildRequest
from sandmill.models.seed import SeedNote, SeedTask, SkippedSource, UnsupportedSeed
from sandmill.models.structure import Structure


class Slot(Frozen):
    """One place of a release to be filled."""

    number: int = Field(ge=0)
    seed: SeedTask
    band: Band
    draft: DesignDraft | None = None
    """What a language model settled of its design; None: the grammar draws all of it."""
    authorship: Authorship | None = None
    """Who wrote the draft."""

    @property
    def structure(self) -> Structure:
        """The seed's structure, with the draft's metric and split where there is one."""
        return self.draft.structure_of(self.seed.structure) if self.draft else self.seed.structure


class BuildPlan(Frozen):
    """All that a build will do, in terms of content and not of paths."""

    request: BuildRequest
    fingerprint: str
    """Of the request and of the seeds' content."""
    seeds: tuple[SeedTask, ...]
    unsupported: tuple[UnsupportedSeed, ...] = ()
    """Seeds set aside: reported, never built on."""
    notes: tuple[SeedNote, ...] = ()
    """Warnings about seeds: reported."""
    skipped: tuple[SkippedSource, ...] = ()
    """What lay in folders of seeds and is no seed: reported."""


class ShardPlan(Frozen):
    """The slots that one Prefect task run fills."""

    dataset: str
    """`<root>/<dataset>`."""
    key: str
    """(plan fingerprint, code version, secret id, round, slots) in one hash: names the shard's folder."""
    plan_fingerprint: str
    replicates: int = Field(ge=1)
    round: int = Field(default=0, ge=0)
    slots: tuple[Slot, ...] = Field(min_length=1)
    designer: str = "grammar"
    refusals: tuple[Rejection, ...] = ()
    """Slots that no design came of, and why: they stay empty in this round."""

    @property
    def title(self) -> str:
        """What a person calls it, such as `slots 0 to 19`."""
        title = f"slots {self.slots[0].number} to {self.slots[-1].number}"
        return title if self.round == 0 else f"{title}, round {self.round + 1}"


class ShardRef(Frozen):
    """A finished shard in the store."""

    dataset: str
    key: str
    round: int
    filled: tuple[int, ...]
    """Numbers of the slots that hold a verified task."""
    empty: tuple[int, ...]
    reused: bool = False
    """It had been finished by an earlier run."""
