"""Design of what stands between a mechanism and graphs: which column shows in which way."""

from collections.abc import Sequence

from sandmill.kinds.graph.channel import ENTRY, EXIT, GraphChannel, GraphMedium
from sandmill.kinds.library import draw_medium
from sandmill.models.columns import Categorical, Column
from sandmill.rng import Streams


def choose_medium(place: float) -> GraphMedium:
    """Return the domain of a design by its place among all."""
    return draw_medium("graph/domains", GraphMedium, place)


def choose_channel(medium: GraphMedium, columns: Sequence[Column], streams: Streams) -> GraphChannel:
    """Let each trait follow its column if the design has that column, and vary at random if not."""
    levels = {
        column.name: column.distribution.levels if isinstance(column.distribution, Categorical) else ()
        for column in columns
    }
    kinds = ", ".join(f"{letter} {name}" for letter, name in zip(medium.letters, medium.node_kinds, strict=True))
    return GraphChannel(
        column=medium.column,
        meaning=f"{medium.meaning}. Each link is written as node-node:weight, and in no order. The letter of a node is "
        f"its kind ({kinds}), the number tells nodes of a graph apart, and `{ENTRY}` and `{EXIT}` have no kind",
        node_kinds=medium.node_kinds,
        traced=tuple(
            one.model_copy(update={"levels": levels[one.column]})
            if one.column in levels
            else one.model_copy(update={"column": None})
            for one in medium.traced
        ),
    )
