"""Slots and shards. They are fixed before any work, so that any process can do it and a killed run can resume."""

from dataclasses import dataclass

from pydantic import Field

from sandmill.models.base import Band, Frozen
from sandmill.models.design_draft import Authorship, DesignDraft
from sandmill.models.domain import ItemWorld, SpokenWorld
from sandmill.models.hints import ReadingLevel
from sandmill.models.reports import Rejection
from sandmill.models.request import BuildRequest
from sandmill.models.seed import SeedNote, SeedTask, SkippedSource, UnsupportedSeed
from sandmill.models.structure import Structure


class Slot(Frozen):
    """One place of a release to be filled."""

    number: int = Field(ge=0)
    seed: SeedTask
    band: Band
    reading: ReadingLevel = "plain"
    """How its texts state facts."""
    place: float | None = Field(default=None, ge=0, lt=1)
    """Where its domain stands in the list of all, from 0 to 1, so that domains come up evenly. None: it is drawn."""
    draft: DesignDraft | None = None
    """Choices of a language model for its design. None: the grammar draws all of it."""
    world: ItemWorld | SpokenWorld | None = None
    """Texts of a language model for a design without a rule over columns. None: those of the library."""
    authorship: Authorship | None = None

    @property
    def structure(self) -> Structure:
        """The seed's structure, with the draft's metric and split where there is one."""
        return self.draft.structure_of(self.seed.structure) if self.draft else self.seed.structure

    def without_scores(self) -> "Slot":
        """Return the slot with a seed on whose table no model was scored: only the band sets the noise of a design."""
        structure = self.seed.structure
        profile = structure.profile
        if profile is None:
            return self
        unscored = profile.model_copy(update={"linear_score": None, "boosting_score": None})
        known = structure.model_copy(update={"profile": unscored})
        return self.model_copy(update={"seed": self.seed.model_copy(update={"structure": known})})


@dataclass(frozen=True)
class Attempt:
    """One try at filling a slot."""

    slot: Slot
    round: int
    number: int
    variant: int
    """Number of the fresh design within the slot."""
    hardness: float
    parent: str | None = None
    """Fingerprint of the design that this one is steered from."""
    any_band: bool = False
    replicate: int = 0
    design_band: Band | None = None
    """Band that the design is made for, if not the slot's: what texts state depends on it."""
    has_scores: bool = True
    """Whether scores of models on the seed's table, if they are known, decide how well the target can be known."""

    @property
    def design_slot(self) -> Slot:
        """The slot that is designed: with `design_band`, and without the scores of its seed unless `has_scores`."""
        slot = self.slot.model_copy(update={"band": self.design_band or self.slot.band})
        return slot if self.has_scores else slot.without_scores()


class BuildPlan(Frozen):
    """Everything that a build does, by content and not by paths."""

    request: BuildRequest
    fingerprint: str
    """Of the request and of the seeds' content."""
    seeds: tuple[SeedTask, ...]
    unsupported: tuple[UnsupportedSeed, ...] = ()
    """Seeds that are set aside: they are reported, and no task is made from them."""
    notes: tuple[SeedNote, ...] = ()
    skipped: tuple[SkippedSource, ...] = ()


class ShardPlan(Frozen):
    """The slots that one Prefect task run fills."""

    dataset: str
    key: str
    """(plan fingerprint, code version, secret id, round, slots) in one hash: names the shard's folder."""
    plan_fingerprint: str
    code: str = ""
    """From `code_version` where the build was planned. Empty: not compared."""
    replicates: int = Field(ge=1)
    round: int = Field(default=0, ge=0)
    slots: tuple[Slot, ...] = Field(min_length=1)
    designer: str = "grammar"
    held_out: float = 0.08
    """Share of held-out domains, as asked for."""
    refusals: tuple[Rejection, ...] = ()
    """Slots for which the language models gave no design. They stay empty in this round."""

    @property
    def title(self) -> str:
        """Name for people, such as `slots 0 to 19`."""
        title = f"slots {self.slots[0].number} to {self.slots[-1].number}"
        return title if self.round == 0 else f"{title}, round {self.round + 1}"


class ShardRef(Frozen):
    """A finished shard in the store."""

    dataset: str
    key: str
    round: int
    filled: tuple[int, ...]
    """Numbers of the slots that hold a verified task."""
    slots: tuple[int, ...] = ()
    """Numbers of all its slots. Empty for tasks that are taken over from an earlier version."""
