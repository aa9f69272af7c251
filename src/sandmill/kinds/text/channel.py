"""Texts of sentences whose words depend on latent columns."""

from typing import Literal

from pydantic import Field, model_validator

from sandmill.models.base import Frozen
from sandmill.models.channel import Channel, Cue, Medium

WordsBy = Literal["chance", "level", "share", "presence"]
"""What decides which list a word comes from.

`chance`: nothing. `level`: the level of a category. `share`: a number in 0..1 is the share of sentences with a word of
the first of two lists. `presence`: the number is the share of sentences that have the words at all.
"""
Place = Literal["each", "first", "last"]
"""Sentences of a text that have a slot."""
Language = Literal["english", "german", "russian", "chinese"]

_MARKS = frozenset("!?.！？。")


class WordSlot(Frozen):
    """One place of a sentence: a word from one of several lists."""

    by: WordsBy = "chance"
    column: str | None = None
    """Latent column that decides; a design without it draws the list evenly."""
    lists: tuple[tuple[str, ...], ...] = Field(min_length=1)
    """An empty word leaves the place empty."""
    levels: tuple[str, ...] = ()
    """Names of the levels, one for each list, where a category decides."""
    follows: float = Field(default=1.0, gt=0, le=1)
    """Share of sentences in which a category decides; in the others the list is drawn evenly."""
    place: Place = "each"


class Nuisance(Frozen):
    """What disturbs the reading of texts. It depends on no latent column."""

    typos: float = Field(default=0.0, ge=0, le=0.2)
    """Chance that two neighbouring letters of a word are swapped."""
    loose: float = Field(default=0.0, ge=0, le=0.9)
    """Chance that a word ignores its latent column."""
    asides: float = Field(default=0.0, ge=0, le=1)
    """Chance that a sentence which says nothing follows a sentence."""
    quotes: float = Field(default=0.0, ge=0, le=1)
    """Chance that a text begins with a quotation: words of somebody else, which follow no latent column."""


class TextParts(Frozen):
    """What texts of a domain are made of, in a design and in the vocabulary that it draws from."""

    language: Language = "english"
    sentence: tuple[WordSlot, ...] = Field(min_length=1)
    """Slots of every sentence, in order. A word of punctuation joins the word before it."""
    asides: tuple[str, ...] = ()
    """Sentences that say nothing."""
    quote_lead: tuple[str, ...] = ()
    """What introduces a quotation, such as `You wrote:`."""
    title: tuple[WordSlot, ...] = ()
    """Slots of the title, if a text has one."""

    @property
    def slots(self) -> tuple[WordSlot, ...]:
        """All slots of sentences and title."""
        return (*self.sentence, *self.title)


class TextChannel(TextParts, Channel):
    """Texts of sentences whose words depend on latent columns."""

    kind: Literal["text", "text_dated", "text_labels", "json_rows"] = "text"
    fewest_sentences: int = Field(ge=1)
    most_sentences: int = Field(ge=1, le=40)
    nuisance: Nuisance = Nuisance()
    is_quoted: bool = False
    """Whether double quotes stand around every text, as some exports of forums write it."""

    @property
    def cues(self) -> tuple[Cue, ...]:
        """How each latent column shows in the words."""
        shown: dict[str, WordSlot] = {}
        for slot in self.slots:
            if slot.column and slot.by != "chance":
                shown.setdefault(slot.column, slot)
        return tuple(_cue_of(slot, column, self.column.replace("_", " ")) for column, slot in shown.items())


class TextMedium(TextParts, Medium):
    """Texts of a domain, with more words than one design uses."""

    rated: tuple[str, ...] = ()
    """Latent columns that become known only afterwards: training items alone may hold them."""
    cells: tuple[str, ...] = ()
    """Columns that files hold as cells beside the text. They show in no word."""

    @model_validator(mode="after")
    def _slots_name_columns(self) -> "TextMedium":
        levels = {word.name: len(word.levels) for word in self.domain.categorical}
        numbers = {word.name for word in self.domain.numeric}
        wanted = {"share": 2, "presence": 1}
        for slot in self.slots:
            lists = levels.get(slot.column or "", 0) if slot.by == "level" else wanted.get(slot.by, len(slot.lists))
            is_known = slot.by == "chance" or slot.column in (levels if slot.by == "level" else numbers)
            if not is_known or len(slot.lists) != lists:
                raise ValueError(f"slot of {slot.column}: saw {len(slot.lists)} lists; expected {lists}")
        unseen = (numbers | levels.keys()) - {slot.column for slot in self.slots} - {*self.cells}
        if unseen:
            raise ValueError(f"columns that neither words nor cells show: {sorted(unseen)}")
        return self


def _cue_of(slot: WordSlot, column: str, item: str) -> Cue:
    """Describe a slot. A parameter is a list of words in quotes, after its level where a category decides."""
    words = [", ".join(f'"{word}"' for word in names if word) for names in slot.lists]
    if slot.by == "presence":
        text = f"Share of the sentences of a {item} that have one of {words[0]}."
    elif slot.by == "level":
        words = [f"{level}: {listed}" for level, listed in zip(slot.levels, words, strict=True)]
        text = f"The group that most sentences of a {item} take a word or a phrase from. {'; '.join(words)}."
    elif set(slot.lists[0]) <= _MARKS:
        text = f"Share of the sentences of a {item} that end with {words[0]} and not with {words[1]}."
    else:
        text = (
            f"How often a {item} has one of {words[0]}, as a share of its places that have these or one of {words[1]}."
        )
    return Cue(column=column, measure=slot.by, parameters=tuple(words), text=text)
