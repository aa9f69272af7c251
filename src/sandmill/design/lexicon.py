"""Domains as data: columns with plausible distributions, which pairs make sense, what can be predicted."""

from datetime import date
from functools import cache
from importlib.resources import files
from typing import Literal

import yaml
from pydantic import Field, model_validator

from sandmill.models.base import Frozen
from sandmill.models.mechanism import Cycle, LogNormal, Normal, Uniform

Dress = Literal["city", "surname", "company", "street", "product_code", "postal_code", "profession", "vehicle"]
"""What the levels of a crowded column are names of."""


class NumericWord(Frozen):
    """A numeric column that the domain offers."""

    name: str
    meaning: str
    decimals: int
    distribution: Normal | LogNormal | Uniform | Cycle = Field(discriminator="kind")


class CategoricalWord(Frozen):
    """A categorical column that the domain offers."""

    name: str
    meaning: str
    levels: tuple[str, ...] = Field(min_length=2)


class CrowdedWord(Frozen):
    """A categorical column of many levels, whose names are dressed up when a design asks for it."""

    name: str
    meaning: str
    dress: Dress


class DateWord(Frozen):
    """A date column that the domain offers."""

    name: str
    meaning: str
    first: date
    days: int = Field(ge=300)


class UnitWord(Frozen):
    """What several rows of the domain can belong to."""

    name: str
    """Column that names the unit."""
    meaning: str
    """What the column holds, such as `Ward in which the patient lay`."""
    plural: str
    """What a sentence calls several of them, such as `wards`."""
    prefix: str


class ClassTarget(Frozen):
    """A two-class target."""

    name: str
    meaning: str


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
    """What can be predicted in the domain, by kind."""

    binary: tuple[ClassTarget, ...] = Field(min_length=1)
    multiclass: tuple[ManyClassTarget, ...] = Field(min_length=1)
    regression: tuple[NumberTarget, ...] = Field(min_length=1)
    ordinal: tuple[GradeTarget, ...] = Field(min_length=1)
    count: tuple[CountTarget, ...] = Field(min_length=1)
    multilabel: tuple[LabelsTarget, ...] = Field(min_length=1)


class Domain(Frozen):
    """Vocabulary of one domain. Names of columns are unique; pairs name columns of the domain."""

    name: str
    title: str
    row: str
    overview: tuple[str, ...]
    numeric: tuple[NumericWord, ...] = Field(min_length=10)
    categorical: tuple[CategoricalWord, ...] = Field(min_length=3)
    crowded: tuple[CrowdedWord, ...] = Field(min_length=2)
    dates: tuple[DateWord, ...] = Field(min_length=1)
    units: tuple[UnitWord, ...] = Field(min_length=1)
    ratios: tuple[tuple[str, str], ...]
    """Numerator and denominator, both positive by nature."""
    products: tuple[tuple[str, str], ...]
    """Two columns that plausibly act together."""
    periods: tuple[tuple[str, float], ...]
    """Columns on a circle, with their period."""
    targets: TargetWords

    @model_validator(mode="after")
    def _pairs_name_columns(self) -> "Domain":
        numeric = {word.name: word for word in self.numeric}
        named = [
            *(name for pair in (*self.ratios, *self.products) for name in pair),
            *(name for name, _ in self.periods),
        ]
        unknown = sorted(set(named) - set(numeric))
        signed = [
            n
            for pair in self.ratios
            for n in pair
            if n in numeric and not isinstance(numeric[n].distribution, LogNormal)
        ]
        if unknown or signed:
            raise ValueError(f"unknown columns {unknown}; columns in ratios that are not lognormal {signed}")
        return self


_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""The fast one where PyYAML was built with it: every worker process reads all domains."""


@cache
def load_domains() -> tuple[Domain, ...]:
    """Read all domains that come with the library, by name."""
    folder = files("sandmill.design").joinpath("domains")
    texts = (path.read_text() for path in folder.iterdir() if path.name.endswith(".yaml"))
    return tuple(
        sorted((Domain.model_validate(yaml.load(text, _Loader)) for text in texts), key=lambda domain: domain.name)
    )
