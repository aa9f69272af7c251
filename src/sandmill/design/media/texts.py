"""Design of what stands between a mechanism and its texts: which words a latent column makes likely."""

from collections.abc import Sequence

import numpy as np

from sandmill.design.lexicon import draw_medium
from sandmill.models.channels.texts import TextChannel, TextMedium, WordSlot
from sandmill.models.columns import Column
from sandmill.rng import Streams

FEWEST_SENTENCES, MOST_SENTENCES = 7, 9
"""About 120 words a passage: shares of words are measured well enough that 200 passages teach something."""
_WORDS_OF_A_LIST = 3
"""Words of a longer list that one design uses, so that no word means the same in all designs."""


def choose_medium(place: float) -> TextMedium:
    """Return the domain of a design by its place among all."""
    return draw_medium("texts", TextMedium, place)


def choose_channel(medium: TextMedium, columns: Sequence[Column], streams: Streams) -> TextChannel:
    """Draw which words stand for which latent value. A slot whose column the design lacks follows nothing."""
    latent, rng = {column.name for column in columns}, streams.generator("text channel")
    return TextChannel(
        column=medium.column,
        meaning=medium.meaning,
        fewest_sentences=FEWEST_SENTENCES,
        most_sentences=MOST_SENTENCES,
        sentence=tuple(_drawn(slot, latent, rng) for slot in medium.sentence),
    )


def _drawn(slot: WordSlot, latent: set[str], rng: np.random.Generator) -> WordSlot:
    lists = tuple(tuple(_some(words, rng)) for words in slot.lists)
    turned = slot.by == "share" and rng.random() < 0.5
    known = slot.column if slot.column in latent else None
    return slot.model_copy(update={"lists": lists[::-1] if turned else lists, "column": known})


def _some(words: Sequence[str], rng: np.random.Generator) -> list[str]:
    kept = rng.permutation(len(words))[:_WORDS_OF_A_LIST]
    return [words[place] for place in sorted(kept)]
