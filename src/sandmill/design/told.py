"""What a host can tell of items: quantities, conditions and norms over things that the items show."""

from itertools import combinations

from sandmill.models.channel import Medium
from sandmill.models.domain import Domain, NumericWord
from sandmill.models.english import with_article
from sandmill.models.knowledge import ConditionWord, FormulaWord, Knowledge, NormWord, When

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
    words = []
    names = [word.name for word in domain.numeric]
    for place, (one, two) in enumerate(domain.products):
        column = next(name for name in names[place:] + names if name not in (one, two))
        said = {"column": column, "one": one, "two": two}
        words.append(
            ConditionWord(
                name=f"{column}_where_{one}_{two}",
                when=(When(column=one, side="above"), When(column=two, side="at_most")),
                column=column,
                texts=tuple(text.format(**said) for text in _CONDITIONS),
            )
        )
    return words


def _norms(domain: Domain) -> list[NormWord]:
    """Give numbers a norm by each category in turn."""
    return [
        NormWord(
            name=f"{number.name}_off_norm",
            column=number.name,
            by=category.name,
            texts=tuple(
                text.format(
                    column=number.name,
                    a_column=with_article(number.name, f"`{number.name}`"),
                    by=category.name,
                )
                for text in _NORMS
            ),
        )
        for number, category in zip(domain.numeric, domain.categorical, strict=False)
    ]
