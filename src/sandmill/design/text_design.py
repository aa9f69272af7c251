"""Design of what stands between a mechanism and its texts: which words a latent column makes likely."""

from collections.abc import Sequence
from functools import cache
from importlib.resources import files

import numpy as np
import yaml

from sandmill.models.channels import TextChannel, TextVocabulary, WordSlot
from sandmill.models.columns import Column
from sandmill.rng import Streams

FEWEST_SENTENCES, MOST_SENTENCES = 7, 9
"""About 120 words a passage: shares of words are measured well enough that 200 passages teach something."""
_WORDS_OF_A_LIST = 3
"""Words of a longer list that one design uses, so that no word means the same in all designs."""


@cache
def load_text_vocabularies() -> tuple[TextVocabulary, ...]:
    """Read the vocabularies of texts that come with the library, by name of their domain."""
    folder = files("sandmill.design").joinpath("texts")
    texts = (path.read_text(encoding="utf-8") for path in folder.iterdir() if path.name.endswith(".yaml"))
    read = (TextVocabulary.model_validate(yaml.safe_load(text)) for text in texts)
    return tuple(sorted(read, key=lambda vocabulary: vocabulary.domain.name))


def choose_text_vocabulary(streams: Streams) -> TextVocabulary:
    """Draw the vocabulary of a design."""
    known = load_text_vocabularies()
    return known[int(streams.generator("design").integers(len(known)))]


def choose_text_channel(vocabulary: TextVocabulary, columns: Sequence[Column], streams: Streams) -> TextChannel:
    """Draw which words stand for which latent value. A slot whose column the design lacks follows nothing."""
    latent, rng = {column.name for column in columns}, streams.generator("text channel")
    return TextChannel(
        column=vocabulary.column,
        meaning=vocabulary.meaning,
        fewest_sentences=FEWEST_SENTENCES,
        most_sentences=MOST_SENTENCES,
        sentence=tuple(_drawn(slot, latent, rng) for slot in vocabulary.sentence),
    )


def _drawn(slot: WordSlot, latent: set[str], rng: np.random.Generator) -> WordSlot:
    lists = tuple(tuple(_some(words, rng)) for words in slot.lists)
    turned = slot.by == "share" and rng.random() < 0.5
    known = slot.column if slot.column in latent else None
    return slot.model_copy(update={"lists": lists[::-1] if turned else lists, "column": known})


def _some(words: Sequence[str], rng: np.random.Generator) -> list[str]:
    kept = rng.permutation(len(words))[:_WORDS_OF_A_LIST]
    return [words[place] for place in sorted(kept)]
