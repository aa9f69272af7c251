"""Faults of real tables, declared: what stands between the true cell or label and the one in the files."""

from typing import Annotated, Literal

from pydantic import Field

from sandmill.models.base import Frozen


class Missing(Frozen):
    """Cells missing at random: the chance of a gap depends only on a column that is always there."""

    kind: Literal["missing"] = "missing"
    column: str
    given: str
    rate: float = Field(gt=0, lt=0.6)
    slope: float = 0.0
    """Change of the log-odds of a gap with one standard deviation of `given`."""


class UnitMixup(Frozen):
    """Cells written in another unit: the true value times a factor, without a mark."""

    kind: Literal["unit_mixup"] = "unit_mixup"
    column: str
    """Lognormal, so that a value in the wrong unit is still a value."""
    factor: float = Field(gt=0)
    rate: float = Field(gt=0, lt=0.5)


class Outliers(Frozen):
    """Cells replaced by a gross error that says nothing of the true value: same centre, spread many times as wide."""

    kind: Literal["outliers"] = "outliers"
    column: str
    """Normal or lognormal."""
    rate: float = Field(gt=0, lt=0.5)
    spread: float = Field(gt=1)
    """Standard deviation of the error, in the column's own (of the logarithm, for lognormal columns)."""


class LabelNoise(Frozen):
    """Labels replaced by a uniformly drawn other class; of a set of labels, each one flipped."""

    kind: Literal["label_noise"] = "label_noise"
    rate: float = Field(gt=0, lt=0.5)
    where: Literal["train", "both"] = "train"


class Distractors(Frozen):
    """Columns that look useful and are not part of the rule."""

    kind: Literal["distractors"] = "distractors"
    columns: tuple[str, ...] = Field(min_length=1)


class Duplicates(Frozen):
    """Training rows that are copies of an earlier one, target and all. Parts and units never share a copy."""

    kind: Literal["duplicates"] = "duplicates"
    rate: float = Field(gt=0, lt=0.5)
    """Chance of a row to be a copy."""


class MixedTypes(Frozen):
    """Numbers of which some are written as text, with their unit behind them."""

    kind: Literal["mixed_types"] = "mixed_types"
    column: str
    """A numeric column."""
    rate: float = Field(gt=0, lt=1)
    suffix: str = Field(min_length=1, pattern=r"^[^,\"\n0-9]+$")


CellFault = Missing | UnitMixup | Outliers

Pathology = Annotated[
    Missing | UnitMixup | Outliers | LabelNoise | Distractors | Duplicates | MixedTypes, Field(discriminator="kind")
]
