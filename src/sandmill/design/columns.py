"""Choose the columns of a design, in an order that does not reveal their role, and how they depend on each other."""

from collections.abc import Collection, Iterable, Sequence, Set
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from sandmill.design.conditions import Conditions
from sandmill.design.rule import TRAIN_SHARE, Rule
from sandmill.design.shape import Shape
from sandmill.design.strength import load_like
from sandmill.design.vocabulary import Vocabulary, Word
from sandmill.models.columns import (
    Categorical,
    Column,
    Cycle,
    Date,
    Identity,
    LogNormal,
    Normal,
    Quantiles,
    Shift,
    Trend,
    Unit,
)
from sandmill.models.domain import (
    CategoricalWord,
    DateWord,
    NumericWord,
    ShapedCategory,
    ShapedNumber,
    UnitWord,
)
from sandmill.models.knowledge import ExclusionWord, IdentityWord, Knowledge
from sandmill.models.mechanism import Exclusion, Limit
from sandmill.models.structure import PathologyKind, SplitKind, Structure
from sandmill.rng import Streams

_LEAST_LOAD, _MOST_LOAD = 0.9, 1.15
"""Range of the factor by which a design changes a correlation that the domain knows."""
_CHANCE_OF_OWN, _LEAST_OWN, _MOST_OWN = 0.75, 0.4, 0.75
"""Chance that a category without a correlation of its own follows a factor, and the range of that correlation."""
_MOST_SHARED = 0.92
"""Largest share of a column's variance that factors explain, so that hidden cells stay uncertain."""
_CHANCE_OF_IDENTITY = 0.7
"""Chance that an identity is among the columns, if all its parts are."""

Placed = TypeVar("Placed", NumericWord | CategoricalWord | DateWord | UnitWord, Column)
_EVEN, _UNEVEN, _HIGH_CARDINALITY = 6.0, 1.0, 2.0
"""Dirichlet concentrations of level shares: for few levels of similar or uneven frequency, and for many levels."""
_CHANCE_OF_RARE_LEVELS = 0.25
_CHANCE_OF_SHIFT, _CHANCE_OF_TREND, _CHANCE_OF_UNIT = 0.35, 0.35, 0.3
_MOST_DISTRACTORS = 5
_MIN_ROW_LEVEL = 2
"""Continuous columns that keep a value of their own in each row of a unit."""
_MIN_UNIT_SIZE, _MAX_UNIT_SIZE = 4, 8
"""Range of the average number of rows of a unit."""
_MANY_LEVELS = 16
"""A column with more levels counts as one of high cardinality."""


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


def limits_of(columns: Sequence[Column], knows: Knowledge) -> tuple[Limit, ...]:
    """Return what never occurs between the chosen columns."""
    by_name = {column.name: column for column in columns if column.unit is None}
    orders = [order for order in knows.orders if order.lower in by_name and order.upper in by_name]
    exclusions = [
        limit
        for word in knows.exclusions
        if word.column in by_name and word.by in by_name
        for limit in _exclusions(word, by_name[word.by])
    ]
    return (*orders, *exclusions)


def limited_columns(knows: Knowledge) -> frozenset[str]:
    """Return the names of columns that the limits of a domain read. They differ between the rows of a unit."""
    names = {name for word in knows.orders for name in (word.lower, word.upper)}
    return frozenset(names | {name for word in knows.exclusions for name in (word.column, word.by)})


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
    law = column.distribution
    if not any(loads):
        if loads and isinstance(law, Categorical):
            return _category_on_a_factor(column, law, len(loads), streams)
        return column
    shared = sum(load**2 for load in loads)
    shrink = min(1.0, (_MOST_SHARED / shared) ** 0.5)
    # Rounding towards 0 keeps the sum of squares below the bound.
    loadings = tuple(int(load * shrink * 1e4) / 1e4 for load in loads)
    order = knows.level_orders.get(column.name, ())
    if isinstance(law, Categorical) and order:
        law = law.model_copy(update={"order": _codes(law.levels, order)})
    return column.model_copy(update={"loadings": loadings, "distribution": law})


