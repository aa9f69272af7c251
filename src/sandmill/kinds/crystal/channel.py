"""Crystals as lists of atoms, whose places depend on latent columns; their files and design."""

from collections.abc import Sequence
from functools import partial
from typing import Annotated, Literal

from pydantic import Field

from sandmill.kinds.library import draw_medium, load_table
from sandmill.kinds.traits import Trait, known
from sandmill.models.base import Frozen
from sandmill.models.channel import Channel, Cue, Medium
from sandmill.models.columns import Column
from sandmill.rng import Streams

TRAITS = load_table("crystal/traits.yaml", Trait)
"""What the atoms of a cell show, see `sandmill.kinds.crystal.render`. The last two follow categories. Lengths and
angles of the cell have no text, as they are cells of a table."""


class Laid(Frozen):
    """One thing that the atoms show, and the latent column that decides it."""

    part: Annotated[str, known(TRAITS)]
    column: str | None = None
    """None: chance decides."""


class GeometryChannel(Channel):
    """A file of lattice vectors and atoms for each crystal: two layers of metals, each with two bound anions."""

    kind: Literal["table_geometry"] = "table_geometry"
    metals: tuple[str, str]
    """Symbols of the two metals; the first has the share."""
    anion: str
    foreigns: tuple[str, ...]
    """Symbols of the metals of which a cell holds one atom, in the order of the codes of their category."""
    ligands: tuple[str, ...]
    """Symbols of the anions of which a cell holds one atom, likewise."""
    blur: float = Field(ge=0, le=0.5)
    """Standard deviation of every written coordinate, in angstrom."""
    laid: tuple[Laid, ...] = Field(min_length=1)

    @property
    def anions(self) -> tuple[str, ...]:
        """Symbols of all anions."""
        return (self.anion, *self.ligands)

    @property
    def cues(self) -> tuple[Cue, ...]:
        """How each column that is in no table shows in the places of the atoms."""
        unseen = {one.part: one.column for one in self.laid if one.column and one.column not in self.shown}
        return tuple(self._cue(part, column) for part, column in unseen.items() if TRAITS[part].text)

    def _cue(self, part: str, column: str) -> Cue:
        levels = {"foreign": self.foreigns, "ligand": self.ligands}.get(part, ())
        parameters = levels or (self.metals if part == "share" else self.anions)
        anions = f"{', '.join(self.anions[:-1])} and {self.anions[-1]}"
        text = TRAITS[part].text.format(anions=anions, anion=self.anion, metals=self.metals, levels=", ".join(levels))
        return Cue(column=column, measure=part, parameters=parameters, text=text)


class GeometryMedium(Medium):
    """Elements of the crystals of a domain, and what their files can show."""

    metals: tuple[str, str]
    anion: str
    shown: tuple[str, ...]
    """Columns that the tables hold beside the files."""
    laid: tuple[Laid, ...]


BLUR = 0.04
"""In angstrom: as much as heat moves atoms."""


choose_medium = partial(draw_medium, "crystal/domains", GeometryMedium)
"""Returns the domain of a design by its place among all."""


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
