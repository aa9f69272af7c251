"""Graphs of nodes of four kinds with weighted links, in which latent columns can be counted; and their design."""

from collections.abc import Sequence
from functools import partial
from typing import Annotated, Literal

from pydantic import Field

from sandmill.kinds import traits
from sandmill.kinds.library import draw_medium, load_table
from sandmill.models.base import Frozen
from sandmill.models.channel import Channel, Cue, Medium
from sandmill.models.columns import Column
from sandmill.rng import Streams

ENTRY, EXIT = "in", "out"
"""Names of the two nodes between which the way of a graph leads."""
NODE_KINDS = 4
HEAVIEST = 9
"""The weight of a link is a whole number from 1 to this value."""


class Trait(traits.Trait):
    """Something that a graph shows, see `sandmill.kinds.graph.render`."""

    is_counted: bool = False
    """Whether it is a whole number in a graph."""
    is_of_a_kind: bool = False
    """Whether it concerns the first kind of node: its measure has to know the letter."""


TRAITS = load_table("graph/traits.yaml", Trait)


class Traced(traits.Traced):
    """A property of a graph that can be counted, such as its triangles, and the hidden column that sets it."""

    trait: Annotated[str, traits.known(TRAITS)]


class GraphParts(Frozen):
    """What graphs of a domain are made of, in a design and in the vocabulary that it draws from."""

    node_kinds: tuple[str, ...] = Field(min_length=NODE_KINDS, max_length=NODE_KINDS)
    """Kinds of nodes. The first letter of each stands for it in the cells, so no two begin alike."""
    traced: tuple[Traced, ...] = Field(min_length=1)

    @property
    def letters(self) -> tuple[str, ...]:
        """Letter of each kind of node."""
        return tuple(name[0].upper() for name in self.node_kinds)


class GraphChannel(GraphParts, Channel):
    """Lists of links between nodes; each node has a kind and each link a weight."""

    kind: Literal["graph_table"] = "graph_table"

    @property
    def cues(self) -> tuple[Cue, ...]:
        """How each latent column can be counted."""
        return tuple(self._cue(one, TRAITS[one.trait]) for one in self.traced if one.column)

    def _cue(self, traced: Traced, trait: Trait) -> Cue:
        first, *_ = letters = self.letters
        named = ", ".join(f"`{level}` for {letter}" for level, letter in zip(traced.levels, letters, strict=False))
        text = trait.text.format(f"`{first}`", named, traced.levels)
        cue = traits.cue_of(traced, trait, text, *((first,) if trait.is_of_a_kind else ()))
        return cue if trait.levels else cue.model_copy(update={"text": f"{cue.text} Below 0.02 it counts as 0.02."})


class GraphMedium(GraphParts, Medium):
    """Nodes of a domain, and what their graphs can show."""


choose_medium = partial(draw_medium, "graph/domains", GraphMedium)
"""Returns the domain of a design by its place among all."""


def choose_channel(medium: GraphMedium, columns: Sequence[Column], streams: Streams) -> GraphChannel:
    """Let each trait follow its column if the design has that column, and vary at random if not."""
    kinds = ", ".join(f"{letter} {name}" for letter, name in zip(medium.letters, medium.node_kinds, strict=True))
    return GraphChannel(
        column=medium.column,
        meaning=f"{medium.meaning}. Each link is written as node-node:weight, and in no order. The letter of a node is "
        f"its kind ({kinds}), the number tells nodes of a graph apart, and `{ENTRY}` and `{EXIT}` have no kind",
        node_kinds=medium.node_kinds,
        traced=traits.follow(medium.traced, columns),
    )
