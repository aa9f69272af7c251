"""Columns of a design: those of the rule, and distractors, in an order that says nothing of their role."""

from collections.abc import Sequence

import numpy as np

from sandmill.design.conditions import Conditions
from sandmill.design.rule import TRAIN_SHARE, Rule
from sandmill.design.vocabulary import Vocabulary
from sandmill.models.domain import CategoricalWord, DateWord, NumericWord, UnitWord
from sandmill.models.mechanism import (
    Categorical,
    Column,
    Cycle,
    Date,
    LogNormal,
    Normal,
    Shift,
    Trend,
    Unit,
)
from sandmill.models.structure import PathologyKind, SplitKind, Structure
from sandmill.rng import Streams

Word = NumericWord | CategoricalWord | DateWord | UnitWord

_EVEN, _UNEVEN, _HIGH_CARDINALITY = 6.0, 1.0, 2.0
"""Dirichlet concentrations of a categorical column's levels: about alike, or some of them rare."""
_CHANCE_OF_RARE_LEVELS = 0.25
_CHANCE_OF_SHIFT, _CHANCE_OF_TREND, _CHANCE_OF_UNIT = 0.35, 0.35, 0.3
_MOST_DISTRACTORS = 5
_OWN_AT_LEAST = 2
"""Quantities that differ from row to row, so that rows of a unit are not all alike."""
_LEAST_UNIT, _MOST_UNIT = 4, 8
"""Rows of a unit on average."""


def choose_columns(
    structure: Structure, words: Vocabulary, conditions: Conditions, rule: Rule, hardness: float, streams: Streams
) -> tuple[Column, ...]:
    """Draw the columns of a design, with how they depend on each other, on dates and on units."""
    columns = tuple(
        _column(word, conditions, streams) for word in choose_words(structure, words, rule, hardness, streams)
    )
    columns = _within_units(columns, streams)
    parents = sorted((c for c in columns if isinstance(c.distribution, Categorical)), key=lambda column: column.name)
    parents = [parent for parent in parents if parent.name in rule.columns]
    date = next((column for column in columns if isinstance(column.distribution, Date)), None)
    drifting = date if PathologyKind.DRIFT in conditions.faults else None
    return tuple(_dependent(column, parents, drifting, streams) for column in columns)


def choose_words(
    structure: Structure, words: Vocabulary, rule: Rule, hardness: float, streams: Streams
) -> tuple[Word, ...]:
    """The rule's words and those of distractors: more of these, the harder the design."""
    rng = streams.generator("columns")
    few: list[Word] = [*words.numeric, *words.categorical, *words.high_cardinality]
    fixed: list[Word] = [word for word in (words.date, words.unit) if word is not None]
    ranked = [(few + fixed)[i] for i in rng.permutation(len(few) + len(fixed))]
    spare = [word for word in ranked if word.name not in rule.columns]
    plain = [word.name for word in spare if isinstance(word, NumericWord)]
    named = [word.name for word in spare if word in words.categorical]
    high_cardinality = [word.name for word in spare if word in words.high_cardinality]
    used = [word for word in (*words.categorical, *words.high_cardinality) if word.name in rule.columns]
    wanted = max(0, min(structure.columns.categorical, len(words.categorical)) - len(used))
    has_high_cardinality = PathologyKind.HIGH_CARDINALITY in structure.pathologies and not set(
        words.high_cardinality
    ) & set(used)
    chosen = {
        *rule.columns,
        *(word.name for word in fixed),
        *plain[: round(hardness * _MOST_DISTRACTORS)],
        *named[: min(wanted, round(2 * hardness))],
        *high_cardinality[: int(has_high_cardinality)],
    }
    # Another order than that in which distractors were picked: else these would stand in front.
    return tuple(sorted((word for word in ranked if word.name in chosen), key=lambda w: streams.key(f"place {w.name}")))


def exact_shares(shares: Sequence[float] | np.ndarray, least: float = 0.01) -> tuple[float, ...]:
    """Round to 4 decimals with the rest in the largest, so that the sum is 1 on any machine."""
    rounded = [max(round(float(share), 4), least) for share in shares]
    largest = rounded.index(max(rounded))
    rounded[largest] = round(rounded[largest] + 1 - sum(rounded), 4)
    return tuple(rounded)


def _column(word: Word, conditions: Conditions, streams: Streams) -> Column:
    match word:
        case NumericWord():
            return Column(name=word.name, distribution=word.distribution, decimals=word.decimals)
        case DateWord(first=first, days=days):
            cut = round(days * TRAIN_SHARE) if conditions.split is SplitKind.TEMPORAL else None
            return Column(name=word.name, distribution=Date(first=first, days=days, train_days=cut), decimals=0)
        case UnitWord(prefix=prefix):
            size = int(streams.generator("unit size").integers(_LEAST_UNIT, _MOST_UNIT + 1))
            return Column(name=word.name, distribution=Unit(prefix=prefix, size=size), decimals=0)
        case CategoricalWord(levels=levels):
            rng = streams.generator(f"levels {word.name}")
            evenness = _EVEN if rng.random() > _CHANCE_OF_RARE_LEVELS else _UNEVEN
            crowd = len(levels) > 2 * _MOST_UNIT
            drawn = rng.dirichlet(np.full(len(levels), _HIGH_CARDINALITY if crowd else evenness))
            shares = exact_shares(drawn, 0.002 if crowd else 0.01)
            return Column(name=word.name, distribution=Categorical(levels=levels, shares=shares), decimals=0)


def _within_units(columns: tuple[Column, ...], streams: Streams) -> tuple[Column, ...]:
    """Let some columns say something of the unit, so that all its rows have the same value."""
    unit = next((column.name for column in columns if isinstance(column.distribution, Unit)), None)
    if unit is None:
        return columns
    draws = {column.name: streams.generator(f"unit of {column.name}").random() for column in columns}
    own = [column.name for column in columns if isinstance(column.distribution, Normal | LogNormal)][:_OWN_AT_LEAST]
    shared = {name for name, draw in draws.items() if draw < _CHANCE_OF_UNIT} - set(own)
    return tuple(
        column.model_copy(update={"unit": unit})
        if column.name in shared and not isinstance(column.distribution, Date | Unit)
        else column
        for column in columns
    )


def _dependent(column: Column, parents: list[Column], date: Column | None, streams: Streams) -> Column:
    """Let a continuous column depend on a category and on the date, as columns of real tables do.

    Draws are keyed by the column's name, so that other columns coming and going change nothing here.
    """
    rng = streams.generator(f"shift {column.name}")
    shifts, drifts, pick = rng.random(3)
    if column.unit or not isinstance(column.distribution, Normal | LogNormal):
        return column
    if date is not None and drifts < _CHANCE_OF_TREND:
        column = column.model_copy(
            update={"trend": Trend(by=date.name, per_year=round(float(rng.normal(scale=0.35)), 4))}
        )
    if shifts > _CHANCE_OF_SHIFT or not parents:
        return column
    parent = parents[int(pick * len(parents))]
    levels = len(parent.distribution.levels) if isinstance(parent.distribution, Categorical) else 0
    amounts = tuple(round(float(amount), 4) for amount in rng.normal(scale=0.5, size=levels))
    return column.model_copy(update={"shift": Shift(by=parent.name, amounts=amounts)})


def is_continuous(column: Column) -> bool:
    """Whether a column's cells are quantities of which any may be missing."""
    return not isinstance(column.distribution, Categorical | Cycle | Date | Unit)
