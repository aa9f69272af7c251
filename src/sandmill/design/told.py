"""What a host can tell of items: quantities, conditions and norms over things that the items show."""

from itertools import combinations

from sandmill.models.channel import Medium
from sandmill.models.domain import Domain, NumericWord
from sandmill.models.knowledge import ConditionWord, FormulaWord, Knowledge, NormWord, When


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
        FormulaWord(name=f"{pair[0]}_to_{other[0]}_ratio", top=(pair,), bottom=(other,))
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


def _conditions(domain: Domain) -> list[ConditionWord]:
    """Let every number count only where two others are large or small, taking the domain's pairs in turn."""
    words = []
    names = [word.name for word in domain.numeric]
    for place, (one, two) in enumerate(domain.products):
        column = next(name for name in names[place:] + names if name not in (one, two))
        words.append(
            ConditionWord(
                name=f"{column}_where_{one}_{two}",
                when=(When(column=one, side="above"), When(column=two, side="at_most")),
                column=column,
            )
        )
    return words


def _norms(domain: Domain) -> list[NormWord]:
    """Give numbers a norm by each category in turn."""
    return [
        NormWord(name=f"{number.name}_off_norm", column=number.name, by=category.name)
        for number, category in zip(domain.numeric, domain.categorical, strict=False)
    ]
