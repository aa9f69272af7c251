"""Texts of sentences whose words depend on latent columns, and their design."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from pydantic import Field

from sandmill.kinds.library import draw_medium
from sandmill.models.base import Frozen
from sandmill.models.channel import Channel, Cue, Medium
from sandmill.models.columns import Categorical, Column, Date, Unit
from sandmill.rng import Streams

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


_WORDS_OF_A_LIST = 3
"""Words of a longer list that one design uses, so that no word means the same in all designs."""
_MOST_TYPOS, _MOST_LOOSE, _MOST_ASIDES, _MOST_QUOTES = 0.05, 0.25, 0.3, 0.4
"""Largest strength of each disturbance. A design draws one below it; all but quotations are scaled by hardness."""
_LONG_PASSAGES = 3.6
"""Length of passages at hardness 0, relative to that at 1."""
_ALL_WORDS = 0.5
"""Hardness from which passages have all of their words."""
_FEWEST_TELLING = 2
"""Words that are left of a list in slots that follow a column. With one, general features find what readers measure."""
_MOST_RATED = 3
"""Columns that training items alone hold, at most."""
_QUOTED = "Some begin with what somebody else wrote, between quotation marks"


@dataclass(frozen=True)
class TextDesign:
    """How designs of one kind of text are made."""

    kind: Literal["text", "text_dated", "text_labels", "json_rows"]
    folder: str
    """Folder with the domains of the kind."""
    fewest_sentences: int
    most_sentences: int
    is_quoted: bool = False
    has_quotations: bool = False
    """Whether texts may quote other texts."""
    disturbance: float = 1.0
    """Strength of what disturbs the reading. Log loss over classes is hard enough with little of it."""

    def choose_medium(self, place: float) -> TextMedium:
        """Return the domain of a design by its place among all of the kind."""
        return draw_medium(self.folder, TextMedium, place)

    def choose_channel(self, medium: TextMedium, columns: Sequence[Column], streams: Streams) -> TextChannel:
        """Draw which words stand for which latent value. A slot whose column the design lacks follows nothing."""
        known, rng = {column.name: column for column in columns}, streams.generator("text channel")
        strengths = self.disturbance * streams.generator("nuisance of texts").random(4)
        most = (_MOST_TYPOS, _MOST_LOOSE, _MOST_ASIDES, _MOST_QUOTES if self.has_quotations else 0.0)
        typos, loose, asides, quotes = (
            round(strength * top, 4) for strength, top in zip(strengths.tolist(), most, strict=True)
        )
        nuisance = Nuisance(typos=typos, loose=loose, asides=asides, quotes=quotes)
        held = [column.name for column in columns if isinstance(column.distribution, Date | Unit)]
        shown = [name for name in known if name in medium.cells or name in held]
        return TextChannel(
            kind=self.kind,
            column=medium.column,
            meaning=f"{medium.meaning}. {_QUOTED}" if nuisance.quotes else medium.meaning,
            shown=tuple(shown),
            only_in_training=tuple(name for name in medium.rated if name in known)[:_MOST_RATED],
            fewest_sentences=self.fewest_sentences,
            most_sentences=self.most_sentences,
            language=medium.language,
            sentence=tuple(_drawn(slot, known, medium.rated, rng) for slot in medium.sentence),
            title=tuple(_drawn(slot, known, medium.rated, rng) for slot in medium.title),
            asides=medium.asides,
            quote_lead=medium.quote_lead,
            nuisance=nuisance,
            is_quoted=self.is_quoted,
        )


def _drawn(slot: WordSlot, known: dict[str, Column], rated: Sequence[str], rng: np.random.Generator) -> WordSlot:
    """Draw the words of a slot, and which list a large share stands for unless files state the share."""
    kept = [sorted(rng.permutation(len(words))[:_WORDS_OF_A_LIST]) for words in slot.lists]
    lists = tuple(tuple(words[place] for place in places) for words, places in zip(slot.lists, kept, strict=True))
    turned = rng.random() < 0.5 and slot.by == "share" and slot.column not in rated
    column = known.get(slot.column or "")
    law = column.distribution if column else None
    return slot.model_copy(
        update={
            "lists": lists[::-1] if turned else lists,
            "column": column.name if column else None,
            "levels": law.levels if slot.by == "level" and isinstance(law, Categorical) else (),
        }
    )


def disturb(channel: TextChannel, hardness: float) -> TextChannel:
    """Let easy designs have little of what disturbs the reading of texts."""
    drawn = channel.nuisance
    scaled = {name: round(value * hardness, 4) for name, value in drawn.model_dump().items() if name != "quotes"}
    return channel.model_copy(update={"nuisance": drawn.model_copy(update=scaled)})


def disturb_passages(channel: TextChannel, hardness: float) -> TextChannel:
    """Let easy designs have long passages of few words, and no phrases that follow no column.

    Hard designs have the passages that were drawn.
    """
    longer = _LONG_PASSAGES + (1 - _LONG_PASSAGES) * hardness
    share = min(1.0, hardness / _ALL_WORDS)
    slots = []
    for slot in channel.sentence:
        if hardness < _ALL_WORDS and not slot.column and slot.by == "presence":
            continue
        # Slots have fewer words, and follow their columns in more sentences.
        lists, fewest = (slot.lists, _FEWEST_TELLING) if slot.column or share == 1 else (slot.lists[:1], 1)
        kept = tuple(words[: max(fewest, round(len(words) * share))] for words in lists)
        follows = round(1 - (1 - slot.follows) * share, 4)
        slots.append(slot.model_copy(update={"lists": kept, "follows": follows}))
    return disturb(channel, hardness).model_copy(
        update={
            "fewest_sentences": round(channel.fewest_sentences * longer),
            "most_sentences": round(channel.most_sentences * longer),
            "sentence": tuple(slots),
        }
    )


PASSAGES = TextDesign("text", "text/domains/passages", fewest_sentences=7, most_sentences=9, disturbance=0.3)
COMMENTS = TextDesign(
    "text_dated", "text/domains/comments", fewest_sentences=3, most_sentences=5, is_quoted=True, has_quotations=True
)
POSTS = TextDesign("text_labels", "text/domains/posts", fewest_sentences=3, most_sentences=5, has_quotations=True)
REQUESTS = TextDesign("json_rows", "text/domains/requests", fewest_sentences=3, most_sentences=5)
