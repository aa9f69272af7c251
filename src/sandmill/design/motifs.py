"""Fit motifs to a domain: which of its columns can plausibly carry which, with drawn parameters."""

from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np

from sandmill.design.lexicon import CategoricalWord, Domain, NumericWord
from sandmill.models.mechanism import (
    Band,
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
Chooser = Callable[[Domain, set[str], np.random.Generator], Motif]

MOST_CROSSED_LEVELS = 5
"""Levels of a column in a crossed lookup: more pairs than that leave no row for most of them."""


class NothingLeft(LookupError):
    """The domain has no free column that could carry what was asked for."""


def choose_motif(kind: str, domain: Domain, taken: set[str], rng: np.random.Generator) -> Motif:
    """Draw a motif of a kind over columns that are still free.

    Raises:
        NothingLeft: if the domain has none left for it.
    """
    return _CHOOSERS[kind](domain, taken, rng)


def choose_subgroup(domain: Domain, taken: set[str], rng: np.random.Generator) -> Subgroup:
    """Let a free categorical column say who is likely to follow a local rule.

    Raises:
        NothingLeft: if there is none.
    """
    word = _pick(_categorical(domain, taken), rng)
    return Subgroup(by=word.name, shares=tuple(round(float(u), 3) for u in rng.uniform(0.05, 0.95, len(word.levels))))


def _linear(domain: Domain, taken: set[str], rng: np.random.Generator) -> Motif:
    word = _pick(_continuous(domain, taken), rng)
    return Linear(column=word.name)


def _saturation(domain: Domain, taken: set[str], rng: np.random.Generator) -> Motif:
    word = _pick(_continuous(domain, taken), rng)
    return Saturation(column=word.name, steepness=round(float(rng.uniform(1, 2.5)), 3))


def _lookup(domain: Domain, taken: set[str], rng: np.random.Generator) -> Motif:
    word = _pick(_categorical(domain, taken), rng)
    return Lookup(column=word.name, effects=_numbers(rng.normal(size=len(word.levels))))


def _ratio(domain: Domain, taken: set[str], rng: np.random.Generator) -> Motif:
    pair = _pick([pair for pair in domain.ratios if not taken & set(pair)], rng)
    return Ratio(numerator=pair[0], denominator=pair[1])


def _difference(domain: Domain, taken: set[str], rng: np.random.Generator) -> Motif:
    pair = _pair(domain, taken, rng)
    return Difference(left=pair[0], right=pair[1])


def _interaction(domain: Domain, taken: set[str], rng: np.random.Generator) -> Motif:
    pair = _pair(domain, taken, rng)
    return Interaction(left=pair[0], right=pair[1])


def _bottleneck(domain: Domain, taken: set[str], rng: np.random.Generator) -> Motif:
    pair = _pair(domain, taken, rng)
    return Bottleneck(left=pair[0], right=pair[1])


def _periodic(domain: Domain, taken: set[str], rng: np.random.Generator) -> Motif:
    cycle = _pick([cycle for cycle in domain.periods if cycle[0] not in taken], rng)
    return Periodic(column=cycle[0], period=cycle[1], phase=round(float(rng.uniform(0, 2 * np.pi)), 4))


def _curve(domain: Domain, taken: set[str], rng: np.random.Generator) -> Motif:
    word = _pick(_continuous(domain, taken), rng)
    return Curve(column=word.name)


def _threshold(domain: Domain, taken: set[str], rng: np.random.Generator) -> Motif:
    word = _pick(_continuous(domain, taken), rng)
    return Threshold(column=word.name, cut=_cut(word, float(rng.uniform(-0.6, 0.6))))


def _band(domain: Domain, taken: set[str], rng: np.random.Generator) -> Motif:
    """Between a quarter and half of the rows lie inside."""
    word = _pick(_continuous(domain, taken), rng)
    middle, half = float(rng.uniform(-0.4, 0.4)), float(rng.uniform(0.35, 0.65))
    return Band(column=word.name, low=_cut(word, middle - half), high=_cut(word, middle + half))


def _crossed_lookup(domain: Domain, taken: set[str], rng: np.random.Generator) -> Motif:
    words = [word for word in _categorical(domain, taken) if len(word.levels) <= MOST_CROSSED_LEVELS]
    left = _pick(words, rng)
    right = _pick([word for word in words if word is not left], rng)
    effects = rng.normal(size=(len(left.levels), len(right.levels)))
    return CrossedLookup(left=left.name, right=right.name, effects=tuple(_numbers(row) for row in effects))


def _varying_slope(domain: Domain, taken: set[str], rng: np.random.Generator) -> Motif:
    word, by = _pick(_continuous(domain, taken), rng), _pick(_categorical(domain, taken), rng)
    return VaryingSlope(column=word.name, by=by.name, slopes=_numbers(rng.normal(size=len(by.levels))))


def _local_rule(domain: Domain, taken: set[str], rng: np.random.Generator) -> Motif:
    word = _pick(_continuous(domain, taken), rng)
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
    "varying_slope": _varying_slope,
    "local_rule": _local_rule,
}
_CHOOSERS: dict[str, Chooser] = {**_PLAIN, **_HIDDEN}

PLAIN_KINDS = tuple(_PLAIN)
"""Motifs that default models find."""
HIDDEN_KINDS = tuple(_HIDDEN)
"""Motifs that take a skill to find, or a column that no default model looks at in the right way."""


def _continuous(domain: Domain, taken: set[str]) -> list[NumericWord]:
    cyclic = {name for name, _ in domain.periods}
    return [
        word for word in domain.numeric if word.name not in taken | cyclic and not isinstance(word.distribution, Cycle)
    ]


def _categorical(domain: Domain, taken: set[str]) -> list[CategoricalWord]:
    return [word for word in domain.categorical if word.name not in taken]


def _pair(domain: Domain, taken: set[str], rng: np.random.Generator) -> tuple[str, str]:
    return _pick([pair for pair in domain.products if not taken & set(pair)], rng)


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
        case _:
            raise TypeError("cuts are for continuous columns")
    step = 10.0**-word.decimals
    return round(float(np.floor(value / step)) * step + step / 2, word.decimals + 1)
