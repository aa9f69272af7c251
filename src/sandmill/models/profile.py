"""Profile of a table: how it looks in numbers, without any of its names and values."""

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from sandmill.models.base import Frozen

MOST_PROFILED = 60
"""Input columns of a profile. Of a wider table, columns at even distances are kept."""
SMALL_ROWS = 150
"""Rows of the sample on which traits are measured that depend on the number of rows, since tasks have about as many."""

Share = Annotated[float, Field(ge=0, le=1)]


class ColumnRole(StrEnum):
    """What an input column holds."""

    REAL = "real"
    """Numbers, some with a fraction."""
    WHOLE = "whole"
    """Numbers without fractions, more than two different ones."""
    BINARY = "binary"
    """Two different values, numbers or words."""
    CATEGORY = "category"
    """Words that repeat, more than two different ones."""
    DATE = "date"
    TEXT = "text"


class ColumnProfile(Frozen):
    """One input column."""

    role: ColumnRole
    levels: int = Field(ge=0)
    """Different values that are present, over all profiled rows."""
    missing: Share = 0.0
    """Share of empty cells."""
    top_share: Share = 0.0
    """Share of the commonest value among the cells that are present."""
    distinct_share: Share = 0.0
    """Different values by present cells, in samples of `SMALL_ROWS` rows."""
    skew: float | None = None
    """Skewness of real and whole numbers, from -10 to 10."""
    kurtosis: float | None = None
    """Excess kurtosis of real and whole numbers, from -3 to 50."""


class TableProfile(Frozen):
    """Input columns, target and signal of a table. Numbers are rounded, so that they are equal on all machines."""

    rows: int = Field(ge=1)
    """Rows of the table that have a target, profiled or not."""
    n_columns: int = Field(ge=0)
    """Input columns, without targets and ids. `columns` may have fewer."""
    columns: tuple[ColumnProfile, ...] = Field(default=(), max_length=MOST_PROFILED)
    class_shares: tuple[Share, ...] = ()
    """Shares of the classes, largest first; of labels (multilabel) the rate of each. Empty for numbers as targets."""
    target_skew: float | None = None
    """Skewness of a target of numbers, from -10 to 10."""
    target_top_share: Share | None = None
    """Share of the commonest value of a target of numbers."""
    rho_share: Share | None = None
    """Share of the pairs of number columns with a rank correlation beyond .3. None: fewer than two such columns."""
    rho_mean: Share | None = None
    """Mean absolute rank correlation of pairs of number columns."""
    linear_score: float | None = Field(default=None, ge=0, le=1)
    """Cross-validated score of a linear model at `SMALL_ROWS` rows: 0 trivial answer, 1 no error. None: unknown."""
    boosting_score: float | None = Field(default=None, ge=0, le=1)
    """The same of gradient boosting."""
    extra_files: int = Field(default=0, ge=0)
    """Data files beside the table (or train, test and sample submission)."""
    has_dictionary: bool = False
    """Whether one of them describes columns."""
    has_child: bool = False
    """Whether one of the extra files is a child table: several of its rows belong to one row of the table."""
