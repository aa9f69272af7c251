"""Crystals as lists of atoms, whose places depend on latent columns; their files and design."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Literal

from pydantic import Field

from sandmill.kinds.files.media import MediaFiles
from sandmill.kinds.library import draw_medium
from sandmill.models.base import Frozen
from sandmill.models.channel import Channel, Cue, Medium
from sandmill.models.columns import Column
from sandmill.rng import Streams

CrystalPart = Literal[
    "length_a", "length_b", "length_c", "alpha", "beta", "gamma", "share",
    "bond", "spread", "disorder", "tilt", "bend", "vacancies", "gap", "shear", "foreign", "ligand",
]  # fmt: skip
"""Something that the atoms of a cell show, see `sandmill.kinds.crystal.render`. The last two follow categories."""

_TEXTS: Mapping[str, str] = MappingProxyType(
    {
        "share": "share of {metals[0]} among the atoms of {metals[0]} and {metals[1]}",
        "bond": "mean distance in angstrom from each atom of {anions} to the nearest atom of any other element",
        "spread": "standard deviation of the distances from each atom of {anions} to the nearest other element",
        "disorder": "root mean square distance in angstrom of the atoms other than {anions} from a regular grid of two "
        "layers with two by two places each",
        "tilt": "mean angle in degrees between the third axis (z) and the line that joins the two atoms of {anions} "
        "bound to the same atom",
        "bend": "180 degrees less the mean angle at an atom between its two bonds to {anions}",
        "vacancies": "1 less the number of atoms of {anions} over twice the number of the other atoms",
        "gap": "distance of the two layers of the atoms other than {anions} along the third lattice vector, as a share "
        "of that vector, the shorter way round",
        "shear": "shift of one layer of the atoms other than {anions} against the other along the first lattice "
        "vector, as a share of that vector, from 0 to a quarter",
        "foreign": "the element of {levels} that the cell holds, in small letters",
        "ligand": "the element of {levels} that the cell holds beside {anion}, in small letters",
    }
)
"""What people say of each part; lengths and angles of the cell need no saying, as they are cells of a table."""


class Laid(Frozen):
    """One thing that the atoms show, and the latent column that decides it."""

    part: CrystalPart
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
        known = {one.part: one.column for one in self.laid if one.column and one.column not in self.shown}
        return tuple(self._cue(part, column) for part, column in known.items() if part in _TEXTS)

    def _cue(self, part: str, column: str) -> Cue:
        levels = {"foreign": self.foreigns, "ligand": self.ligands}.get(part, ())
        parameters = levels or (self.metals if part == "share" else self.anions)
        anions = f"{', '.join(self.anions[:-1])} and {self.anions[-1]}"
        text = _TEXTS[part].format(anions=anions, anion=self.anion, metals=self.metals, levels=", ".join(levels))
        return Cue(column=column, measure=part, parameters=parameters, text=text)


class GeometryMedium(Medium):
    """Elements of the crystals of a domain, and what their files can show."""

    metals: tuple[str, str]
    anion: str
    shown: tuple[str, ...]
    """Columns that the tables hold beside the files."""
    laid: tuple[Laid, ...]


TABLE_GEOMETRY = MediaFiles(
    train_items="train/",
    test_items="test/",
    name="{id}/geometry.xyz",
    test_table="test.csv",
    item="crystal",
    cell="list of atoms",
)


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
