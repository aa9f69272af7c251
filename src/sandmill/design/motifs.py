"""Draw motifs over the columns of a vocabulary.

A motif may use every column of the right kind, so that names reveal little about roles: a cyclic column need not act
periodically, and a positive column need not be part of a ratio.
"""

from collections.abc import Callable, Sequence
from itertools import permutations
from typing import TypeVar

import numpy as np
from scipy.special import ndtr

from sandmill.design.laws import is_fine
from sandmill.design.vocabulary import Vocabulary
from sandmill.mechanism.columns import value_at
from sandmill.models import motifs
from sandmill.models.columns import Column, Cycle, LogNormal, Normal, Uniform
from sandmill.models.domain import Named, NumericWord, ShapedNumber
from sandmill.models.mechanism import Subgroup

Item = TypeVar("Item")
Word = TypeVar("Word", bound=Named)
Chooser = Callable[[Vocabulary, set[str], np.random.Generator], motifs.Motif]

_CHANCE_OF_ANY_PAIR = 0.3
"""Chance that a motif of two columns uses a pair that the domain does not list. Otherwise names would reveal pairs."""
_FEW_MEMBERS = (0.02, 0.08)
"""A hidden subgroup depends on a categorical column. In half of its levels, the share of rows that belong to the
subgroup is drawn from this range; in the other half, the share that does not belong is. With shares near one half, 200
rows do not suffice to learn a slope for each level."""
_TINY = 1e-9
"""Steps by which a float may miss the number that it stands for."""
MOST_CROSSED_LEVELS = 5
"""Most levels of a column in a crossed lookup. With more, most pairs of levels would have no training row."""


class NoFreeColumn(LookupError):
    """The vocabulary has no free column of the kind that a motif needs."""


def choose_motif(kind: str, vocabulary: Vocabulary, taken: set[str], rng: np.random.Generator) -> motifs.Motif:
    """Draw a motif of a kind over columns that are not taken.

    Raises:
        NoFreeColumn: if no suitable columns are free.
    """
    return _CHOOSERS[kind](vocabulary, taken, rng)


def choose_subgroup(vocabulary: Vocabulary, taken: set[str], rng: np.random.Generator) -> Subgroup:
    """Draw a hidden subgroup. It has few rows in half of the levels of a free categorical column, most in the others.

    Raises:
        NoFreeColumn: if no categorical column is free.
    """
    word = _pick(_free(vocabulary.categorical, taken), rng)
    few, is_low = rng.uniform(*_FEW_MEMBERS, len(word.levels)), rng.permutation(len(word.levels)) % 2 == 0
    return Subgroup(by=word.name, shares=tuple(round(float(u), 3) for u in np.where(is_low, few, 1 - few)))


def _on_column(make: type[motifs.Linear | motifs.Curve | motifs.LocalRule]) -> Chooser:
    def choose(vocabulary: Vocabulary, taken: set[str], rng: np.random.Generator) -> motifs.Motif:
        words = vocabulary.numeric if make is motifs.Linear else _fine(vocabulary)
        return make(column=_pick(_free(words, taken), rng).name)

    return choose


def _on_pair(make: type[motifs.Difference | motifs.Interaction | motifs.Bottleneck]) -> Chooser:
    def choose(vocabulary: Vocabulary, taken: set[str], rng: np.random.Generator) -> motifs.Motif:
        left, right = _pair(vocabulary.domain.products, _free(_fine(vocabulary), taken), taken, rng)
        return make(left=left, right=right)

    return choose


def _ratio(vocabulary: Vocabulary, taken: set[str], rng: np.random.Generator) -> motifs.Motif:
    positive = [word for word in _free(vocabulary.numeric, taken) if isinstance(word.distribution, LogNormal)]
    top, bottom = _pair(vocabulary.domain.ratios, positive, taken, rng)
    return motifs.Ratio(numerator=top, denominator=bottom)


def _saturation(vocabulary: Vocabulary, taken: set[str], rng: np.random.Generator) -> motifs.Motif:
    word = _pick(_free(_fine(vocabulary), taken), rng)
    return motifs.Saturation(column=word.name, steepness=round(float(rng.uniform(1, 2.5)), 3))


def _lookup(vocabulary: Vocabulary, taken: set[str], rng: np.random.Generator) -> motifs.Motif:
    word = _pick(_free(vocabulary.categorical, taken), rng)
    return motifs.Lookup(column=word.name, effects=_numbers(rng.normal(size=len(word.levels))))


def _high_cardinality_lookup(vocabulary: Vocabulary, taken: set[str], rng: np.random.Generator) -> motifs.Motif:
    word = _pick(_free(vocabulary.high_cardinality, taken), rng)
    return motifs.Lookup(column=word.name, effects=_numbers(rng.normal(size=len(word.levels))))


def _periodic(vocabulary: Vocabulary, taken: set[str], rng: np.random.Generator) -> motifs.Motif:
    cycle = _pick([cycle for cycle in vocabulary.cycles if cycle[0] not in taken], rng)
    return motifs.Periodic(column=cycle[0], period=cycle[1], phase=round(float(rng.uniform(0, 2 * np.pi)), 4))


