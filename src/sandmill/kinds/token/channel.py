"""Sentences of tokens that are written in one way and read aloud in another."""

from typing import Literal

from pydantic import Field, model_validator

from sandmill.models.base import Frozen
from sandmill.models.channel import Channel, Cue


class Reading(Frozen):
    """One way to read the tokens of a group aloud, with the words that usually stand beside it."""

    label: str
    """Class of the token, as training files name it."""
    share: float = Field(default=1.0, gt=0)
    """Frequency among the readings of its group."""
    reader: str | None = None
    """Name of a reader of the language."""
    says: tuple[str, ...] = ()
    """Words for each pattern of the group, in place of a reader."""
    left: tuple[str, ...] = ()
    """What can stand before the token; words are separated by spaces."""
    right: tuple[str, ...] = ()
    """What can stand after it. Three forms separated by slashes follow the number in the token: one, few, many."""


class TokenGroup(Frozen):
    """Tokens of one shape. Where they have several readings, the words beside them tell which is meant."""

    name: str
    patterns: tuple[str, ...] = Field(min_length=1)
    """Patterns of the tokens, see `kinds.token.patterns`. The first are the most frequent if `is_ranked`."""
    readings: tuple[Reading, ...] = Field(min_length=1)
    weight: float = Field(default=1.0, ge=0)
    """Frequency among the groups."""
    is_ranked: bool = False
    """Whether the k-th pattern is k times as rare as the first."""

    @model_validator(mode="after")
    def _every_token_can_be_read(self) -> "TokenGroup":
        if any((reading.reader is None) != (len(reading.says) == len(self.patterns)) for reading in self.readings):
            raise ValueError(f"{self.name}: a reading has a reader, or words for each pattern")
        return self


class HouseRule(Cue):
    """How a house reads tokens of one shape. The description states it, and training sentences do not show it."""

    column: str = "before"
    measure: str = "house"
    place: Literal["list", "house"] = "house"
    label: str
    """Class of the tokens."""
    patterns: tuple[str, ...] = Field(min_length=1)
    """Patterns of the tokens, see `kinds.token.patterns`."""
    match: str
    """Regular expression of the tokens."""
    says: str
    """Words, with the name of a reader in braces for each group of the expression."""
    left: tuple[str, ...] = Field(min_length=1)
    right: tuple[str, ...] = Field(min_length=1)
    """What can stand before and after such a token."""


class TokenChannel(Channel):
    """Sentences: an opening, several phrases around a token of a group, and an end."""

    kind: Literal["tokens_english", "tokens_russian"]
    language: Literal["english", "russian"]
    groups: tuple[TokenGroup, ...] = Field(min_length=1)
    openings: tuple[str, ...] = Field(min_length=1)
    links: tuple[str, ...] = Field(min_length=1)
    """What can stand between two phrases."""
    closings: tuple[str, ...] = Field(min_length=1)
    blur: float = Field(ge=0, lt=1)
    """Chance that the words beside a token are those of any reading of its group."""
    bare: float = Field(ge=0, lt=1)
    """Chance that nothing stands before a token."""
    slips: float = Field(ge=0, lt=0.5)
    """Chance that whoever wrote the answers left a token as it is."""
    places: int = Field(ge=5, le=200)
    """Most tokens of a sentence."""
    house: tuple[HouseRule, ...] = ()
    """Rules of the house."""
    house_from: float = 0.0
    """Day from which the house follows its rules. Training sentences are older, and test sentences are not."""
    house_share: float = Field(default=0.0, ge=0, lt=1)
    """Chance that a phrase from that day on has a token of the rules."""

    @property
    def cues(self) -> tuple[Cue, ...]:
        """The rules of the house, which its description states."""
        return self.house
