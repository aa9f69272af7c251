"""Hints: facts that the texts of a task state, and that its data hardly show."""

from typing import Annotated, Literal

from pydantic import Field

from sandmill.models.base import Frozen
from sandmill.models.motifs import Aggregate, CodeValue, Conditional, Distance, Formula, NormDistance

DATA_DICTIONARY = "data_dictionary.md"
"""Public file with code tables, units and sentinels, in tasks that have any."""


class Form(Frozen):
    """A quantity that the host computes from columns or from the child table."""

    fact: Literal["form"] = "form"
    name: str = Field(pattern=r"^[a-z][a-z0-9_]*$")
    """What the text calls it, as a name for a column, such as `body_mass_index`."""
    motif: Formula | Conditional | NormDistance | CodeValue | Aggregate | Distance = Field(discriminator="motif")


class Sentinel(Frozen):
    """A number that stands for a missing cell."""

    fact: Literal["sentinel"] = "sentinel"
    column: str
    value: float


class Units(Frozen):
    """Cells in another unit for some levels of a category. The column's `conversion` has the numbers."""

    fact: Literal["units"] = "units"
    column: str
    by: str
    factors: tuple[float, ...]
    offsets: tuple[float, ...]
    """written = factor * true + offset, for each level of `by` in the order of its codes."""


class InText(Frozen):
    """A value that the notes of a row hold."""

    fact: Literal["in_text"] = "in_text"
    column: str
    """Name of the value. The files have no column of this name."""
    notes: str
    """Name of the column with the notes."""
    pattern: str
    """Regular expression whose first group is the value, a number or a word."""
    levels: tuple[str, ...] = ()
    """Words of a category, in the order of its codes; empty for a number."""


class SameUnits(Frozen):
    """Units that have rows in training and in test, each named by two columns together."""

    fact: Literal["same_units"] = "same_units"
    name: str = Field(pattern=r"^[a-z][a-z0-9_]*$")
    """What a unit is called, as a name for a column."""
    columns: tuple[str, str]
    """Categorical columns of which every pair of levels is another unit."""


Fact = Annotated[Form | Sentinel | Units | InText | SameUnits, Field(discriminator="fact")]


class Hint(Frozen):
    """A fact and the sentences that state it."""

    fact: Fact
    text: str
    """Sentences or lines of the file, word for word."""
    file: Literal["description.md", "data_dictionary.md"] = "description.md"
    matters: bool = True
    """Whether the rule uses it. Others are true and of no use, as most of what a host says."""
