"""Passages of sentences whose words depend on latent columns."""

from typing import Literal

from pydantic import Field

from sandmill.models.base import Frozen
from sandmill.models.channels.base import Channel, Medium

WordsBy = Literal["chance", "level", "share", "presence"]
"""What decides which list a word comes from.

`chance`: nothing. `level`: the level of a category. `share`: a number in 0..1 is the chance of the first of two lists.
`presence`: the number is the chance that the words are there at all.
"""


class WordSlot(Frozen):
    """One place of a sentence: a word from one of several lists."""

    by: WordsBy = "chance"
    column: str | None = None
    """Latent column that decides; a design without it draws the list evenly."""
    lists: tuple[tuple[str, ...], ...] = Field(min_length=1)
    follows: float = Field(default=1.0, gt=0, le=1)
    """Chance that a category decides; otherwise the list is drawn evenly."""


class TextChannel(Channel):
    """Passages of sentences whose words depend on latent columns."""

    kind: Literal["text"] = "text"
    fewest_sentences: int = Field(ge=1)
    most_sentences: int = Field(ge=1, le=40)
    sentence: tuple[WordSlot, ...] = Field(min_length=1)
    """Slots of every sentence, in order. A word of punctuation joins the word before it."""


class TextMedium(Medium):
    """Slots of a sentence with more words than one design uses."""

    sentence: tuple[WordSlot, ...]
