"""Render passages of text from latent columns: each word is drawn from a list that a latent value makes likely."""

import re
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from sandmill.mechanism.columns import Floats
from sandmill.mechanism.row_numbers import RowNumbers
from sandmill.models.channels.texts import TextChannel, WordSlot

Words = NDArray[np.object_]

_BEFORE_MARK = re.compile(r" +([,;.!?])")


def render_texts(channel: TextChannel, latents: Mapping[str, Floats], row_numbers: RowNumbers) -> list[str]:
    """Write one passage for each row. Row i depends on its own numbers and latent values alone.

    Args:
        channel: slots of a sentence.
        latents: values of the latent columns; categories as codes.
        row_numbers: where the random numbers come from.
    """
    span = channel.most_sentences - channel.fewest_sentences + 1
    lengths = channel.fewest_sentences + np.floor(row_numbers.uniforms("sentences") * span)
    passages: list[list[str]] = [[] for _ in row_numbers.numbers]
    for number in range(channel.most_sentences):
        slots = [
            _slot_words(slot, latents, row_numbers, f"{number} {place}") for place, slot in enumerate(channel.sentence)
        ]
        for row in np.flatnonzero(number < lengths):
            passages[row].append(" ".join(words[row] for words in slots if words[row]))
    return [_BEFORE_MARK.sub(r"\1", " ".join(sentences)) for sentences in passages]


def _slot_words(slot: WordSlot, latents: Mapping[str, Floats], row_numbers: RowNumbers, name: str) -> Words:
    even = np.floor(row_numbers.uniforms(f"list {name}") * len(slot.lists)).astype(np.intp)
    chance, value = row_numbers.uniforms(f"decision {name}"), latents.get(slot.column or "")
    is_there = np.ones(len(even), dtype=bool)
    if value is None or slot.by == "chance":
        chosen = even
    elif slot.by == "level":
        chosen = np.where(chance < slot.follows, value.astype(np.intp) % len(slot.lists), even)
    elif slot.by == "share":
        chosen = np.where(chance < value, 0, 1)
    else:
        chosen, is_there = even, chance < value
    which = row_numbers.uniforms(f"word {name}")
    words: Words = np.full(len(chosen), "", dtype=object)
    for place, names in enumerate(slot.lists):
        own = (chosen == place) & is_there
        words[own] = np.array(names, dtype=object)[np.floor(which[own] * len(names)).astype(np.intp)]
    return words
