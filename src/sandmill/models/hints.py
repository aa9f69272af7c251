"""Hints and notes.

Hints are facts that the texts of a task state, and that its data hardly show. Notes are a column of free text that is
written from templates and holds values of the row.
"""

import re
from typing import Annotated, Final, Literal

from pydantic import Field, model_validator

from sandmill.models.base import Frozen
from sandmill.models.motifs import StatedForm

DATA_DICTIONARY: Final = "data_dictionary.md"
"""Public file with code tables, units and sentinels, in tasks that have any."""


class Form(Frozen):
    """A quantity that the host computes from columns or from the child table."""

    fact: Literal["form"] = "form"
    name: str = Field(pattern=r"^[a-z][a-z0-9_]*$")
    """What the text calls it, as a name for a column, such as `body_mass_index`."""
    motif: StatedForm = Field(discriminator="motif")


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


TextFile = Literal["description.md", "data_dictionary.md"]
ReadingLevel = Literal["plain", "prose", "spread", "contested"]
"""How hard a fact is to read. `plain`: columns by their names. `prose`: columns by what they mean, in free sentences.
`spread`: in two places. `contested`: beside statements that the text marks as not valid."""


class Passage(Frozen):
    """Sentences or lines of a file, word for word."""

    file: TextFile
    text: str


class Hint(Frozen):
    """A fact and the sentences that state it."""

    fact: Fact
    text: str
    """Sentences or lines of the file, word for word."""
    file: TextFile = "description.md"
    matters: bool = True
    """Whether the rule uses it. Others are true and of no use, as most of what a host says."""
    level: ReadingLevel = "plain"
    further: tuple[Passage, ...] = ()
    """Other places that a reader needs to know the fact, or that state a decoy."""
    decoys: tuple[Fact, ...] = ()
    """Facts of the same form that the text states and marks as not valid."""

    @property
    def passages(self) -> tuple[Passage, ...]:
        """All places of the texts that belong to the fact."""
        return (Passage(file=self.file, text=self.text), *self.further)

    @property
    def label(self) -> str:
        """What messages call the fact."""
        return self.fact.name if isinstance(self.fact, Form | SameUnits) else f"{self.fact.fact} of {self.fact.column}"


class NoteValue(Frozen):
    """A value and the phrases that hold it."""

    column: str
    """Column of the mechanism, with `in_text` set."""
    phrases: tuple[str, ...] = Field(min_length=1)
    """Sentences with `{value}` in it."""
    pattern: str
    """Regular expression that finds the value in every phrase and in nothing else; its first group is the value."""

    @model_validator(mode="after")
    def _phrases_hold_the_value(self) -> "NoteValue":
        if bad := [phrase for phrase in self.phrases if phrase.count("{value}") != 1]:
            raise ValueError(f"{self.column}: phrases hold {{value}} once: {bad[0]!r}")
        try:
            groups = re.compile(self.pattern).groups
        except re.error as error:
            raise ValueError(f"{self.column}: its pattern is no regular expression: {error}") from None
        if groups < 1:
            raise ValueError(f"{self.column}: its pattern has no group")
        return self

    def find(self, text: str) -> list[str]:
        """Return what the pattern finds in the notes of a row: the value alone, if the text was written by it."""
        return [found[1] for found in re.finditer(self.pattern, text)]


class Notes(Frozen):
    """The text column of a task."""

    name: str
    meaning: str
    values: tuple[NoteValue, ...]
    """Values of the row that stand in the notes; none if they mean nothing."""
    fillers: tuple[str, ...] = Field(min_length=4)
    """Sentences that mean nothing for the target. Each row has some of them, drawn at random."""
