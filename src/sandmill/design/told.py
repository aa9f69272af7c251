"""What a host can tell beside what a domain knows: of things that items show, and of columns like those of a seed."""

from collections.abc import Sequence
from itertools import combinations
from math import exp
from typing import TypeVar

import numpy as np

from sandmill.design.laws import is_fine
from sandmill.models.channel import Medium
from sandmill.models.columns import Cycle
from sandmill.models.domain import CategoricalWord, Domain, Named, NumericWord, ShapedNumber
from sandmill.models.english import with_article
from sandmill.models.knowledge import CodeTableWord, ConditionWord, FormulaWord, Knowledge, NormWord, When

_T = TypeVar("_T")
_U = TypeVar("_U")

_QUOTIENTS = (
    "What people here call the {name} is {top} divided by {bottom}.",
    "The {name} of a case: {top}, divided by {bottom}.",
    "We speak of the {name} and mean {top} over {bottom}.",
    "Divide {top} by {bottom} and you have the {name}, which every newcomer learns on the first day.",
    "On the form the {name} is filled in as {top} by {bottom}.",
)
_CONDITIONS = (
    "`{column}` is looked at only where `{one}` is {{first}} and `{two}` is {{second}}.",
    "Where `{one}` is {{first}} and `{two}` {{second}}, `{column}` tells something; elsewhere nobody minds it.",
    "Old hands take note of `{column}` if `{one}` is {{first}} and `{two}` is {{second}}, and of nothing else then.",
    "With `{one}` {{first}} and `{two}` {{second}} the eye goes to `{column}` first.",
)
_NORMS = (
    "The usual `{column}` depends on `{by}`: {{norms}}. What is off is off in either direction.",
    "By `{by}` one expects {a_column} of {{norms}}, and the distance from it is what strikes people.",
    "`{column}` should be {{norms}}, by `{by}`; more and less are equally odd.",
)

_PARTS = (
    "The {name} is nothing but `{top}` divided by `{bottom}`.",
    "Divide `{top}` by `{bottom}` to get the {name}.",
    "`{top}` over `{bottom}` is what people mean by the {name}.",
    "Everybody here works out the {name}, `{top}` by `{bottom}`.",
)
_CASES = (
    "Cases with {{first}} as `{one}` and {{second}} as `{two}` go to another desk.",
    "If `{one}` is {{first}} and `{two}` is {{second}}, the case is put on a pile of its own.",
    "What is looked for is `{one}` {{first}} together with `{two}` {{second}}.",
)
_FOR_LEVELS = (
    "`{column}` is looked at only where `{one}` is {{first}}.",
    "With {{first}} as `{one}`, `{column}` tells something; elsewhere nobody minds it.",
    "Old hands take note of `{column}` if `{one}` is {{first}}, and of nothing else then.",
)
_ATTRIBUTES = (
    ("grading", "Grading that the office gives to each entry, in points", 1.0, 9.0, 1),
    ("allowance", "Allowance that the accounts use, in points", 10.0, 90.0, 0),
    ("factor_2019", "Factor of the last revision", 0.4, 2.2, 2),
    ("standing", "Standing in the list of the association, in points", 100.0, 900.0, 0),
)
"""Numbers that offices keep for the levels of any category: name, meaning, range and decimals."""
_FIGURES = (
    "house_index",
    "ledger_figure",
    "desk_index",
    "office_figure",
    "blue_index",
    "counter_figure",
    "round_index",
    "back_room_figure",
)
_SLIPS = ("red_slip", "grey_slip", "back_room", "second_desk", "late_list", "green_folder", "upper_shelf", "short_list")
"""Names that people of any trade give to figures that they work out, and to cases that they set apart."""
_MOST_OF_A_KIND = 3
"""Most forms of a kind that a table of a seed's shape gets beside those of its domain."""
_FEW_LEVELS, _MANY_LEVELS = 8, 60
"""Most levels of a norm, and of a code table."""
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
    positive = [word.name for word in fine if _stays_positive(word)]
    few = [word for word in domain.categorical if len(word.levels) <= _FEW_LEVELS]
    formulas = [
        _ratio(*pair, name) for pair, name in zip(_pairs(positive, positive, rng), _coined(_FIGURES, rng), strict=False)
    ]
    norms = [_norm(one, by, f"{one.name}_off_{by.name}") for one, by in _pairs(fine, few, rng)]
    chosen = zip(_triples([word.name for word in fine], rng), _coined(_SLIPS, rng), strict=False)
    conditions = [_condition(*columns, name) for columns, name in chosen]
    cases = (
        [*_pairs([word.name for word in fine], few, rng), *_pairs(few, few, rng)] if len(fine) < _FEW_NUMBERS else []
    )
    conditions += [_of_levels(*pair, name) for pair, name in zip(cases, _coined(_SLIPS, rng), strict=False)]
    listed = [word for word in (*domain.categorical, *many) if _FEW_LEVELS <= len(word.levels) <= _MANY_LEVELS]
    codes = [
        _codes(word, _ATTRIBUTES[place]) for word, place in zip(listed, rng.permutation(len(_ATTRIBUTES)), strict=False)
    ]
    knows = domain.knows
    more = {
        "formulas": (*knows.formulas, *formulas),
        "conditions": (*knows.conditions, *conditions),
        "norms": (*knows.norms, *norms),
        "code_tables": (*knows.code_tables, *codes),
    }
    return domain.model_copy(update={"knows": knows.model_copy(update=more)})


