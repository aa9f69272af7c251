"""Design of what stands between a mechanism and its texts: which words a latent column makes likely."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from sandmill.kinds.library import draw_medium
from sandmill.kinds.text.channel import Nuisance, TextChannel, TextMedium, WordSlot
from sandmill.models.columns import Categorical, Column, Date, Unit
from sandmill.rng import Streams

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
        nuisance = self._draw_nuisance(streams.generator("nuisance of texts"))
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

    def _draw_nuisance(self, rng: np.random.Generator) -> Nuisance:
        typos, loose, asides, quotes = (self.disturbance * rng.random(4)).tolist()
        return Nuisance(
            typos=round(typos * _MOST_TYPOS, 4),
            loose=round(loose * _MOST_LOOSE, 4),
            asides=round(asides * _MOST_ASIDES, 4),
            quotes=round(quotes * _MOST_QUOTES, 4) if self.has_quotations else 0.0,
        )


def _drawn(slot: WordSlot, known: dict[str, Column], rated: Sequence[str], rng: np.random.Generator) -> WordSlot:
    """Draw the words of a slot, and which list a large share stands for unless files state the share."""
    lists = tuple(tuple(_some(words, rng)) for words in slot.lists)
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


def _some(words: Sequence[str], rng: np.random.Generator) -> list[str]:
    kept = rng.permutation(len(words))[:_WORDS_OF_A_LIST]
    return [words[place] for place in sorted(kept)]


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
    is_plain = hardness < _ALL_WORDS
    return disturb(channel, hardness).model_copy(
        update={
            "fewest_sentences": round(channel.fewest_sentences * longer),
            "most_sentences": round(channel.most_sentences * longer),
            "sentence": tuple(
                _calmer(slot, hardness)
                for slot in channel.sentence
                if slot.column or slot.by != "presence" or not is_plain
            ),
        }
    )


def _calmer(slot: WordSlot, hardness: float) -> WordSlot:
    """Return a slot with fewer words, which follows its column in more sentences."""
    share = min(1.0, hardness / _ALL_WORDS)
    lists, fewest = (slot.lists, _FEWEST_TELLING) if slot.column or share == 1 else (slot.lists[:1], 1)
    kept = (words[: max(fewest, round(len(words) * share))] for words in lists)
    return slot.model_copy(update={"lists": tuple(kept), "follows": round(1 - (1 - slot.follows) * share, 4)})


PASSAGES = TextDesign("text", "text/domains/passages", fewest_sentences=7, most_sentences=9, disturbance=0.3)
COMMENTS = TextDesign(
    "text_dated", "text/domains/comments", fewest_sentences=3, most_sentences=5, is_quoted=True, has_quotations=True
)
POSTS = TextDesign("text_labels", "text/domains/posts", fewest_sentences=3, most_sentences=5, has_quotations=True)
REQUESTS = TextDesign("json_rows", "text/domains/requests", fewest_sentences=3, most_sentences=5)
