"""Design of what stands between a mechanism and files of atoms: which column shows in which way."""

from collections.abc import Sequence

from sandmill.kinds.crystal.channel import GeometryChannel, GeometryMedium
from sandmill.kinds.library import draw_medium
from sandmill.models.columns import Column
from sandmill.rng import Streams

BLUR = 0.04
"""In angstrom: as much as heat moves atoms."""


def choose_medium(place: float) -> GeometryMedium:
    """Return the domain of a design by its place among all."""
    return draw_medium("crystal/domains", GeometryMedium, place)


def choose_channel(medium: GeometryMedium, columns: Sequence[Column], streams: Streams) -> GeometryChannel:
    """Show what the design has. What the design lacks is chance."""
    latent = {column.name for column in columns}
    levels = {word.name: word.levels for word in medium.domain.categorical}
    named = {one.part: one.column for one in medium.laid}
    return GeometryChannel(
        column=medium.column,
        meaning=medium.meaning,
        shown=tuple(column.name for column in columns if column.name in medium.shown),
        metals=medium.metals,
        anion=medium.anion,
        foreigns=tuple(level.capitalize() for level in levels[named["foreign"] or ""]),
        ligands=tuple(level.capitalize() for level in levels[named["ligand"] or ""]),
        blur=BLUR,
        laid=tuple(
            one.model_copy(update={"column": one.column if one.column in latent else None}) for one in medium.laid
        ),
    )
