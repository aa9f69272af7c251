"""Sentences for facts: a grammar whose phrases lie in the YAML files beside this module."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.resources import files
from math import isclose
from typing import TypeVar

import numpy as np
import yaml

from sandmill.models.domain import Domain
from sandmill.models.english import capitalized, repeats_word, with_article
from sandmill.models.hints import ReadingLevel
from sandmill.models.knowledge import Words
from sandmill.models.numerals import SHARES, UNITS, digits, spellings, with_unit
from sandmill.models.spoken import Spoken, level_words, spoken
from sandmill.rng import Streams

Item = TypeVar("Item")

_CHOICE = re.compile(r"<([^<>]*)>")
_FILES = ("limits", "norms", "conditions", "quantities", "entries", "items")
_TRIES = 20
"""Wordings that are tried until no word stands twice."""
_CHANCE_OF_WORDS, _CHANCE_OF_UNIT, _CHANCE_OF_OTHER_UNIT = 0.6, 0.6, 0.5
_MOST_DIGITS = 8
"""Digits from which on a number, such as a third, is said in words."""
_FEWEST, _MOST = 0.2, 2000
"""Numbers that a person would say in another unit."""


@cache
def _library() -> Mapping[str, tuple[str, ...]]:
    folder = files("sandmill.design.prose")
    texts = (yaml.safe_load(folder.joinpath(f"{file}.yaml").read_text(encoding="utf-8")) for file in _FILES)
    return {name: tuple(wordings) for found in texts for name, wordings in found.items()}


def phrases(name: str, *, has_records: bool = True) -> tuple[str, ...]:
    """Return the wordings of one name; without records, those that speak of nothing that is written down."""
    marks = () if has_records else _library()["records"]
    fit = tuple(text for text in _library()[name] if not any(mark in text for mark in marks))
    return fit or _library()[f"{name}_of_items"]


@dataclass(frozen=True)
class Pen:
    """Writes the sentences of one fact at one level."""

    level: ReadingLevel
    rng: np.random.Generator
    meanings: Mapping[str, Spoken]
    """What sentences call columns. Others are named."""
    quotes: bool = True
    """Whether sentences may quote somebody. Sentences that are quoted themselves may not."""
    turn: int = 0
    """Number that chooses one of the paraphrases of a column. All sentences of one fact use the same paraphrase."""
    has_records: bool = True
    """Whether files hold the columns. Items of media show them instead, and descriptions explain each name."""

    @property
    def is_free(self) -> bool:
        """Whether sentences use words instead of names."""
        return self.level != "plain"

    def column(self, name: str) -> str:
        """Return what a sentence calls a column: a paraphrase if one is known."""
        if not self.is_free or not self.has_records or name not in self.meanings:
            return f"`{name}`"
        said = self.meanings[name]
        return said.others[(self.turn + len(name)) % len(said.others)] if said.others else said.phrase

    def unit(self, name: str) -> str:
        """Return the unit of a column, as its meaning says it; empty if it says none."""
        return self.meanings[name].unit if name in self.meanings else ""

    def levels(self, names: Sequence[str], word: str = "or") -> str:
        """Return a list of levels."""
        return listed([level_words(name) if self.is_free else name for name in names], word)

    def pick(self, options: Sequence[Item]) -> Item:
        """Choose one of several."""
        return options[int(self.rng.integers(len(options)))]

    @property
    def quoted(self) -> "Pen":
        """A pen for sentences that are quoted."""
        return replace(self, quotes=False)

    def say(self, *names: str, **fields: str) -> str:
        """Fill in a wording of one of some names. A field with a capital begins with a capital letter."""
        found = [text for name in names for text in phrases(name, has_records=self.has_records)]
        options = found if self.quotes else [text for text in found if '"' not in text]
        fields |= {key.capitalize(): capitalized(value) for key, value in fields.items()}
        for _ in range(_TRIES):
            text = self._filled(self.pick(options)).format(**fields)
            # Where the end of a phrase and the words behind it are the same, another wording is better.
            if not repeats_word(text):
                break
        return text

    def _filled(self, wording: str) -> str:
        """Choose among the alternatives of a wording."""
        first, *others = _CHOICE.split(wording)
        return first + "".join(
            self.pick(part.split("|")) + rest for part, rest in zip(others[::2], others[1::2], strict=True)
        )

    def numbers(self, values: Sequence[float]) -> list[str]:
        """Write a list of numbers without units, either all in digits or all in words."""
        words = [spellings(value) for value in values]
        if not self.is_free or not self.has_records or not all(words) or self.rng.random() > _CHANCE_OF_WORDS:
            return [digits(value) for value in values]
        return [some[0] for some in words]

    def number(self, value: float, column: str = "", unit: str | None = None) -> str:
        """Say exactly this number of a column, in digits or words; in prose with its unit, or in another."""
        if not self.is_free:
            return digits(value) + (f" {unit}" if unit else "")
        known = self.meanings.get(column)
        if known and known.is_share and self.rng.random() < _CHANCE_OF_WORDS:
            for words, share in SHARES.items():
                if isclose(100 * share, value, rel_tol=1e-9):
                    return words
        name = unit if unit is not None else known.unit if known else ""
        others = [
            (value * factor, known_unit)
            for known_unit, factor in UNITS.get(name, ())
            if _FEWEST <= abs(value * factor) <= _MOST and _is_short(value * factor)
        ]
        if others and self.rng.random() < _CHANCE_OF_OTHER_UNIT:
            other, shown = self.pick(others)
            return with_unit(self._written(other), other, shown)
        # A paraphrase may leave open what is measured, so the unit is always written.
        is_certain = bool(unit) or name == "thousand" or bool(known and known.others)
        is_shown = is_certain or self.rng.random() < _CHANCE_OF_UNIT
        written = digits(value) if is_shown and abs(value) < 1 else self._written(value)
        return with_unit(written, value, name if is_shown else "")

    def _written(self, value: float) -> str:
        words, is_long = spellings(value), len(digits(value)) > _MOST_DIGITS
        in_words = words and (is_long or (self.has_records and self.rng.random() < _CHANCE_OF_WORDS))
        return self.pick(words) if in_words else digits(value)


@dataclass(frozen=True)
class Pens:
    """What sentences of a design are written with: its level, what they call columns, and what people say."""

    level: ReadingLevel = "plain"
    meanings: Mapping[str, Spoken] = field(default_factory=dict)
    words: Words = field(default_factory=Words)
    has_records: bool = True

    def of(self, name: str, streams: Streams) -> Pen:
        """Return the pen for the sentences of one fact."""
        rng = streams.generator(name)
        turn = int(rng.integers(12)) if self.level != "plain" else 0
        return Pen(self.level, rng, self.meanings, turn=turn, has_records=self.has_records)


def _is_short(value: float) -> bool:
    return bool(spellings(value)) or len(digits(value).replace(".", "").strip("0")) <= 3


def listed(items: Sequence[str], word: str) -> str:
    """Join items with commas, and with a word before the last."""
    *most, last = items
    return f"{', '.join(most)} {word} {last}" if most else last


def named(name: str) -> dict[str, str]:
    """Return the fields for a name, such as of a quantity, with its article and without."""
    words = name.replace("_", " ")
    return {"name": words, "a_name": with_article(words)}


def meanings_of(domain: Domain, *, has_paraphrases: bool = True) -> dict[str, Spoken]:
    """Return what sentences call the columns of a domain; no paraphrases where a sentence gives the meaning.

    Domains that know nothing of their targets have no meanings that a sentence could use.
    """
    knows = domain.knows
    if not knows.targets:
        return {}
    others = (*domain.categorical, *domain.high_cardinality, *domain.dates, *domain.units)
    found = {word.name: spoken(word.meaning, is_number=False) for word in others}
    numbers = [(word.name, word.meaning) for word in domain.numeric]
    numbers += [(word.name, word.meaning) for word in knows.identities]
    found |= {name: spoken(meaning) for name, meaning in numbers}
    own = domain.words.columns if has_paraphrases else {}
    return {name: replace(said, others=own.get(name, ())) for name, said in found.items()}


def total_of(parts: Collection[str], word: str, joint: str) -> str:
    """Name a sum or a product of noun phrases.

    A phrase that holds `and` itself stands last; where there are several, all are joined by another word.
    """
    *first, last = sorted(parts, key=lambda part: " and " in part)
    is_clear = not any(" and " in part or "," in part for part in first)
    return f"the {word} of {listed([*first, last], 'and') if is_clear else f' {joint} '.join([*first, last])}"


def quotient_of(pen: Pen, top: Sequence[Sequence[str]], bottom: Sequence[Sequence[str]]) -> tuple[str, str, str]:
    """Return a quotient of products of sums as a noun phrase, and its numerator and denominator."""
    over, under = (_product(pen, factors) if factors else "" for factors in (top, bottom))
    if not under:
        return over, over, under
    # What is divided has to be clear: behind a sum, it is said that all of it is.
    return pen.say("quotient_of_sum" if " sum of " in over else "quotient", top=over, bottom=under), over, under


def _product(pen: Pen, factors: Sequence[Sequence[str]]) -> str:
    """Name a product. Sums stand last, where nothing can follow them."""
    singles = [names[0] for names in factors if len(names) == 1]
    squares = [name for name in dict.fromkeys(singles) if singles.count(name) > 1]
    parts = [pen.column(name) for name in dict.fromkeys(singles) if name not in squares]
    parts += [f"the square of {pen.column(name)}" for name in squares]
    sums = [total_of([pen.column(name) for name in names], "sum", "plus") for names in factors if len(names) > 1]
    if len(sums) > 1:
        first, *rest = sums
        return f"{first}, times {', times '.join([*rest, *parts])},"
    if not parts:
        return sums[0]
    if not sums:
        return parts[0] if len(parts) == 1 else total_of(parts, "product", "times")
    return total_of([*parts, *sums], "product", "times")
