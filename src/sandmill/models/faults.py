"""Declared faults of tables: how cells and labels in the files differ from the true ones."""

from typing import Annotated, Literal

from pydantic import Field

from sandmill.models.base import Frozen


class Missing(Frozen):
    """Cells missing at random (MAR): the chance depends only on a column without faults."""

    kind: Literal["missing"] = "missing"
    column: str
    given: str
    rate: float = Field(gt=0, lt=0.95)
    slope: float = 0.0
    """Change of the log-odds of a missing cell with one standard deviation of `given`."""
    sentinel: float | None = None
    """Number that the files hold in a missing cell, such as -999; None: the cell is empty."""


class UnitMixup(Frozen):
    """Cells in another unit: the true value times a factor, without any mark in the files."""

    kind: Literal["unit_mixup"] = "unit_mixup"
    column: str
    """A lognormal column, so that values in the wrong unit are possible values."""
    factor: float = Field(gt=0)
    rate: float = Field(gt=0, lt=0.5)


class Outliers(Frozen):
    """Cells replaced by a gross error, which is independent of the true value: same centre, much larger spread."""

    kind: Literal["outliers"] = "outliers"
    column: str
    """A normal or lognormal column."""
    rate: float = Field(gt=0, lt=0.5)
    spread: float = Field(gt=1)
    """Standard deviation of the error, in standard deviations of the column (of its logarithm if it is lognormal)."""


class LabelNoise(Frozen):
    """Classes replaced by another one, drawn uniformly. In label sets, each label is flipped independently."""

    kind: Literal["label_noise"] = "label_noise"
    rate: float = Field(gt=0, lt=0.5)
    where: Literal["train", "both"] = "train"


class Distractors(Frozen):
    """Columns that look useful but are not part of the rule."""

    kind: Literal["distractors"] = "distractors"
    columns: tuple[str, ...] = Field(min_length=1)


class Duplicates(Frozen):
    """Training rows that copy an earlier row with its target. Only the training part has copies."""

    kind: Literal["duplicates"] = "duplicates"
    rate: float = Field(gt=0, lt=0.5)
    """Chance that a row is a copy."""


class MixedTypes(Frozen):
    """Numbers of which some are written as text, followed by their unit."""

    kind: Literal["mixed_types"] = "mixed_types"
    column: str
    """A numeric column."""
    rate: float = Field(gt=0, lt=1)
    suffix: str = Field(min_length=1, pattern=r"^[^,\"\n0-9]+$")


CellFault = Missing | UnitMixup | Outliers

Pathology = Annotated[
    Missing | UnitMixup | Outliers | LabelNoise | Distractors | Duplicates | MixedTypes, Field(discriminator="kind")
]
