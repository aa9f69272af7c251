"""Texts whose sentences say what latent columns hold, and their design."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from pydantic import Field, model_validator

from sandmill.kinds.library import draw_medium
from sandmill.models.base import Frozen
from sandmill.models.channel import Channel, Cue, Medium
from sandmill.models.columns import Categorical, Column, Date, Unit
from sandmill.rng import Streams

SaidBy = Literal["chance", "level", "grade", "presence"]
"""What decides which list a slot takes a template from.

`chance`: nothing. `level`: the level of a category. `grade`: a number in 0..1; lists are in rising order, and a number
between two of them is said with the one or the other in turn. `presence`: the number is the share of places at which
the slot says anything at all.
"""
Language = Literal["english", "german", "russian", "chinese"]
_BETWEEN = re.compile(r"\s*[|\n]\s*")
_FORMER = ("sentence", "quote_lead", "fewest_sentences", "most_sentences")


class Slot(Frozen):
    """Templates for one place of a text, in one or several lists.

    In a template, `{name}` stands for another slot and `<3-27>` for a number. A template may have forms for different
    places of a sentence, such as cases of a noun, with ` / ` between them: `{name.1}` stands for the second. A latent
    column is told by the part in square brackets, or by the whole template where there are none.
    """

    by: SaidBy = "chance"
    column: str | None = None
    """Latent column that decides. In a design without it, chance does; categories then agree within a text."""
    lists: tuple[tuple[str, ...], ...] = Field(min_length=1)
    levels: tuple[str, ...] = ()
    """Names of the levels, one for each list, where a category decides."""
    meaning: str = ""
    """Meaning of the column. Empty in a design without it."""
    follows: float = Field(default=0.95, gt=0, le=1)
    """Share of texts in which a category decides."""

    @model_validator(mode="before")
    @classmethod
    def _of_text(cls, data: Any) -> Any:
        """Read lists that are one text, with `|` or a new line between templates. A text alone is a list of chance."""
        given = {"lists": [data]} if isinstance(data, str) else data
        if not isinstance(given, dict):
            return given
        lists = (_BETWEEN.split(one.strip()) if isinstance(one, str) else one for one in given.get("lists", ()))
        return {**given, "lists": tuple(lists)}

    @property
    def is_word(self) -> bool:
        """Whether no template holds another slot."""
        return not any("{" in template for templates in self.lists for template in templates)

    @property
    def markers(self) -> Iterator[list[str]]:
        """Parts of the templates that tell the column, for each list."""
        for templates in self.lists:
            yield [re.sub(r".*\[(.*)\].*", r"\1", template) for template in templates]


class Nuisance(Frozen):
    """What disturbs the reading of texts. It depends on no latent column."""

    typos: float = Field(default=0.0, ge=0, le=0.2)
    """Chance that two neighbouring letters of a word are swapped."""
    loose: float = Field(default=0.0, ge=0, le=0.9)
    """Chance that a slot ignores its latent column."""
    asides: float = Field(default=0.0, ge=0, le=1)
    """Chance that a sentence of the slot `aside` follows a sentence."""
    quotes: float = Field(default=0.0, ge=0, le=1)
    """Chance that a text begins with the slot `quotation`: words of somebody else, which follow no latent column."""


class TextParts(Frozen):
    """What texts of a domain are made of, in a design and in the stock that it draws from."""

    language: Language = "english"
    slots: Mapping[str, Slot] = {}
    """By name. `ending` closes sentences that have no mark; `aside`, `quotation` and `title` are optional."""
    plans: tuple[tuple[str, ...], ...] = ()
    """Orders of the slots that are sentences. Each pass of a text follows one of them."""
    headings: tuple[str, ...] = ()
    """What stands before each pass, such as a day."""
    extras: tuple[str, ...] = ()
    """Slots that may add a sentence after each sentence but the last."""
    once: tuple[str, ...] = ()
    """Slots that say the same wherever they stand in a text, such as the place that it is about."""
    anew: tuple[str, ...] = ()
    """Those of `once` that are drawn anew for each pass through the plan."""

    def is_whole(self, slot: Slot) -> bool:
        """Whether designs use all templates of a slot: sentences that else would stand twice in a text of passes."""
        return bool(self.anew) and not slot.is_word


class TextChannel(TextParts, Channel):
    """Texts whose sentences say what latent columns hold."""

    kind: Literal["text", "text_dated", "text_labels", "json_rows"] = "text"
    repeats: int = Field(default=1, ge=1, le=9)
    """How often a text goes through its plan."""
    nuisance: Nuisance = Nuisance()
    is_quoted: bool = False
    """Whether double quotes stand around every text, as some exports of forums write it."""

    @model_validator(mode="before")
    @classmethod
    def _without_former(cls, data: Any) -> Any:
        """Leave out how channels of older releases made sentences. Their texts are stored, and not rendered again."""
        if isinstance(data, dict) and "sentence" in data:
            return {key: value for key, value in data.items() if key not in (*_FORMER, "title", "asides")}
        return data

    @property
    def cues(self) -> tuple[Cue, ...]:
        """How each latent column shows in the words."""
        columns = dict.fromkeys(slot.column for slot in self.slots.values() if slot.column and slot.meaning)
        return tuple(self._cue_of(column) for column in columns)

    def _cue_of(self, column: str) -> Cue:
        """Describe a column. A parameter is a list of words in quotes, after its level where a category decides."""
        own = [slot for slot in self.slots.values() if slot.column == column]
        markers = zip(*(slot.markers for slot in own), strict=True)
        lists = [", ".join(f'"{word}"' for group in groups for word in group) for groups in markers]
        first = own[0]
        if first.by == "presence":
            text = f"{first.meaning}. Such sentences have one of {lists[0]}."
        elif first.by == "level":
            lists = [f"{level}: {listed}" for level, listed in zip(first.levels, lists, strict=True)]
            text = f"{first.meaning}. {'; '.join(lists)}."
        elif len(lists) == len((".", "!")):  # a share of marks, which has no steps
            text = f"{first.meaning}: {lists[1]} instead of {lists[0]}."
        else:
            text = f"{first.meaning}, from 0 to 1 in equal steps: {'; then '.join(lists)}."
        return Cue(column=column, measure=first.by, parameters=tuple(lists), text=text)


class TextMedium(TextParts, Medium):
    """Texts of a domain, with more templates than one design uses."""

    rated: tuple[str, ...] = ()
    """Latent columns that become known only afterwards: training items alone may hold them."""
    cells: tuple[str, ...] = ()
    """Columns that files hold as cells beside the text. They show in no word."""


_KEPT, _FEWEST_KEPT, _MOST_KEPT = 0.4, 2, 5
"""Share of the templates of a list that one design uses, and the least and the largest number of them."""
_MOST_TYPOS, _MOST_LOOSE, _MOST_ASIDES, _MOST_QUOTES = 0.004, 0.15, 0.2, 0.4
"""Largest strength of each disturbance. A design draws one below it; all but quotations are scaled by hardness."""
_MOST_RATED = 3
"""Columns that training items alone hold, at most."""
_QUOTED = "Some begin with what somebody else wrote, between quotation marks"


@dataclass(frozen=True)
class TextDesign:
    """How designs of one kind of text are made."""

    kind: Literal["text", "text_dated", "text_labels", "json_rows"]
    folder: str
    """Folder with the domains of the kind."""
    is_quoted: bool = False
    has_quotations: bool = False
    """Whether texts may quote other texts."""
    disturbance: float = 1.0
    """Strength of what disturbs the reading. Log loss over classes is hard enough with little of it."""

    def choose_medium(self, place: float) -> TextMedium:
        """Return the domain of a design by its place among all of the kind."""
        return draw_medium(self.folder, TextMedium, place)

    def choose_channel(self, medium: TextMedium, columns: Sequence[Column], streams: Streams) -> TextChannel:
        """Draw the templates of a design. A slot whose column the design lacks follows nothing."""
        known = {column.name: column for column in columns}
        meanings = {word.name: word.meaning for word in (*medium.domain.numeric, *medium.domain.categorical)}
        strengths = self.disturbance * streams.generator("nuisance of texts").random(4)
        most = (_MOST_TYPOS, _MOST_LOOSE, _MOST_ASIDES, _MOST_QUOTES if self.has_quotations else 0.0)
        drawn = zip(Nuisance.model_fields, strengths.tolist(), most, strict=True)
        nuisance = Nuisance.model_validate({name: round(strength * top, 4) for name, strength, top in drawn})
        held = {word.name for word in medium.domain.high_cardinality}
        held |= {column.name for column in columns if isinstance(column.distribution, Date | Unit)}
        return TextChannel(
            kind=self.kind,
            column=medium.column,
            meaning=f"{medium.meaning}. {_QUOTED}" if nuisance.quotes else medium.meaning,
            shown=tuple(name for name in known if name in medium.cells or name in held),
            only_in_training=tuple(name for name in medium.rated if name in known)[:_MOST_RATED],
            language=medium.language,
            slots={
                name: _drawn(
                    slot, known, meanings, None if medium.is_whole(slot) else streams.generator(f"slot {name}")
                )
                for name, slot in medium.slots.items()
            },
            **{part: getattr(medium, part) for part in ("plans", "headings", "extras", "once", "anew")},
            nuisance=nuisance,
            is_quoted=self.is_quoted,
        )


def _drawn(slot: Slot, known: Mapping[str, Column], said: Mapping[str, str], rng: np.random.Generator | None) -> Slot:
    """Draw the templates of a slot; without a generator, use all of them."""
    column = known.get(slot.column or "")
    law = column.distribution if column else None
    return slot.model_copy(
        update={
            "lists": tuple(_kept(templates, rng) for templates in slot.lists) if rng else slot.lists,
            "meaning": said[column.name] if column else "",
            "levels": law.levels if slot.by == "level" and isinstance(law, Categorical) else (),
        }
    )


def _kept(templates: tuple[str, ...], rng: np.random.Generator) -> tuple[str, ...]:
    places = rng.permutation(len(templates))[: min(max(_FEWEST_KEPT, round(_KEPT * len(templates))), _MOST_KEPT)]
    return tuple(templates[place] for place in sorted(places))


def disturb(channel: TextChannel, hardness: float) -> TextChannel:
    """Let easy designs have little of what disturbs the reading of texts, and one template in each list that tells."""
    scaled = {name: round(value * hardness, 4) for name, value in channel.nuisance if name != "quotes"}
    update: dict[str, Any] = {"nuisance": channel.nuisance.model_copy(update=scaled)}
    if hardness < _SEVERAL:
        update["slots"] = {
            name: _shortened(slot, 1) if slot.by in ("grade", "level") and not channel.is_whole(slot) else slot
            for name, slot in channel.slots.items()
        }
    return channel.model_copy(update=update)


def _shortened(slot: Slot, count: int) -> Slot:
    return slot.model_copy(update={"lists": tuple(templates[:count] for templates in slot.lists)})


_SEVERAL = 0.3
"""Hardness from which grades and categories are told by several templates."""
_MOST_REPEATS, _FEWEST_REPEATS = 5, 3
"""How often passages of the easiest and of the hardest designs go through their plan."""


def disturb_passages(channel: TextChannel, hardness: float) -> TextChannel:
    """Let easy designs have long passages with one companion, whose name hides nothing of what matters."""
    repeats = round(_MOST_REPEATS + (_FEWEST_REPEATS - _MOST_REPEATS) * hardness)
    count = 1 + round((_MOST_KEPT - 1) * hardness**2)
    lasting = {name: _shortened(channel.slots[name], count) for name in channel.once if name not in channel.anew}
    return disturb(channel.model_copy(update={"repeats": repeats, "slots": {**channel.slots, **lasting}}), hardness)
