"""What a host can tell beside what a domain knows: of things that items show, and of columns like those of a seed."""

from collections.abc import Sequence
from itertools import combinations
from math import exp
from typing import TypeVar

import numpy as np

from sandmill.design.laws import is_fine
from sandmill.models.channel import Medium
from sandmill.models.columns import Cycle, LogNormal
from sandmill.models.domain import CategoricalWord, Domain, Named, NumericWord, ShapedNumber
from sandmill.models.knowledge import CodeTableWord, ConditionWord, FormulaWord, Knowledge, NormWord, When
from sandmill.models.words import WORDS

_Item = TypeVar("_Item")
_One = TypeVar("_One", bound=Named)
_Other = TypeVar("_Other", bound=Named)

_ATTRIBUTES = [tuple(attribute) for attribute in WORDS["attributes"]]
"""Numbers that offices keep for the levels of any category: name, meaning, range and decimals."""
_FIGURES: list[str] = WORDS["figures"]
_SLIPS: list[str] = WORDS["slips"]
"""Names that people of any trade give to figures that they work out, and to cases that they set apart."""
_MOST_OF_A_KIND = 3
"""Most forms of a kind that a table of a seed's shape gets beside those of its domain."""
_FEW_LEVELS, _NORM_LEVELS, _MANY_LEVELS = 8, 6, 60
"""Most levels of a condition, of a norm and of a code table."""
_FEW_NUMBERS = 4
"""Numbers below which conditions name levels too."""
_RARE = 4.0
"""Standard deviations below which a positive column hardly lies."""


def with_forms_of_columns(domain: Domain, many: Sequence[CategoricalWord], rng: np.random.Generator) -> Domain:
    """Return the domain of a table of a seed's shape with further forms over its columns.

    Few of the domain's own forms are left where most columns are not the domain's.

    Args:
        domain: with the columns of the table.
        many: columns of many levels.
        rng: for the draws.
    """
    numbers = [word for word in domain.numeric if not isinstance(word.distribution, Cycle)]
    fine = [word for word in numbers if not isinstance(word, ShapedNumber) or is_fine(word.law)]
    positive = [word for word in fine if _stays_positive(word)]
    few = [word for word in domain.categorical if len(word.levels) <= _FEW_LEVELS]
    listed = [word for word in (*domain.categorical, *many) if _FEW_LEVELS <= len(word.levels) <= _MANY_LEVELS]
    formulas = [
        FormulaWord(name=name, top=((top.name,),), bottom=((bottom.name,),))
        for name, (top, bottom) in zip(_drawn(_FIGURES, rng), _pairs(positive, positive, rng), strict=False)
    ]
    fewer = [word for word in few if len(word.levels) <= _NORM_LEVELS]
    norms = [
        NormWord(name=f"{one.name}_off_{by.name}", column=one.name, by=by.name) for one, by in _pairs(fine, fewer, rng)
    ]
    conditions = _conditions_on(fine, few, rng)
    codes = [
        CodeTableWord(column=word.name, attribute=name, meaning=meaning, low=low, high=high, decimals=decimals)
        for word, (name, meaning, low, high, decimals) in zip(listed, _drawn(_ATTRIBUTES, rng), strict=False)
    ]
    knows = domain.knows
    more = {
        "formulas": (*knows.formulas, *formulas),
        "conditions": (*knows.conditions, *conditions),
        "norms": (*knows.norms, *norms),
        "code_tables": (*knows.code_tables, *codes),
    }
    return domain.model_copy(update={"knows": knows.model_copy(update=more)})


def _conditions_on(
    numbers: Sequence[NumericWord], categories: Sequence[CategoricalWord], rng: np.random.Generator
) -> list[ConditionWord]:
    """Let numbers count where two others are large and small. Where there are few, levels take the place of numbers."""
    found: list[tuple[Named | None, tuple[When, ...]]] = []
    if len(numbers) >= _FEW_NUMBERS - 1:
        for _ in range(_MOST_OF_A_KIND):
            one, two, column = (numbers[place] for place in rng.permutation(len(numbers))[:3])
            found.append((column, (When(column=one.name, side="above"), When(column=two.name, side="at_most"))))
    if len(numbers) < _FEW_NUMBERS:
        for number, by in _pairs(numbers, categories, rng):
            found.append((number, (When(column=by.name, side="levels"),)))
        for first, second in _pairs(categories, categories, rng):
            found.append((None, (When(column=first.name, side="levels"), When(column=second.name, side="levels"))))
    return [
        ConditionWord(name=name, when=when, column=column.name if column else None)
        for name, (column, when) in zip(_drawn(_SLIPS, rng), found, strict=False)
    ]


def _stays_positive(word: NumericWord) -> bool:
    """Return whether no value of a column is rounded to 0."""
    least, law = 10.0**-word.decimals, word.distribution
    if isinstance(word, ShapedNumber):
        return word.law.values[0] > max(least, word.law.grid)
    if law.kind == "lognormal":
        return law.median * exp(-_RARE * law.sigma) > least
    return law.kind == "uniform" and law.low > least


def _pairs(firsts: Sequence[_One], seconds: Sequence[_Other], rng: np.random.Generator) -> list[tuple[_One, _Other]]:
    """Draw some pairs of different words of two lists."""
    pairs = [(one, other) for one in firsts for other in seconds if one.name != other.name]
    return [pairs[place] for place in rng.permutation(len(pairs))[:_MOST_OF_A_KIND]]


def _drawn(items: Sequence[_Item], rng: np.random.Generator) -> list[_Item]:
    return [items[place] for place in rng.permutation(len(items))]


def with_told_forms(medium: Medium) -> Domain:
    """Return the domain of a medium with what its host can tell: the forms that the domain knows, else general ones.

    General forms are those that blind solvers hardly find: sums in quotients, conditions on two things, norms by
    category. Quotients are of every two pairs of positive columns that share none. Every number counts only where the
    two of a pair are large and small, and has a norm by a category, each in turn. What needs columns or files of its
    own, such as child tables, is left out.
    """
    domain = medium.domain
    numeric = [word for word in domain.numeric if word.name not in medium.unread]
    categorical = [word for word in domain.categorical if word.name not in medium.unread]
    names = [word.name for word in numeric]
    laws = {word.name: word.distribution for word in numeric}
    positive = {name for name, law in laws.items() if isinstance(law, LogNormal) or getattr(law, "low", 0.0) > 0}
    pairs = [pair for pair in (*domain.products, *domain.ratios) if positive.issuperset(pair)]
    conditions = []
    for place, (one, two) in enumerate(pair for pair in domain.products if laws.keys() >= set(pair)):
        column = next(name for name in names[place:] + names if name not in (one, two))
        when = (When(column=one, side="above"), When(column=two, side="at_most"))
        conditions.append(ConditionWord(name=f"{column}_where_{one}_{two}", when=when, column=column))
    knows = domain.knows
    told = Knowledge(
        formulas=knows.formulas
        or tuple(
            FormulaWord(name=f"{pair[0]}_to_{other[0]}_ratio", top=(pair,), bottom=(other,))
            for pair, other in combinations(pairs, 2)
            if not set(pair) & set(other)
        ),
        conditions=knows.conditions or tuple(conditions),
        norms=knows.norms
        or tuple(
            NormWord(name=f"{number.name}_off_norm", column=number.name, by=category.name)
            for number, category in zip(numeric, categorical, strict=False)
        ),
        targets=knows.targets,
        overviews=knows.overviews,
        asides=knows.asides,
    )
    return domain.model_copy(update={"knows": told})
