"""Render texts from latent columns: each word is drawn from a list that a latent value makes likely."""

import json
import re
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from sandmill.kinds.text.channel import Language, TextChannel, WordSlot
from sandmill.kinds.traits import generators
from sandmill.mechanism.columns import Floats
from sandmill.mechanism.row_numbers import RowNumbers

Words = NDArray[np.object_]
Counts = NDArray[np.intp]

_BEFORE_MARK = re.compile(r" +(?=[,;:.!?])")
_SPACES: Mapping[Language, str] = {"english": " ", "german": " ", "russian": " ", "chinese": ""}
_COMMAS: Mapping[Language, str] = {"english": ", ", "german": ", ", "russian": ", ", "chinese": "，"}
_USUAL_PRESENCE = 0.25
"""Share of sentences with a phrase that follows no latent column."""
_QUOTATIONS: Mapping[Language, tuple[str, str]] = {
    "english": ("“", "”"),
    "german": ("„", "“"),
    "russian": ("«", "»"),
    "chinese": ("「", "」"),
}


def render_texts(channel: TextChannel, latents: Mapping[str, Floats], row_numbers: RowNumbers) -> list[str]:
    """Write one text for each row. Row i depends on its own numbers and latent values alone."""
    span = channel.most_sentences - channel.fewest_sentences + 1
    lengths = channel.fewest_sentences + np.floor(row_numbers.uniforms("sentences") * span).astype(np.intp)
    texts = _write(channel, channel.sentence, latents, row_numbers, lengths, "")
    _add_asides(channel, texts, row_numbers)
    _add_quotations(channel, texts, row_numbers)
    joined = [_SPACES[channel.language].join(sentences) for sentences in texts]
    spelled = swap_letters(joined, channel.nuisance.typos, row_numbers)
    return [f'"{text}"' for text in spelled] if channel.is_quoted else spelled


def render_titled(channel: TextChannel, latents: Mapping[str, Floats], row_numbers: RowNumbers) -> list[str]:
    """Write one JSON object with `title` and `body` for each row."""
    once = np.ones(len(row_numbers.numbers), dtype=np.intp)
    titles = _write(channel, channel.title, latents, row_numbers, once, "title ")
    bodies = render_texts(channel, latents, row_numbers)
    return [
        json.dumps({"title": title, "body": body}, ensure_ascii=False)
        for (title,), body in zip(titles, bodies, strict=True)
    ]


def _write(
    channel: TextChannel,
    slots: Sequence[WordSlot],
    latents: Mapping[str, Floats],
    row_numbers: RowNumbers,
    lengths: Counts,
    name: str,
) -> list[list[str]]:
    """Return the sentences of each row."""
    drawn = [
        _slot_words(channel, slot, latents.get(slot.column or ""), row_numbers, lengths, f"{name}{place}")
        for place, slot in enumerate(slots)
    ]
    written = []
    for row, length in zip(np.stack(drawn, axis=2).tolist(), lengths.tolist(), strict=True):
        joined = (_SPACES[channel.language].join(filter(None, words)) for words in row[:length])
        sentences = (_BEFORE_MARK.sub("", sentence) for sentence in joined)
        written.append([sentence[:1].upper() + sentence[1:] for sentence in sentences])
    return written


def _slot_words(
    channel: TextChannel,
    slot: WordSlot,
    value: Floats | None,
    row_numbers: RowNumbers,
    lengths: Counts,
    name: str,
) -> Words:
    """Return the words of a slot, (rows, sentences).

    A share decides how many sentences of a text have a word of a list, and chance decides which sentences they are, so
    that short texts show shares well.
    """
    most = int(lengths.max(initial=1))
    even = np.floor(_uniforms(row_numbers, f"list {name}", most) * len(slot.lists)).astype(np.intp)
    chosen, usual = even, np.ones(even.shape, dtype=bool)
    if slot.by == "presence":
        usual = _uniforms(row_numbers, f"presence {name}", most) < _USUAL_PRESENCE
    is_there = usual
    if value is not None and slot.by != "chance":
        share = np.full(len(lengths), slot.follows) if slot.by == "level" else value
        is_marked = _marked(share, row_numbers, lengths, name, most)
        if slot.by == "level":
            chosen = np.where(is_marked, value.astype(np.intp)[:, None] % len(slot.lists), even)
        elif slot.by == "share":
            chosen = np.where(is_marked, 0, 1)
        else:
            is_there = is_marked
        if loose := channel.nuisance.loose:
            is_free = _uniforms(row_numbers, f"loose {name}", most) < loose
            chosen, is_there = np.where(is_free, even, chosen), np.where(is_free, usual, is_there)
    if slot.place != "each":
        last = lengths[:, None] - 1 if slot.place == "last" else 0
        is_there = is_there & (np.arange(most)[None, :] == last)
    which = _uniforms(row_numbers, f"word {name}", most)
    sizes = np.array([len(names) for names in slot.lists])
    table = np.full((len(slot.lists), sizes.max()), "", dtype=object)
    for place, names in enumerate(slot.lists):
        table[place, : len(names)] = names
    words: Words = table[chosen, np.floor(which * sizes[chosen]).astype(np.intp)]
    if slot.by == "presence":
        words[:] = _COMMAS[channel.language] + words
    words[~is_there] = ""
    return words


