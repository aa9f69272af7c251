"""Facts that bring columns of their own into a design: units of both files, and distances between two places."""

from dataclasses import dataclass
from math import cos, radians
from typing import TypeAlias

from sandmill.models.columns import Normal
from sandmill.models.domain import CategoricalWord, Domain, NumericWord
from sandmill.models.knowledge import DistanceWord, PlaceWord, SameUnitsWord, UnitPartWord
from sandmill.models.structure import SplitKind
from sandmill.rng import Streams

OwnFact: TypeAlias = SameUnitsWord | DistanceWord

_CHANCE_OF_ONE = 0.7
"""Chance that a design of a domain that knows such facts has one of them."""
_CHANCE_OF_USE = 0.65
"""Chance that the rule uses it. Otherwise its columns would show that they matter."""
_KM_OF_DEGREE = 111.2
"""Kilometres of a degree of latitude."""
_DECIMALS = 4
"""Decimals of coordinates: steps of about ten metres."""


@dataclass(frozen=True)
class OwnColumns:
    """A fact of a design that brings columns of its own, if there is one."""

    word: OwnFact | None = None
    matters: bool = False
    """Whether the rule uses the fact."""

    @property
    def told(self) -> tuple[OwnFact, ...]:
        """The fact, if the rule uses it."""
        return (self.word,) if self.word and self.matters else ()

    @property
    def spare(self) -> tuple[OwnFact, ...]:
        """The fact, if the rule does not use it."""
        return (self.word,) if self.word and not self.matters else ()

    def added_to(self, domain: Domain) -> Domain:
        """Return the domain with the columns of the fact."""
        match self.word:
            case SameUnitsWord(place=place, number=number):
                return domain.model_copy(update={"categorical": (*domain.categorical, *map(_levels, (place, number)))})
            case DistanceWord(start=start, end=end):
                places = (*_coordinates(start), *_coordinates(end))
                return domain.model_copy(update={"numeric": (*domain.numeric, *places)})
            case None:
                return domain


def draw_own_columns(domain: Domain, split: SplitKind, streams: Streams) -> OwnColumns:
    """Draw a fact with columns of its own; none in some designs.

    A grouped split has units that no test row shares, so no fact may speak of units in both files.
    """
    words: tuple[OwnFact, ...] = domain.knows.distances
    if split is not SplitKind.GROUPED:
        words = (*domain.knows.same_units, *words)
    if not words:
        return OwnColumns()
    rng = streams.generator("own columns")
    has_one, is_used, place = rng.random() < _CHANCE_OF_ONE, rng.random() < _CHANCE_OF_USE, rng.random()
    return OwnColumns(words[int(place * len(words))], bool(is_used)) if has_one else OwnColumns()


def columns_of_place(word: PlaceWord) -> tuple[str, str]:
    """Return the names of the columns with latitude and longitude."""
    return f"{word.name}_lat", f"{word.name}_lon"


def _levels(word: UnitPartWord) -> CategoricalWord:
    return CategoricalWord(name=word.name, meaning=word.meaning, levels=word.levels)


def _coordinates(word: PlaceWord) -> tuple[NumericWord, NumericWord]:
    north = word.spread_km / _KM_OF_DEGREE
    ends = (word.latitude, north), (word.longitude, north / cos(radians(word.latitude)))
    latitude, longitude = (
        NumericWord(
            name=name,
            meaning=f"{kind} of {word.of} in degrees",
            decimals=_DECIMALS,
            distribution=Normal(mean=middle, sd=round(spread, 5)),
        )
        for name, kind, (middle, spread) in zip(columns_of_place(word), ("Latitude", "Longitude"), ends, strict=True)
    )
    return latitude, longitude