def _threshold(vocabulary: Vocabulary, taken: set[str], rng: np.random.Generator) -> motifs.Motif:
    word = _pick(_free(_fine(vocabulary), taken), rng)
    return motifs.Threshold(column=word.name, cut=_cut(word, float(rng.uniform(-0.6, 0.6))))


def _band(vocabulary: Vocabulary, taken: set[str], rng: np.random.Generator) -> motifs.Motif:
    """Draw two cuts with about a quarter to a half of the rows between them."""
    word = _pick(_free(_fine(vocabulary), taken), rng)
    middle, half = float(rng.uniform(-0.4, 0.4)), float(rng.uniform(0.35, 0.65))
    low, high = _cut(word, middle - half), _cut(word, middle + half)
    if low >= high:
        raise NoFreeColumn
    return motifs.BetweenCuts(column=word.name, low=low, high=high)


def _crossed_lookup(vocabulary: Vocabulary, taken: set[str], rng: np.random.Generator) -> motifs.Motif:
    small = [word for word in _free(vocabulary.categorical, taken) if len(word.levels) <= MOST_CROSSED_LEVELS]
    left = _pick(small, rng)
    right = _pick([word for word in small if word is not left], rng)
    effects = rng.normal(size=(len(left.levels), len(right.levels)))
    return motifs.CrossedLookup(left=left.name, right=right.name, effects=tuple(_numbers(row) for row in effects))


def _varying_slope(vocabulary: Vocabulary, taken: set[str], rng: np.random.Generator) -> motifs.Motif:
    word, by = _pick(_free(_fine(vocabulary), taken), rng), _pick(_free(vocabulary.categorical, taken), rng)
    return motifs.VaryingSlope(column=word.name, by=by.name, slopes=_numbers(rng.normal(size=len(by.levels))))


_PLAIN: dict[str, Chooser] = {"linear": _on_column(motifs.Linear), "saturation": _saturation, "lookup": _lookup}
_HIDDEN: dict[str, Chooser] = {
    "ratio": _ratio,
    "difference": _on_pair(motifs.Difference),
    "interaction": _on_pair(motifs.Interaction),
    "bottleneck": _on_pair(motifs.Bottleneck),
    "periodic": _periodic,
    "curve": _on_column(motifs.Curve),
    "threshold": _threshold,
    "band": _band,
    "crossed_lookup": _crossed_lookup,
    "high_cardinality_lookup": _high_cardinality_lookup,
    "varying_slope": _varying_slope,
    "local_rule": _on_column(motifs.LocalRule),
}
_CHOOSERS: dict[str, Chooser] = {**_PLAIN, **_HIDDEN}

PLAIN_KINDS = tuple(_PLAIN)
"""Motifs that default models find without special features."""
HIDDEN_KINDS = tuple(_HIDDEN)
"""Motifs that take a skill to find. A high-cardinality lookup is a lookup over a column with very many levels."""
FINDABLE_KINDS = ("ratio", "interaction", "bottleneck", "periodic", "curve", "threshold", "band")
"""Hidden motifs that a feature search finds in 50 to 200 rows and default models mostly miss."""


def _free(words: Sequence[Word], taken: set[str]) -> list[Word]:
    return [word for word in words if word.name not in taken]


def _fine(vocabulary: Vocabulary) -> list[NumericWord]:
    """Return the numbers with values enough for cuts, curves and products."""
    return [word for word in vocabulary.numeric if not isinstance(word, ShapedNumber) or is_fine(word.law)]


def _pair(
    listed: Sequence[tuple[str, str]], words: Sequence[NumericWord], taken: set[str], rng: np.random.Generator
) -> tuple[str, str]:
    """Draw one of the listed pairs, or sometimes any two of the words."""
    is_any = rng.random() < _CHANCE_OF_ANY_PAIR
    pairs = permutations([word.name for word in words], 2) if is_any else listed
    return _pick([pair for pair in pairs if not taken & set(pair)], rng)


def _pick(items: Sequence[Item], rng: np.random.Generator) -> Item:
    if not items:
        raise NoFreeColumn
    return items[int(rng.integers(len(items)))]


def _numbers(values: np.ndarray) -> tuple[float, ...]:
    return tuple(round(float(value), 4) for value in values)


def _cut(word: NumericWord, z: float) -> float:
    """Return a cut at a standard score, halfway between two values of the files, so rounding cannot change the side."""
    if isinstance(word, ShapedNumber):
        column = Column(name=word.name, distribution=word.law, decimals=word.decimals)
        return _between_values(float(value_at(column, np.asarray(z))), max(10.0**-word.decimals, word.law.grid), word)
    match word.distribution:
        case Normal(mean=mean, sd=sd):
            value = mean + sd * z
        case LogNormal(median=median, sigma=sigma):
            value = median * float(np.exp(sigma * z))
        case Uniform(low=low, high=high):
            value = (low + high) / 2 + (high - low) * z / 3
        case Cycle(first=first, period=period):
            value = first + period * float(ndtr(z))
    return _between_values(value, 10.0**-word.decimals, word)


def _between_values(value: float, step: float, word: NumericWord) -> float:
    return round(
        float(np.floor(value / step + (_TINY if isinstance(word, ShapedNumber) else 0.0))) * step + step / 2,
        word.decimals + 1,
    )