def _stays_positive(word: NumericWord) -> bool:
    """Return whether no value of a column is rounded to 0."""
    least = 10.0**-word.decimals
    if isinstance(word, ShapedNumber):
        return word.law.values[0] > max(least, word.law.grid)
    law = word.distribution
    return (law.kind == "lognormal" and law.median * exp(-_RARE * law.sigma) > least) or (
        law.kind == "uniform" and law.low > least
    )


def _pairs(firsts: Sequence[_T], seconds: Sequence[_U], rng: np.random.Generator) -> list[tuple[_T, _U]]:
    """Draw pairs of different things of two lists."""
    pairs = [(one, other) for one in firsts for other in seconds if one is not other]
    return [pairs[place] for place in rng.permutation(len(pairs))[:_MOST_OF_A_KIND]]


def _triples(names: Sequence[str], rng: np.random.Generator) -> list[tuple[str, str, str]]:
    if len(names) < 3:
        return []
    return [
        (names[a], names[b], names[c]) for a, b, c in (rng.permutation(len(names))[:3] for _ in range(_MOST_OF_A_KIND))
    ]


def _coined(names: Sequence[str], rng: np.random.Generator) -> list[str]:
    return [names[place] for place in rng.permutation(len(names))]


def _ratio(top: str, bottom: str, name: str) -> FormulaWord:
    texts = tuple(text.format(name=name.replace("_", " "), top=top, bottom=bottom) for text in _PARTS)
    return FormulaWord(name=name, top=((top,),), bottom=((bottom,),), texts=texts)


def _codes(word: CategoricalWord, attribute: tuple[str, str, float, float, int]) -> CodeTableWord:
    name, meaning, low, high, decimals = attribute
    return CodeTableWord(column=word.name, attribute=name, meaning=meaning, low=low, high=high, decimals=decimals)


def with_told_forms(medium: Medium) -> Domain:
    """Return the domain of a medium with what its host can tell.

    The forms are those that blind solvers hardly find: sums in quotients, conditions on two things, norms by category.
    """
    domain = medium.domain
    knows = Knowledge(
        formulas=tuple(_quotients(domain)),
        conditions=tuple(_conditions(domain)),
        norms=tuple(_norms(domain)),
        overviews=domain.knows.overviews,
        asides=domain.knows.asides,
    )
    return domain.model_copy(update={"knows": knows})


def _quotients(domain: Domain) -> list[FormulaWord]:
    """Make a quotient of two sums of every two pairs of the domain that share no column."""
    return [
        FormulaWord(
            name=f"{pair[0]}_to_{other[0]}_ratio",
            top=(pair,),
            bottom=(other,),
            texts=_quotient_texts(f"{pair[0]} to {other[0]} ratio".replace("_", " "), pair, other),
        )
        for pair, other in combinations(_positive(domain), 2)
        if not set(pair) & set(other)
    ]


def _positive(domain: Domain) -> list[tuple[str, str]]:
    """Return the pairs of the domain whose columns are positive."""
    positive = {word.name for word in domain.numeric if _is_positive(word)}
    return [pair for pair in (*domain.products, *domain.ratios) if positive.issuperset(pair)]


def _is_positive(word: NumericWord) -> bool:
    law = word.distribution
    return law.kind == "lognormal" or (law.kind == "uniform" and law.low > 0)


def _quotient_texts(name: str, top: tuple[str, str], bottom: tuple[str, str]) -> tuple[str, ...]:
    sums = {"top": f"`{top[0]}` plus `{top[1]}`", "bottom": f"`{bottom[0]}` plus `{bottom[1]}`"}
    return tuple(text.format(name=name, **sums) for text in _QUOTIENTS)


def _conditions(domain: Domain) -> list[ConditionWord]:
    """Let every number count only where two others are large or small, taking the domain's pairs in turn."""
    names = [word.name for word in domain.numeric]
    return [
        _condition(column, one, two, f"{column}_where_{one}_{two}")
        for place, (one, two) in enumerate(domain.products)
        for column in [next(name for name in names[place:] + names if name not in (one, two))]
    ]


def _condition(column: str, one: str, two: str, name: str) -> ConditionWord:
    """Let a number count only where one other is large and one is small."""
    return ConditionWord(
        name=name,
        when=(When(column=one, side="above"), When(column=two, side="at_most")),
        column=column,
        texts=tuple(text.format(column=column, one=one, two=two) for text in _CONDITIONS),
    )


def _of_levels(first: str | Named, by: Named, name: str) -> ConditionWord:
    """Let a number count only for some levels of a category, or some levels of two categories count together."""
    if isinstance(first, str):
        texts = tuple(text.format(column=first, one=by.name) for text in _FOR_LEVELS)
        return ConditionWord(name=name, when=(When(column=by.name, side="levels"),), column=first, texts=texts)
    when = (When(column=first.name, side="levels"), When(column=by.name, side="levels"))
    return ConditionWord(name=name, when=when, texts=tuple(text.format(one=first.name, two=by.name) for text in _CASES))


def _norms(domain: Domain) -> list[NormWord]:
    """Give numbers a norm by each category in turn."""
    pairs = zip(domain.numeric, domain.categorical, strict=False)
    return [_norm(number, category, f"{number.name}_off_norm") for number, category in pairs]


def _norm(number: Named, category: Named, name: str) -> NormWord:
    said = {
        "column": number.name,
        "a_column": with_article(number.name, f"`{number.name}`"),
        "by": category.name,
    }
    return NormWord(
        name=name,
        column=number.name,
        by=category.name,
        texts=tuple(text.format(**said) for text in _NORMS),
    )
