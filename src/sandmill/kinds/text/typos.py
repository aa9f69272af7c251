"""Slips of the pen: neighbouring letters of a word that stand in the wrong order."""

import re
from collections.abc import Sequence

import numpy as np

from sandmill.mechanism.row_numbers import RowNumbers

_WORD = re.compile(r"[^\W\d_]{4,}")
"""Words that are long enough to be recognized with two letters swapped."""


def swap_letters(texts: Sequence[str], chance: float, row_numbers: RowNumbers) -> list[str]:
    """Swap two neighbouring letters in some words. The slips of a text depend on its own row alone.

    Args:
        texts: one for each row.
        chance: chance of a slip in a word of four letters or more.
        row_numbers: where the random numbers come from.
    """
    if not chance:
        return list(texts)
    keys = (row_numbers.uniforms("typos") * 2**53).astype(np.uint64)
    return [_with_slips(text, chance, int(key)) for text, key in zip(texts, keys, strict=True)]


def _with_slips(text: str, chance: float, key: int) -> str:
    spans = [match.span() for match in _WORD.finditer(text)]
    draws = np.random.Generator(np.random.Philox(key=key)).random((len(spans), 2))
    letters = list(text)
    for (start, end), (slips, where) in zip(spans, draws.tolist(), strict=True):
        if slips < chance:
            place = start + 1 + int(where * (end - start - 2))
            letters[place], letters[place + 1] = letters[place + 1], letters[place]
    return "".join(letters)