def _marked(share: Floats, row_numbers: RowNumbers, lengths: Counts, name: str, most: int) -> NDArray[np.bool_]:
    """Choose a share of the sentences of each row, rounded up or down by chance."""
    keys = _uniforms(row_numbers, f"decision {name}", most)
    keys = np.where(np.arange(most)[None, :] < lengths[:, None], keys, 2.0)
    ranks = keys.argsort(axis=1, kind="stable").argsort(axis=1, kind="stable")
    wanted = np.floor(lengths * np.clip(share, 0, 1) + row_numbers.uniforms(f"rounding {name}"))
    return np.asarray(ranks < wanted[:, None])


def _uniforms(row_numbers: RowNumbers, name: str, sentences: int) -> NDArray[np.float64]:
    return np.column_stack([row_numbers.uniforms(f"{name} {number}") for number in range(sentences)])


def _add_asides(channel: TextChannel, texts: list[list[str]], row_numbers: RowNumbers) -> None:
    """Put sentences that say nothing between the others."""
    chance, asides = channel.nuisance.asides, channel.asides
    if not chance or not asides:
        return
    lengths = np.array(list(map(len, texts)), dtype=np.intp)
    for number in range(int(lengths.max(initial=0)) - 1, -1, -1):
        has_one = row_numbers.uniforms(f"aside {number}") < chance
        which = np.floor(row_numbers.uniforms(f"which aside {number}") * len(asides)).astype(np.intp)
        for row in np.flatnonzero(has_one & (number < lengths)):
            texts[row].insert(number + 1, asides[which[row]])


def _add_quotations(channel: TextChannel, texts: list[list[str]], row_numbers: RowNumbers) -> None:
    """Begin some texts with a sentence of somebody else."""
    chance, leads = channel.nuisance.quotes, channel.quote_lead
    if not chance or not leads:
        return
    once = np.ones(len(texts), dtype=np.intp)
    others = _write(channel, channel.sentence, {}, row_numbers, once, "quoted ")
    has_one = row_numbers.uniforms("has quotation") < chance
    which = np.floor(row_numbers.uniforms("lead of quotation") * len(leads)).astype(np.intp)
    opening, closing = _QUOTATIONS[channel.language]
    space = _SPACES[channel.language]
    for row in np.flatnonzero(has_one):
        (said,) = others[row]
        texts[row].insert(0, f"{leads[which[row]]}{space}{opening}{said}{closing}")


_WORD = re.compile(r"[^\W\d_]{4,}")
"""Words that are long enough to be recognized with two letters swapped."""


def swap_letters(texts: Sequence[str], chance: float, row_numbers: RowNumbers) -> list[str]:
    """Swap two letters in some words of four or more. The slips of a text depend on its own row alone."""
    if not chance:
        return list(texts)
    swapped = []
    for text, rng in zip(texts, generators("typos", row_numbers), strict=True):
        spans = [match.span() for match in _WORD.finditer(text)]
        letters = list(text)
        for (start, end), (slips, where) in zip(spans, rng.random((len(spans), 2)).tolist(), strict=True):
            if slips < chance:
                place = start + 1 + int(where * (end - start - 2))
                letters[place], letters[place + 1] = letters[place + 1], letters[place]
        swapped.append("".join(letters))
    return swapped
