"""Graphs of nodes of four kinds with weighted links, in which latent columns can be counted; and their design."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Literal

from pydantic import Field

from sandmill.kinds import traits
from sandmill.kinds.library import draw_medium
from sandmill.models.base import Frozen
from sandmill.models.channel import Channel, Cue, Medium
from sandmill.models.columns import Column
from sandmill.rng import Streams

ENTRY, EXIT = "in", "out"
"""Names of the two nodes between which the way of a graph leads."""
NODE_KINDS = 4
HEAVIEST = 9
"""The weight of a link is a whole number from 1 to this value."""

Trait = Literal[
    "distance", "toll", "hub", "hub_weight", "reach", "triangles", "squares", "parts", "ends", "doubles", "share",
    "touch", "weight", "hub_kind", "first_kind", "direction",
]  # fmt: skip
"""Something that a graph shows, see `sandmill.kinds.graph.render`. The last three follow categories."""

LEVELS: Mapping[Trait, int] = MappingProxyType({"hub_kind": NODE_KINDS, "first_kind": NODE_KINDS, "direction": 3})
"""Number of categories that a trait can show."""
RANGES: Mapping[Trait, tuple[float, float]] = MappingProxyType({
    "distance": (3.0, 12.0), "toll": (3.0, 7.0), "hub": (6.0, 14.0), "hub_weight": (2.5, 7.5), "reach": (1.0, 6.0),
    "triangles": (0.0, 6.0), "squares": (0.0, 5.0), "parts": (1.0, 6.0), "ends": (27.0, 42.0), "doubles": (0.0, 8.0),
    "share": (0.1, 0.6), "touch": (2.5, 7.5), "weight": (2.5, 7.5),
})  # fmt: skip
"""Value of each trait at 0 and at 1 of its column: numbers, weights and shares."""
COUNTED: frozenset[Trait] = frozenset({"distance", "hub", "reach", "triangles", "squares", "parts", "ends", "doubles"})
"""Traits that are whole numbers in a graph."""
OF_A_KIND: frozenset[Trait] = frozenset({"share", "touch", "weight"})
"""Traits that concern the first kind of node: their measures have to know its letter."""

_TEXTS: Mapping[Trait, str] = MappingProxyType(
    {
        "distance": "number of links on the shortest way from `in` to `out`",
        "toll": "mean weight of the links on the shortest way from `in` to `out`",
        "hub": "number of links of the node that has the most (the hub)",
        "hub_weight": "mean weight of the links of the hub, the node that has the most links",
        "reach": "number of links from the hub, the node that has the most links, to the nearest node of the way from "
        "`in` to `out`",
        "triangles": "number of triangles: three nodes that are linked with each other",
        "squares": "number of closed rings of four nodes",
        "parts": "number of separate parts of the graph",
        "ends": "number of nodes that are linked with one other node only",
        "doubles": "number of links that are written twice (they count once for everything else)",
        "share": "share of nodes of kind {0} among all nodes but `in` and `out`",
        "touch": "mean weight of the links of nodes of kind {0}, without links of the hub and of the way from `in` to "
        "`out`",
        "weight": "mean weight of the links that have no node of kind {0} at either end, without links of the hub and "
        "of the way from `in` to `out`",
        "hub_kind": "kind of the hub, the node that has the most links: {1}",
        "first_kind": "kind of the node next to `in`: {1}",
        "direction": "how weights change on the way from `in` to `out`: `{2[0]}` if the last link is heavier than the "
        "first, `{2[1]}` if it is lighter, `{2[2]}` if both weigh the same",
    }
)


class Traced(traits.Traced):
    """A property of a graph that can be counted, such as its triangles, and the hidden column that sets it."""

    trait: Trait


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
        return tuple(self._cue(one) for one in self.traced if one.column)

    def _cue(self, traced: Traced) -> Cue:
        first, *_ = letters = self.letters
        named = ", ".join(f"`{level}` for {letter}" for level, letter in zip(traced.levels, letters, strict=False))
        text = _TEXTS[traced.trait].format(f"`{first}`", named, traced.levels)
        if traced.trait in LEVELS:
            return Cue(column=str(traced.column), measure=traced.trait, parameters=traced.levels, text=f"{text}.")
        low, high = RANGES[traced.trait]
        known_kind = (first,) if traced.trait in OF_A_KIND else ()
        said = f"{text}; {low:g} at 0, {high:g} at 1."
        return Cue(column=str(traced.column), measure=traced.trait, parameters=(low, high, *known_kind), text=said)


class GraphMedium(GraphParts, Medium):
    """Nodes of a domain, and what their graphs can show."""


def choose_medium(place: float) -> GraphMedium:
    """Return the domain of a design by its place among all."""
    return draw_medium("graph/domains", GraphMedium, place)


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
