"""Fit motifs to a vocabulary: which of its columns can plausibly carry which, with drawn parameters.

A motif may fall on every column that can carry it, so that names say little of roles: a column on a circle need not act
as a wave, and a positive one need not be part of a ratio.
"""

from collections.abc import Callable, Sequence
from itertools import permutations
from typing import TypeVar

import numpy as np
from scipy.special import ndtr

from sandmill.design.vocabulary import Vocabulary
from sandmill.models.domain import CategoricalWord, NumericWord
from sandmill.models.mechanism import (
    BetweenCuts,
    Bottleneck,
    CrossedLookup,
    Curve,
    Cycle,
    Difference,
    Interaction,
    Linear,
    LocalRule,
    LogNormal,
    Lookup,
    Motif,
    Normal,
    Periodic,
    Ratio,
    Saturation,
    Subgroup,
    Threshold,
    Uniform,
    VaryingSlope,
)

Item = TypeVar("Item")
Chooser = Callable[[Vocabulary, set[str], np.random.Generator], Motif]

_CHANCE_OF_ANY_PAIR = 0.3
"""That two columns act together which the domain does not name as a pair: else names would tell."""
MOST_CROSSED_LEVELS = 5
"""Levels of a column in a crossed lookup: more pairs than that leave no row for most of them."""


class NothingLeft(LookupError):
    """The domain has no free column that could carry what was asked for."""


def choose_motif(kind: str, words: Vocabulary, taken: set[str], rng: np.random.Generator) -> Motif:
    """Draw a motif of a kind over columns that are still free.

    Raises:
        NothingLeft: if the domain has none left for it.
    """
    return _CHOOSERS[kind](words, taken, rng)


def choose_subgroup(words: Vocabulary, taken: set[str], rng: np.random.Generator) -> Subgroup:
    """Let a free categorical column say who is likely to follow a local rule.

    Raises:
        NothingLeft: if there is none.
    """
    word = _pick(_categorical(words, taken), rng)
    return Subgroup(by=word.name, shares=tuple(round(float(u), 3) for u in rng.uniform(0.05, 0.95, len(word.levels))))


def _linear(words: Vocabulary, taken: set[str], rng: np.random.Generator) -> Motif:
    word = _pick(_continuous(words, taken), rng)
    return Linear(column=word.name)


def _saturation(words: Vocabulary, taken: set[str], rng: np.random.Generator) -> Motif:
    word = _pick(_continuous(words, taken), rng)
    return Saturation(column=word.name, steepness=round(float(rng.uniform(1, 2.5)), 3))


def _lookup(words: Vocabulary, taken: set[str], rng: np.random.Generator) -> Motif:
    word = _pick(_categorical(words, taken), rng)
    return Lookup(column=word.name, effects=_numbers(rng.normal(size=len(word.levels))))


def _ratio(words: Vocabulary, taken: set[str], rng: np.random.Generator) -> Motif:
    free = rng.random() < _CHANCE_OF_ANY_PAIR
    positive = [word.name for word in _continuous(words, taken) if isinstance(word.distribution, LogNormal)]
    pairs = permutations(positive, 2) if free else words.domain.ratios
    pair = _pick([pair for pair in pairs if not taken & set(pair)], rng)
    return Ratio(numerator=pair[0], denominator=pair[1])


def _difference(words: Vocabulary, taken: set[str], rng: np.random.Generator) -> Motif:
    pair = _pair(words, taken, rng)
    return Difference(left=pair[0], right=pair[1])


def _interaction(words: Vocabulary, taken: set[str], rng: np.random.Generator) -> Motif:
    pair = _pair(words, taken, rng)
    return Interaction(left=pair[0], right=pair[1])


def _bottleneck(words: Vocabulary, taken: set[str], rng: np.random.Generator) -> Motif:
    pair = _pair(words, taken, rng)
    return Bottleneck(left=pair[0], right=pair[1])


def _periodic(words: Vocabulary, taken: set[str], rng: np.random.Generator) -> Motif:
    cycle = _pick([cycle for cycle in words.cycles if cycle[0] not in taken], rng)
    return Periodic(column=cycle[0], period=cycle[1], phase=round(float(rng.uniform(0, 2 * np.pi)), 4))


def _curve(words: Vocabulary, taken: set[str], rng: np.random.Generator) -> Motif:
    word = _pick(_continuous(words, taken), rng)
    return Curve(column=word.name)


def _threshold(words: Vocabulary, taken: set[str], rng: np.random.Generator) -> Motif:
    word = _pick(_continuous(words, taken), rng)
    return Threshold(column=word.name, cut=_cut(word, float(rng.uniform(-0.6, 0.6))))


