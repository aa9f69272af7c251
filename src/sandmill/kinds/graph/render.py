"""Render graphs from latent columns: a way from `in` to `out`, a hub beside it, rings, loose ends, separate parts.

The hub has the most links of all nodes. Rings of three and four nodes hang on nodes around the hub and share no link,
so each can be counted. Weights depend on where a link is: on the way, at the hub, or elsewhere.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from sandmill.kinds.graph.channel import ENTRY, EXIT, HEAVIEST, NODE_KINDS, TRAITS, GraphChannel
from sandmill.kinds.traits import generators, trait_values
from sandmill.mechanism.columns import Floats
from sandmill.mechanism.row_numbers import RowNumbers

_MOST_LINKS = 4
"""Links of a node that is not the hub, at most. The hub has more."""
_CHAIN = 3
"""Nodes of a separate part."""
_CLIMB = 3.0
"""Difference between the first and the last weight of a way that rises or falls."""
_RISING, _FALLING = 0, 1
Shown = Mapping[str, float]


@dataclass
class _Graph:
    """A graph while it grows. Nodes are numbers; the first two are the entry and the exit."""

    way: list[tuple[int, int]] = field(default_factory=list)
    around_hub: list[tuple[int, int]] = field(default_factory=list)
    elsewhere: list[tuple[int, int]] = field(default_factory=list)
    degrees: list[int] = field(default_factory=lambda: [0, 0])
    hub: int = -1

    def add_node(self) -> int:
        self.degrees.append(0)
        return len(self.degrees) - 1

    def link(self, links: list[tuple[int, int]], one: int, other: int) -> None:
        links.append((one, other))
        self.degrees[one] += 1
        self.degrees[other] += 1

    def chain(self, first: int, new: int, links: list[tuple[int, int]]) -> int:
        """Grow a chain of new nodes from a node, and return its last one."""
        for _ in range(new):
            following = self.add_node()
            self.link(links, first, following)
            first = following
        return first

    def hosts(self, first: int, free: int) -> list[int]:
        """Nodes from a number on that may still get so many links."""
        return [
            node
            for node in range(first, len(self.degrees))
            if node != self.hub and self.degrees[node] + free <= _MOST_LINKS
        ]


def render_graphs(channel: GraphChannel, latents: Mapping[str, Floats], row_numbers: RowNumbers) -> list[str]:
    """Write the links of a graph for each row, from the random numbers and latent values of that row alone."""
    values = {one.trait: trait_values("trait", one, TRAITS[one.trait], latents, row_numbers) for one in channel.traced}
    values = {trait: np.rint(found) if TRAITS[trait].is_counted else found for trait, found in values.items()}
    cells = []
    for row, rng in enumerate(generators("graphs", row_numbers)):
        of_row = {trait: float(found[row]) for trait, found in values.items()}
        graph = _grown(of_row, rng)
        kinds = _kinds(graph, of_row, rng)
        cells.append(_written(list(_weighted(graph, kinds, of_row, rng)), kinds, of_row, channel.letters, rng))
    return cells


def _grown(shown: Shown, rng: np.random.Generator) -> _Graph:
    """Return a graph with the counts that its row asks for."""
    graph = _Graph()
    inner = graph.chain(0, int(shown["distance"]) - 1, graph.way)
    graph.link(graph.way, inner, 1)
    beside = int(rng.integers(2, len(graph.degrees)))
    last = graph.chain(beside, int(shown["reach"]) - 1, graph.elsewhere)
    graph.hub = graph.add_node()
    graph.link(graph.around_hub, last, graph.hub)
    outer = len(graph.degrees)
    for _ in range(int(shown["hub"]) - 1):
        graph.link(graph.around_hub, graph.hub, graph.add_node())
    for length, trait in ((3, "triangles"), (4, "squares")):
        for _ in range(int(shown[trait])):
            host = int(rng.choice(graph.hosts(outer, 2)))
            graph.link(graph.elsewhere, graph.chain(host, length - 1, graph.elsewhere), host)
    for _ in range(int(shown["parts"]) - 1):
        graph.chain(graph.add_node(), _CHAIN - 1, graph.elsewhere)
    while graph.degrees.count(1) < shown["ends"]:
        graph.chain(int(rng.choice(graph.hosts(2, 1))), 1, graph.elsewhere)
    return graph


def _kinds(graph: _Graph, shown: Shown, rng: np.random.Generator) -> NDArray[np.intp]:
    """Return the kind of each node. The entry and the exit have none, their number is -1."""
    nodes = len(graph.degrees)
    kinds = np.full(nodes, -1)
    first = graph.way[0][1]
    kinds[graph.hub], kinds[first] = int(shown["hub_kind"]), int(shown["first_kind"])
    free = rng.permutation(np.flatnonzero((np.arange(nodes) > 1) & (kinds < 0)))
    missing = round(shown["share"] * (nodes - 2)) - int((kinds == 0).sum())
    wanted = min(max(missing, 0), len(free))
    kinds[free[:wanted]] = 0
    kinds[free[wanted:]] = rng.integers(1, NODE_KINDS, len(free) - wanted)
    return kinds


def _weighted(
    graph: _Graph, kinds: NDArray[np.intp], shown: Shown, rng: np.random.Generator
) -> Iterator[tuple[int, int, int]]:
    """Yield both nodes and the weight of each link. Weights on the way rise, fall, or end as they began."""
    links = len(graph.way)
    slope = {_RISING: _CLIMB, _FALLING: -_CLIMB}.get(int(shown["direction"]), 0.0)
    wanted = shown["toll"] + slope * (np.arange(links) / (links - 1) - 0.5)
    weights = np.floor(np.clip(wanted, 1, HEAVIEST) + rng.random(links)).astype(int)
    if not slope:
        weights[-1] = weights[0]
    for (one, other), weight in zip(graph.way, weights.tolist(), strict=True):
        yield one, other, weight
    for around, trait in ((graph.around_hub, "hub_weight"), (graph.elsewhere, "")):
        for one, other in around:
            touches = "touch" if 0 in (kinds[one], kinds[other]) else "weight"
            mean = shown[trait or touches]
            yield one, other, 1 + int(rng.binomial(HEAVIEST - 1, (mean - 1) / (HEAVIEST - 1)))


def _written(
    links: list[tuple[int, int, int]],
    kinds: NDArray[np.intp],
    shown: Shown,
    letters: tuple[str, ...],
    rng: np.random.Generator,
) -> str:
    """Write links in random order and direction, some of them twice; numbers of nodes mean nothing."""
    numbers = rng.permutation(len(kinds)) + 1
    names = [f"{letters[kind]}{number}" for kind, number in zip(kinds, numbers, strict=True)]
    names[0], names[1] = ENTRY, EXIT
    again = rng.permutation(len(links))[: int(shown["doubles"])]
    all_links = links + [links[place] for place in again]
    turned = rng.random(len(all_links)) < 0.5
    texts = []
    for place in rng.permutation(len(all_links)):
        one, other, weight = all_links[place]
        one, other = (other, one) if turned[place] else (one, other)
        texts.append(f"{names[one]}-{names[other]}:{weight}")
    return " ".join(texts)
