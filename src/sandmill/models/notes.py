"""Notes: a column of free text that is written from templates and holds values of the row."""

import re

from pydantic import Field, model_validator

from sandmill.models.base import Frozen


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
    values: tuple[NoteValue, ...] = Field(min_length=1)
    fillers: tuple[str, ...] = Field(min_length=4)
    """Sentences that mean nothing for the target. Each row has some of them, drawn at random."""