def _band(words: Vocabulary, taken: set[str], rng: np.random.Generator) -> Motif:
    """Between a quarter and half of the rows lie inside."""
    word = _pick(_continuous(words, taken), rng)
    middle, half = float(rng.uniform(-0.4, 0.4)), float(rng.uniform(0.35, 0.65))
    return BetweenCuts(column=word.name, low=_cut(word, middle - half), high=_cut(word, middle + half))


def _crossed_lookup(words: Vocabulary, taken: set[str], rng: np.random.Generator) -> Motif:
    small = [word for word in _categorical(words, taken) if len(word.levels) <= MOST_CROSSED_LEVELS]
    left = _pick(small, rng)
    right = _pick([word for word in small if word is not left], rng)
    effects = rng.normal(size=(len(left.levels), len(right.levels)))
    return CrossedLookup(left=left.name, right=right.name, effects=tuple(_numbers(row) for row in effects))


def _varying_slope(words: Vocabulary, taken: set[str], rng: np.random.Generator) -> Motif:
    word, by = _pick(_continuous(words, taken), rng), _pick(_categorical(words, taken), rng)
    return VaryingSlope(column=word.name, by=by.name, slopes=_numbers(rng.normal(size=len(by.levels))))


def _high_cardinality_lookup(words: Vocabulary, taken: set[str], rng: np.random.Generator) -> Motif:
    word = _pick([word for word in words.high_cardinality if word.name not in taken], rng)
    return Lookup(column=word.name, effects=_numbers(rng.normal(size=len(word.levels))))


def _local_rule(words: Vocabulary, taken: set[str], rng: np.random.Generator) -> Motif:
    word = _pick(_continuous(words, taken), rng)
    return LocalRule(column=word.name)


_PLAIN: dict[str, Chooser] = {"linear": _linear, "saturation": _saturation, "lookup": _lookup}
_HIDDEN: dict[str, Chooser] = {
    "ratio": _ratio,
    "difference": _difference,
    "interaction": _interaction,
    "bottleneck": _bottleneck,
    "periodic": _periodic,
    "curve": _curve,
    "threshold": _threshold,
    "band": _band,
    "crossed_lookup": _crossed_lookup,
    "high_cardinality_lookup": _high_cardinality_lookup,
    "varying_slope": _varying_slope,
    "local_rule": _local_rule,
}
_CHOOSERS: dict[str, Chooser] = {**_PLAIN, **_HIDDEN}

PLAIN_KINDS = tuple(_PLAIN)
"""Motifs that default models find."""
HIDDEN_KINDS = tuple(_HIDDEN)
"""Ways of acting that take a skill to find. A high-cardinality lookup is a lookup by a category of very many levels."""
FINDABLE_KINDS = ("ratio", "interaction", "bottleneck", "periodic", "curve", "threshold", "band")
"""Those that a search over features finds in 50 to 200 rows, and a default model hardly does."""


def _continuous(words: Vocabulary, taken: set[str]) -> list[NumericWord]:
    return [word for word in words.numeric if word.name not in taken]


def _categorical(words: Vocabulary, taken: set[str]) -> list[CategoricalWord]:
    return [word for word in words.categorical if word.name not in taken]


def _pair(words: Vocabulary, taken: set[str], rng: np.random.Generator) -> tuple[str, str]:
    """Two columns that plausibly act together, or now and then any two."""
    free = rng.random() < _CHANCE_OF_ANY_PAIR
    pairs = permutations([word.name for word in _continuous(words, taken)], 2) if free else words.domain.products
    return _pick([pair for pair in pairs if not taken & set(pair)], rng)


def _pick(items: Sequence[Item], rng: np.random.Generator) -> Item:
    if not items:
        raise NothingLeft
    return items[int(rng.integers(len(items)))]


def _numbers(values: np.ndarray) -> tuple[float, ...]:
    return tuple(round(float(value), 4) for value in values)


def _cut(word: NumericWord, z: float) -> float:
    """A cut at a standard score, between two writable values, so that rounding never decides the side."""
    match word.distribution:
        case Normal(mean=mean, sd=sd):
            value = mean + sd * z
        case LogNormal(median=median, sigma=sigma):
            value = median * float(np.exp(sigma * z))
        case Uniform(low=low, high=high):
            value = (low + high) / 2 + (high - low) * z / 3
        case Cycle(first=first, period=period):
            value = first + period * float(ndtr(z))
    step = 10.0**-word.decimals
    return round(float(np.floor(value / step)) * step + step / 2, word.decimals + 1)
