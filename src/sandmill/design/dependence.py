"""Let the columns of a design depend on each other as their domain knows: factors, identities and limits."""

from collections.abc import Sequence

from sandmill.models.columns import Categorical, Column, Cycle, Date, Identity, LogNormal, Unit
from sandmill.models.knowledge import ExclusionWord, IdentityWord, Knowledge
from sandmill.models.mechanism import Exclusion, Order
from sandmill.rng import Streams

_LEAST_LOAD, _MOST_LOAD = 0.9, 1.15
"""Range of the factor by which a design changes a correlation that the domain knows."""
_CHANCE_OF_OWN, _LEAST_OWN, _MOST_OWN = 0.75, 0.4, 0.75
"""Chance that a category without a correlation of its own follows a factor, and the range of that correlation."""
_MOST_SHARED = 0.92
"""Largest share of a column's variance that factors explain, so that hidden cells stay uncertain."""
_CHANCE_OF_IDENTITY = 0.7
"""Chance that an identity is among the columns, if all its parts are."""


def load_columns(columns: Sequence[Column], knows: Knowledge, streams: Streams) -> tuple[Column, ...]:
    """Give columns the loadings on the factors of their domain, each changed a little.

    Draws are keyed by names, so they do not change when other columns are added or removed. Changing the sign of a
    whole factor would change no distribution, so signs are those of the domain.
    """
    return tuple(_loaded(column, knows, streams) for column in columns)


def identity_columns(columns: Sequence[Column], knows: Knowledge, streams: Streams) -> tuple[Column, ...]:
    """Draw columns that are determined by the chosen ones."""
    by_name = {column.name: column for column in columns}
    found = [word for word in knows.identities if _is_possible(word, by_name)]
    return tuple(
        Column(name=word.name, distribution=Identity(how=word.how, of=word.of), decimals=word.decimals)
        for word in found
        if streams.generator(f"identity {word.name}").random() < _CHANCE_OF_IDENTITY
    )


def limits_of(columns: Sequence[Column], knows: Knowledge) -> tuple[Order | Exclusion, ...]:
    """Return what never occurs between the chosen columns."""
    by_name = {column.name: column for column in columns if column.unit is None}
    orders = [
        Order(lower=word.lower, upper=word.upper)
        for word in knows.orders
        if word.lower in by_name and word.upper in by_name
    ]
    exclusions = [
        limit
        for word in knows.exclusions
        if word.column in by_name and word.by in by_name
        for limit in _exclusions(word, by_name[word.by])
    ]
    return (*orders, *exclusions)


def limited_columns(knows: Knowledge) -> frozenset[str]:
    """Return the names of columns that the limits of a domain read. They differ between the rows of a unit."""
    pairs = [
        *((word.lower, word.upper) for word in knows.orders),
        *((word.column, word.by) for word in knows.exclusions),
    ]
    return frozenset(name for pair in pairs for name in pair)


def parts_of_identities(columns: Sequence[Column]) -> frozenset[str]:
    """Return the names of columns that determine another one. Their cells have no faults."""
    laws = [column.distribution for column in columns]
    return frozenset(part for law in laws if isinstance(law, Identity) for part in law.of)


def _loaded(column: Column, knows: Knowledge, streams: Streams) -> Column:
    if isinstance(column.distribution, Cycle | Date | Unit | Identity):
        return column
    loads = [
        factor.loads.get(column.name, 0.0)
        * float(streams.generator(f"load {factor.name} {column.name}").uniform(_LEAST_LOAD, _MOST_LOAD))
        for factor in knows.factors
    ]
    if not any(loads) and knows.factors and isinstance(column.distribution, Categorical):
        return _category_on_a_factor(column, column.distribution, len(knows.factors), streams)
    if not any(loads):
        return column
    shared = sum(load**2 for load in loads)
    shrink = min(1.0, (_MOST_SHARED / shared) ** 0.5)
    # Rounding towards 0 keeps the sum of squares below the bound.
    loadings = tuple(int(load * shrink * 1e4) / 1e4 for load in loads)
    law = column.distribution
    order = knows.level_orders.get(column.name, ())
    if isinstance(law, Categorical) and order:
        law = law.model_copy(update={"order": tuple(law.levels.index(level) for level in order)})
    return column.model_copy(update={"loadings": loadings, "distribution": law})


def _category_on_a_factor(column: Column, law: Categorical, factors: int, streams: Streams) -> Column:
    """Let a category that the domain says nothing of follow one factor, with its levels in a drawn order."""
    rng = streams.generator(f"own load {column.name}")
    place, load = int(rng.integers(factors)), round(float(rng.uniform(_LEAST_OWN, _MOST_OWN)), 4)
    order = tuple(int(code) for code in rng.permutation(len(law.levels)))
    if rng.random() >= _CHANCE_OF_OWN:
        return column
    loadings = tuple(load if number == place else 0.0 for number in range(factors))
    return column.model_copy(update={"loadings": loadings, "distribution": law.model_copy(update={"order": order})})


def _is_possible(word: IdentityWord, by_name: dict[str, Column]) -> bool:
    """Return whether all parts are chosen numbers, and no divisor can be 0."""
    if word.name in by_name or not set(word.of) <= by_name.keys():
        return False
    parts = [by_name[name].distribution for name in word.of]
    if any(isinstance(part, Categorical | Date | Unit) for part in parts):
        return False
    return word.how != "quotient" or isinstance(parts[-1], LogNormal)


def _exclusions(word: ExclusionWord, by: Column) -> list[Exclusion]:
    """Return one exclusion for each end: a word may exclude levels both below and above."""
    if not isinstance(by.distribution, Categorical):
        raise TypeError(f"column {by.name} has no levels to exclude")
    codes = tuple(by.distribution.levels.index(level) for level in word.levels)
    ends = [{"below": word.below}, {"above": word.above}]
    return [
        Exclusion.model_validate({"column": word.column, "by": word.by, "levels": codes, **end})
        for end in ends
        if None not in end.values()
    ]
