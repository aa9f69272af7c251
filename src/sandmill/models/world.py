"""The world of items whose targets are drawn with them: the texts that a language model writes for such a task.

Other tasks have a rule over columns, and their drafts choose it, see `models.design_draft`. Here nothing is to choose
but where items come from and what they are called.
"""

from collections.abc import Sequence
from typing import ClassVar, Self

from pydantic import Field

from sandmill.models.base import Frozen, Name


class World(Frozen):
    """Where the items of a task come from, and what is wanted of them."""

    name: Name
    title: str = Field(min_length=3, max_length=51)
    row: str = Field(max_length=90)
    overview: tuple[str, ...] = Field(min_length=3, max_length=5)
    target_meaning: str = Field(min_length=8, max_length=110)
    baselines: tuple[str, ...] = Field(min_length=3, max_length=5)
    """Approaches that a solver may try, from simple to complex. Recorded, but no part of the task."""


class ItemWorld(World):
    """A world whose items are files."""

    item: str = Field(min_length=3, max_length=90)
    """What an item is called in the list of files."""


class SpokenWorld(World):
    """A world whose items are sentences, each of an opening, phrases with links between them, and a closing."""

    openings: tuple[str, ...] = Field(min_length=5, max_length=12)
    links: tuple[str, ...] = Field(min_length=3, max_length=8)
    closings: tuple[str, ...] = Field(min_length=3, max_length=8)


class WorldMedium(Frozen):
    """What items of one domain are, with texts that those of a world can replace."""

    answer: ClassVar[type[World]] = World
    """Schema of worlds for it."""
    target_ending: ClassVar[str] = ""
    """What the meaning of the target ends with, whatever the world."""
    replaced: ClassVar[frozenset[str]] = frozenset({"name", "title", "row", "overview"})
    """Fields that a world replaces by its own of the same name."""

    name: str
    title: str
    row: str
    overview: tuple[str, ...]
    target_meaning: str

    def dressed(self, world: World) -> Self:
        """Return the medium with the texts of a world."""
        texts = {name: getattr(world, name) for name in self.replaced}
        return self.model_copy(update={**texts, "target_meaning": f"{world.target_meaning}{self.target_ending}"})

    def problems_of(self, world: World) -> Sequence[str]:
        """List what keeps a world from fitting the medium, beside faults of its texts."""
        return ()