def _codes(levels: Sequence[str], order: Sequence[str]) -> tuple[int, ...]:
    """Return the codes of levels in an order of names, some of which may be no levels here."""
    return tuple(levels.index(level) for level in order if level in levels)


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
    codes = _codes(by.distribution.levels, word.levels)
    ends = {"below": word.below, "above": word.above} if codes else {}
    return [
        Exclusion.model_validate({"column": word.column, "by": word.by, "levels": codes, end: value})
        for end, value in ends.items()
        if value is not None
    ]


@dataclass(frozen=True)
class Outline:
    """The settled parts of a design, from which its columns, faults and texts are drawn."""

    structure: Structure
    conditions: Conditions
    vocabulary: Vocabulary
    streams: Streams
    shape: Shape | None
    """What the seed asks of the columns; None if it declares nothing."""


def choose_columns(
    outline: Outline, rule: Rule, hardness: float, of_unit: Collection[str] | None = None
) -> tuple[Column, ...]:
    """Draw the columns of a design and their dependence on each other, on the date and on units.

    With a shape, all columns of the vocabulary are those of the design. `of_unit` names the columns that have one value
    for each unit; they are drawn if it is None.
    """
    conditions, vocabulary, streams, shape = outline.conditions, outline.vocabulary, outline.streams, outline.shape
    knows = vocabulary.domain.knows
    if shape:
        chosen = _in_place(vocabulary.words, streams)
    else:
        chosen = choose_candidates(outline.structure, vocabulary, rule, hardness, streams)
    drawn = tuple(_column(candidate, conditions, streams) for candidate in chosen)
    columns = _within_units(drawn, limited_columns(knows), streams, of_unit)
    parents = sorted((c for c in columns if isinstance(c.distribution, Categorical)), key=lambda column: column.name)
    parents = [parent for parent in parents if parent.name in rule.columns]
    date = next((column for column in columns if isinstance(column.distribution, Date)), None)
    drifting = date if PathologyKind.DRIFT in conditions.faults else None
    shifted = tuple(_dependent(column, parents, drifting, streams) for column in columns)
    identities = identity_columns(shifted, knows, streams)
    if shape:
        identities = identities[: max(0, len(shape.numbers) - len(vocabulary.numeric) + len(shape.flags))]
    loaded = load_columns(shifted, knows, streams)
    if shape and shape.profile:
        loaded = load_like(loaded, shape.profile, streams)
    return _in_place((*loaded, *identities), streams)


def choose_candidates(
    structure: Structure, vocabulary: Vocabulary, rule: Rule, hardness: float, streams: Streams
) -> tuple[Word, ...]:
    """Choose the columns of the rule and the distractors, which are more in harder designs."""
    rng, words = streams.generator("columns"), vocabulary.words
    ranked = [words[i] for i in rng.permutation(len(words))]
    spare = [word for word in ranked if word.name not in rule.columns]
    plain = [word.name for word in spare if isinstance(word, NumericWord)]
    named = [word.name for word in spare if word in vocabulary.categorical]
    many_levels = [word.name for word in spare if word in vocabulary.high_cardinality]
    used = sum(word.name in rule.columns for word in (*vocabulary.categorical, *vocabulary.high_cardinality))
    wanted = max(0, min(structure.columns.categorical, len(vocabulary.categorical)) - used)
    has_none = len(many_levels) == len(vocabulary.high_cardinality)
    is_lacking = PathologyKind.HIGH_CARDINALITY in structure.pathologies and has_none
    chosen = {
        *rule.columns,
        *(word.name for word in words if isinstance(word, DateWord | UnitWord)),
        *plain[: round(hardness * _MOST_DISTRACTORS)],
        *named[: min(wanted, round(2 * hardness))],
        *many_levels[: int(is_lacking)],
    }
    # Places are drawn: the order in which columns were picked would show the distractors.
    kept = (word for word in ranked if word.name in chosen)
    return _in_place(kept, streams)


def _in_place(items: Iterable[Placed], streams: Streams) -> tuple[Placed, ...]:
    """Order words or columns by places that are drawn for their names."""
    return tuple(sorted(items, key=lambda item: streams.key(f"place {item.name}")))


def exact_shares(shares: Sequence[float] | np.ndarray, least: float = 0.01) -> tuple[float, ...]:
    """Round shares to 4 decimals and adjust the largest, so that they sum to 1 on every machine."""
    rounded = [max(round(float(share), 4), least) for share in shares]
    largest = rounded.index(max(rounded))
    rounded[largest] = round(rounded[largest] + 1 - sum(rounded), 4)
    return tuple(rounded)


