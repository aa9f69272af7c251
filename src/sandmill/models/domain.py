"""Domains as data: columns with plausible distributions, meaningful pairs of columns, and targets.

A world takes the place of a domain where targets are drawn with the items. There is no rule over columns then, and a
language model chooses where items come from and what they are called.
"""

from collections.abc import Sequence
from datetime import date
from typing import ClassVar, Literal, Self

from pydantic import Field, model_validator

from sandmill.models.base import Frozen, Name
from sandmill.models.columns import Cycle, LogNormal, Normal, Quantiles, Uniform
from sandmill.models.knowledge import Knowledge, Words

LevelNames = Literal["city", "surname", "company", "street", "product_code", "postal_code", "profession", "vehicle"]
"""Kinds of level names of high-cardinality columns."""


class Named(Frozen):
    """Name and meaning of a column."""

    name: str
    meaning: str


class NumericWord(Named):
    """A numeric column that the domain offers."""

    decimals: int
    distribution: Normal | LogNormal | Uniform | Cycle = Field(discriminator="kind")


class CategoricalWord(Named):
    """A categorical column that the domain offers."""

    levels: tuple[str, ...] = Field(min_length=2)


class ShapedNumber(NumericWord):
    """A numeric column whose law resembles that of a seed's column."""

    law: Quantiles
    """Law of the cells, in place of `distribution`."""


class ShapedCategory(CategoricalWord):
    """A categorical column whose level shares resemble those of a seed's column."""

    shares: tuple[float, ...]


class HighCardinalityWord(Named):
    """A categorical column of many levels, whose names are drawn from a word list when a design asks for it."""

    level_names: LevelNames


class WordForm(Frozen):
    """A way to make a further column of a column."""

    before: str
    """What its name begins with."""
    meaning: str
    """Its meaning, with `{meaning}` for that of the column."""


class WordForms(Frozen):
    """Ways to make further columns, by what they hold."""

    number: tuple[WordForm, ...]
    count: tuple[WordForm, ...]
    flag: tuple[WordForm, ...]
    category: tuple[WordForm, ...]


class SpareWords(Frozen):
    """Columns that the tables of any domain may have, for seeds with more columns than a domain has words."""

    numbers: tuple[NumericWord, ...]
    counts: tuple[Named, ...]
    """Whole numbers from 0 on, whatever their size."""
    flags: tuple[Named, ...]
    """1 or 0."""
    pairs: tuple[CategoricalWord, ...]
    """Two named values."""
    categories: tuple[CategoricalWord, ...]
    many_levels: tuple["HighCardinalityWord", ...]
    forms: WordForms


class DateWord(Named):
    """A date column that the domain offers."""

    first: date
    days: int = Field(ge=100)


class UnitWord(Named):
    """What several rows of the domain can belong to."""

    plural: str
    """What a sentence calls several of them, such as `wards`."""
    prefix: str


class ClassTarget(Named):
    """A two-class target."""


class ManyClassTarget(ClassTarget):
    """A target with named classes."""

    classes: tuple[str, ...] = Field(min_length=7)


class NumberTarget(ClassTarget):
    """A number to predict: typical value, spread and digits."""

    location: float
    scale: float = Field(gt=0)
    decimals: int


class GradeTarget(ClassTarget):
    """A grade from 1 to a top that a design chooses; the words say what the ends mean."""

    lowest: str
    highest: str


class CountTarget(ClassTarget):
    """A number of events."""

    typical: float = Field(ge=1.5, le=15)


class LabelsTarget(ClassTarget):
    """A set of labels of which a row may have none, one or several; names are fit to be columns."""

    labels: tuple[str, ...] = Field(min_length=6)


class TargetWords(Frozen):
    """Targets of a domain, by kind. A domain made for one task has only targets of its kind."""

    binary: tuple[ClassTarget, ...] = ()
    multiclass: tuple[ManyClassTarget, ...] = ()
    regression: tuple[NumberTarget, ...] = ()
    ordinal: tuple[GradeTarget, ...] = ()
    count: tuple[CountTarget, ...] = ()
    multilabel: tuple[LabelsTarget, ...] = ()


class Domain(Frozen):
    """Vocabulary of one domain. Column names are unique; pairs and periods name columns of the domain."""

    name: str
    title: str
    row: str
    overview: tuple[str, ...]
    numeric: tuple[NumericWord, ...] = Field(min_length=10)
    categorical: tuple[CategoricalWord, ...] = Field(min_length=3)
    high_cardinality: tuple[HighCardinalityWord, ...] = Field(min_length=2)
    dates: tuple[DateWord, ...] = Field(min_length=1)
    units: tuple[UnitWord, ...] = Field(min_length=1)
    ratios: tuple[tuple[str, str], ...]
    """Pairs of numerator and denominator, both lognormal."""
    products: tuple[tuple[str, str], ...]
    """Pairs of columns that plausibly act together."""
    periods: tuple[tuple[str, float], ...]
    """Cyclic columns with their period."""
    targets: TargetWords
    knows: Knowledge = Knowledge()
    """Dependences, priors and facts. Domains without them get independent columns and no hints."""
    words: Words = Words()
    """How its people speak. Texts of domains without them repeat the meanings of columns."""

    @model_validator(mode="after")
    def _pairs_name_columns(self) -> "Domain":
        numeric = {word.name for word in self.numeric}
        paired = {name for pair in (*self.ratios, *self.products) for name in pair}
        unknown = sorted((paired | {name for name, _ in self.periods}) - numeric)
        not_lognormal = {word.name for word in self.numeric if not isinstance(word.distribution, LogNormal)}
        signed = [name for pair in self.ratios for name in pair if name in not_lognormal]
        if unknown or signed:
            raise ValueError(f"unknown columns {unknown}; columns in ratios that are not lognormal {signed}")
        return self


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
