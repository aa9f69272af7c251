"""Draw motifs over the columns of a vocabulary.

A motif may use every column of the right kind, so that names reveal little about roles: a cyclic column need not act
periodically, and a positive column need not be part of a ratio.
"""

from collections.abc import Sequence
from itertools import permutations
from typing import TypeVar, get_args

import numpy as np
from scipy.special import ndtr

from sandmill.design.laws import is_fine
from sandmill.design.vocabulary import Vocabulary
from sandmill.mechanism.columns import value_at
from sandmill.models import motifs
from sandmill.models.columns import Column, Cycle, LogNormal, Normal, Uniform
from sandmill.models.design_draft import HiddenKind, PlainKind
from sandmill.models.domain import Named, NumericWord, ShapedNumber
from sandmill.models.mechanism import Subgroup

Item = TypeVar("Item")
Word = TypeVar("Word", bound=Named)

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


_OF_PAIRS: dict[str, type[motifs.Difference | motifs.Interaction | motifs.Bottleneck]] = {
    "difference": motifs.Difference,
    "interaction": motifs.Interaction,
    "bottleneck": motifs.Bottleneck,
}
PLAIN_KINDS, HIDDEN_KINDS = get_args(PlainKind), get_args(HiddenKind)
"""Motifs that default models find without special features, and those that they miss. `high_cardinality_lookup` is a
lookup in a column with very many levels."""
FINDABLE_KINDS = ("ratio", "interaction", "bottleneck", "periodic", "curve", "threshold", "band")
"""Hidden motifs that a feature search finds in 50 to 200 rows and default models mostly miss."""


def choose_motif(kind: str, vocabulary: Vocabulary, taken: set[str], rng: np.random.Generator) -> motifs.Motif:
    """Draw a motif of a kind over columns that are not taken.

    Raises:
        NoFreeColumn: if no suitable columns are free.
    """
    numbers, categories = _free(vocabulary.numeric, taken), _free(vocabulary.categorical, taken)
    # Cuts, curves and products need columns of many values.
    fine = [word for word in numbers if not isinstance(word, ShapedNumber) or is_fine(word.law)]
    match kind:
        case "linear":
            return motifs.Linear(column=_pick(numbers, rng).name)
        case "curve":
            return motifs.Curve(column=_pick(fine, rng).name)
        case "local_rule":
            return motifs.LocalRule(column=_pick(fine, rng).name)
        case "saturation":
            word = _pick(fine, rng)
            return motifs.Saturation(column=word.name, steepness=round(float(rng.uniform(1, 2.5)), 3))
        case "lookup" | "high_cardinality_lookup":
            by = _pick(categories if kind == "lookup" else _free(vocabulary.high_cardinality, taken), rng)
            return motifs.Lookup(column=by.name, effects=_numbers(rng.normal(size=len(by.levels))))
        case "ratio":
            positive = [word for word in numbers if isinstance(word.distribution, LogNormal)]
            top, bottom = _pair(vocabulary.domain.ratios, positive, taken, rng)
            return motifs.Ratio(numerator=top, denominator=bottom)
        case "difference" | "interaction" | "bottleneck":
            left, right = _pair(vocabulary.domain.products, fine, taken, rng)
            return _OF_PAIRS[kind](left=left, right=right)
        case "periodic":
            name, period = _pick([cycle for cycle in vocabulary.cycles if cycle[0] not in taken], rng)
            return motifs.Periodic(column=name, period=period, phase=round(float(rng.uniform(0, 2 * np.pi)), 4))
        case "threshold":
            word = _pick(fine, rng)
            return motifs.Threshold(column=word.name, cut=_cut(word, float(rng.uniform(-0.6, 0.6))))
        case "band":
            # About a quarter to a half of the rows lie between the cuts.
            word = _pick(fine, rng)
            middle, half = float(rng.uniform(-0.4, 0.4)), float(rng.uniform(0.35, 0.65))
            low, high = _cut(word, middle - half), _cut(word, middle + half)
            if low >= high:
                raise NoFreeColumn
            return motifs.BetweenCuts(column=word.name, low=low, high=high)
        case "crossed_lookup":
            small = [word for word in categories if len(word.levels) <= MOST_CROSSED_LEVELS]
            first = _pick(small, rng)
            second = _pick([word for word in small if word is not first], rng)
            crossed = tuple(map(_numbers, rng.normal(size=(len(first.levels), len(second.levels)))))
            return motifs.CrossedLookup(left=first.name, right=second.name, effects=crossed)
        case _:
            word, by = _pick(fine, rng), _pick(categories, rng)
            return motifs.VaryingSlope(column=word.name, by=by.name, slopes=_numbers(rng.normal(size=len(by.levels))))


def choose_subgroup(vocabulary: Vocabulary, taken: set[str], rng: np.random.Generator) -> Subgroup:
    """Draw a hidden subgroup. It has few rows in half of the levels of a free categorical column, most in the others.

    Raises:
        NoFreeColumn: if no categorical column is free.
    """
    word = _pick(_free(vocabulary.categorical, taken), rng)
    few, is_low = rng.uniform(*_FEW_MEMBERS, len(word.levels)), rng.permutation(len(word.levels)) % 2 == 0
    return Subgroup(by=word.name, shares=tuple(round(float(u), 3) for u in np.where(is_low, few, 1 - few)))


def _free(words: Sequence[Word], taken: set[str]) -> list[Word]:
    return [word for word in words if word.name not in taken]


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
    step, slack = 10.0**-word.decimals, 0.0
    match word.distribution:
        case _ if isinstance(word, ShapedNumber):
            column = Column(name=word.name, distribution=word.law, decimals=word.decimals)
            value, step, slack = float(value_at(column, np.asarray(z))), max(step, word.law.grid), _TINY
        case Normal(mean=mean, sd=sd):
            value = mean + sd * z
        case LogNormal(median=median, sigma=sigma):
            value = median * float(np.exp(sigma * z))
        case Uniform(low=low, high=high):
            value = (low + high) / 2 + (high - low) * z / 3
        case Cycle(first=first, period=period):
            value = first + period * float(ndtr(z))
    return round(float(np.floor(value / step + slack)) * step + step / 2, word.decimals + 1)