def _column(candidate: Word, conditions: Conditions, streams: Streams) -> Column:
    match candidate:
        case ShapedNumber(law=law):
            return Column(name=candidate.name, distribution=law, decimals=candidate.decimals)
        case ShapedCategory(levels=levels, shares=given):
            return Column(name=candidate.name, distribution=Categorical(levels=levels, shares=given), decimals=0)
        case NumericWord():
            return Column(name=candidate.name, distribution=candidate.distribution, decimals=candidate.decimals)
        case DateWord(first=first, days=days):
            cut = round(days * TRAIN_SHARE) if conditions.split is SplitKind.TEMPORAL else None
            return Column(name=candidate.name, distribution=Date(first=first, days=days, train_days=cut), decimals=0)
        case UnitWord(prefix=prefix):
            size = int(streams.generator("unit size").integers(_MIN_UNIT_SIZE, _MAX_UNIT_SIZE + 1))
            return Column(name=candidate.name, distribution=Unit(prefix=prefix, size=size), decimals=0)
        case CategoricalWord(levels=levels):
            rng = streams.generator(f"levels {candidate.name}")
            evenness = _EVEN if rng.random() > _CHANCE_OF_RARE_LEVELS else _UNEVEN
            has_many = len(levels) > _MANY_LEVELS
            drawn = rng.dirichlet(np.full(len(levels), _HIGH_CARDINALITY if has_many else evenness))
            shares = exact_shares(drawn, 0.002 if has_many else 0.01)
            return Column(name=candidate.name, distribution=Categorical(levels=levels, shares=shares), decimals=0)


def _within_units(
    columns: tuple[Column, ...], limited: Set[str], streams: Streams, of_unit: Collection[str] | None
) -> tuple[Column, ...]:
    """Make some columns properties of the unit, with the same value in all its rows; none of the limited ones."""
    unit = next((column.name for column in columns if isinstance(column.distribution, Unit)), None)
    if unit is None:
        return columns
    draws = {column.name: streams.generator(f"unit of {column.name}").random() for column in columns}
    own = [column.name for column in columns if isinstance(column.distribution, Normal | LogNormal)][:_MIN_ROW_LEVEL]
    drawn = {name for name, draw in draws.items() if draw < _CHANCE_OF_UNIT} - {*own, *limited}
    shared = drawn if of_unit is None else of_unit
    return tuple(
        column.model_copy(update={"unit": unit})
        if column.name in shared and not isinstance(column.distribution, Date | Unit)
        else column
        for column in columns
    )


def _dependent(column: Column, parents: list[Column], date: Column | None, streams: Streams) -> Column:
    """Let a continuous column depend on a categorical column and on the date, as in real tables.

    Draws are keyed by the column's name, so they do not change when other columns are added or removed.
    """
    rng = streams.generator(f"shift {column.name}")
    shifts, drifts, pick = rng.random(3)
    if column.unit or not isinstance(column.distribution, Normal | LogNormal):
        return column
    if date is not None and drifts < _CHANCE_OF_TREND:
        trend = Trend(by=date.name, per_year=round(float(rng.normal(scale=0.35)), 4))
        column = column.model_copy(update={"trend": trend})
    if shifts > _CHANCE_OF_SHIFT or not parents:
        return column
    parent = parents[int(pick * len(parents))]
    levels = len(parent.distribution.levels) if isinstance(parent.distribution, Categorical) else 0
    amounts = tuple(round(float(amount), 4) for amount in rng.normal(scale=0.5, size=levels))
    return column.model_copy(update={"shift": Shift(by=parent.name, amounts=amounts)})


def may_be_wrong(columns: Sequence[Column]) -> list[Column]:
    """Return the columns whose cells may have faults: continuous ones that differ between the rows of a unit.

    Parts of an identity are left out.
    """
    parts, others = parts_of_identities(columns), Categorical | Cycle | Date | Unit | Identity | Quantiles
    return [
        column
        for column in columns
        if not isinstance(column.distribution, others) and not column.unit and column.name not in parts
    ]
