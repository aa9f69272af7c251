"""Choose how the files write cells: units by site, and numbers that stand for missing cells; and state it."""

from collections.abc import Collection, Iterator, Mapping, Sequence

import numpy as np

from sandmill.design.hints import HintPlan
from sandmill.design.note_hints import draw_notes
from sandmill.design.rule import Rule
from sandmill.mechanism.columns import quantile
from sandmill.models.columns import Categorical, Column, Conversion, Identity
from sandmill.models.domain import Domain
from sandmill.models.faults import Missing, Pathology
from sandmill.models.hints import DATA_DICTIONARY, Hint, Notes, Sentinel, Units
from sandmill.models.knowledge import ConversionWord
from sandmill.rng import Streams

_CHANCE_OF_SENTINEL, _CHANCE_OF_NOTES = 0.6, 0.3
_SENTINELS = (-1.0, -9.0, -99.0, -999.0, 999.0, 9999.0, 99999.0)
_FAR = 1e-9
"""Probability beyond which values of a column count as impossible."""
_SENTINEL_TEXTS = (
    "A cell of `{column}` that reads {value} was never measured.",
    "`{column}`: {value} is entered when no value is known.",
    "Where `{column}` is {value}, the reading is missing.",
    "{value} in `{column}` stands for a reading that was not taken.",
    "Staff enter {value} as `{column}` if they could not measure it.",
    "No reading: {value}, in `{column}` alone.",
)
_UNIT_TEXTS = (
    "`{column}` is not kept in one unit. It depends on `{by}`:",
    "Unit of `{column}` by `{by}`:",
    "How `{column}` is recorded differs with `{by}`:",
    "Rows differ in the unit of `{column}`; see their `{by}`:",
)


def convert_columns(
    columns: Sequence[Column], plan: HintPlan, streams: Streams
) -> tuple[tuple[Column, ...], dict[str, ConversionWord]]:
    """Give the converted columns of a plan a unit of measure for each level of their category.

    Columns that all rows of a unit share stay as they are, since their category may differ between these rows.

    Returns:
        Columns in the same order, and the used conversions by column.
    """
    by_name = {column.name: column for column in columns}
    free = {column.name for column in columns if column.unit is None}
    used = {word.column: word for word in plan.conversions if word.column in free and word.by in by_name}
    changed = {name: _converted(by_name[name], word, by_name[word.by], streams) for name, word in used.items()}
    return tuple(changed.get(column.name, column) for column in columns), used


def _converted(column: Column, word: ConversionWord, by: Column, streams: Streams) -> Column:
    """Draw a unit for each level, the column's own for some and another for some."""
    rng = streams.generator(f"units of {column.name}")
    levels = len(by.distribution.levels) if isinstance(by.distribution, Categorical) else 0
    order = rng.permutation(levels)
    picks = np.zeros(levels, dtype=np.intp)
    for place, code in enumerate(order):
        picks[code] = place if place < len(word.units) else rng.integers(len(word.units))
    units = [word.units[int(pick)] for pick in picks]
    conversion = Conversion(
        by=by.name, factors=tuple(unit.factor for unit in units), offsets=tuple(unit.offset for unit in units)
    )
    return column.model_copy(update={"conversion": conversion})


def state_units(
    columns: Mapping[str, Column], words: Mapping[str, ConversionWord], read: Collection[str], streams: Streams
) -> Iterator[Hint]:
    """State the units of converted columns in tables. They matter if the rule reads the column."""
    for name, word in words.items():
        conversion, by = columns[name].conversion, columns[word.by].distribution
        if conversion is None or not isinstance(by, Categorical):
            raise TypeError(f"column {name} has no conversion by a category")
        names = {(unit.factor, unit.offset): unit.unit for unit in word.units}
        lead = _UNIT_TEXTS[int(streams.generator(f"unit text {name}").integers(len(_UNIT_TEXTS)))]
        rows = [
            f"| {level} | {names[factor, offset]} | {_recorded(word.units[0].unit, factor, offset)} |"
            for level, factor, offset in zip(by.levels, conversion.factors, conversion.offsets, strict=True)
        ]
        table = "\n".join([f"| {word.by} | unit | recorded as |", "|---|---|---|", *rows])
        yield Hint(
            fact=Units(column=name, by=word.by, factors=conversion.factors, offsets=conversion.offsets),
            text=f"{lead.format(column=name, by=word.by)}\n\n{table}",
            file=DATA_DICTIONARY,
            matters=name in read,
        )


def move_to_notes(
    columns: Sequence[Column], rule: Rule, domain: Domain, streams: Streams
) -> tuple[tuple[Column, ...], Notes | None, tuple[Hint, ...]]:
    """Write one or two columns of the rule into a text column, in some designs.

    Returns:
        Columns in the same order, the notes, and a hint for each column in them.
    """
    parents = {column.shift.by for column in columns if column.shift} | {
        name
        for column in columns
        for name in (
            *((column.conversion.by,) if column.conversion else ()),
            *(column.distribution.of if isinstance(column.distribution, Identity) else ()),
        )
    }
    parents |= {rule.subgroup.by} if rule.subgroup else set()
    free = [column for column in columns if column.name in rule.read - parents]
    has_notes = streams.generator("has notes").random() < _CHANCE_OF_NOTES
    drawn = draw_notes(domain, free, streams) if has_notes else None
    if drawn is None:
        return tuple(columns), None, ()
    notes, names, hints = drawn
    return (
        tuple(column.model_copy(update={"in_text": column.name in names}) for column in columns),
        notes,
        hints,
    )


def _recorded(unit: str, factor: float, offset: float) -> str:
    """Say how a value in another unit follows from the column's own unit."""
    times = f" times {factor:g}" if factor != 1 else ""
    plus = f" {'plus' if offset > 0 else 'minus'} {abs(offset):g}" if offset else ""
    return f"{unit}{times}{plus}"


def mark_gaps(faults: Sequence[Pathology], columns: Mapping[str, Column], streams: Streams) -> tuple[Pathology, ...]:
    """Give some columns with missing cells a number that stands for them."""
    return tuple(_marked(fault, columns, streams) if isinstance(fault, Missing) else fault for fault in faults)


def _marked(gap: Missing, columns: Mapping[str, Column], streams: Streams) -> Missing:
    rng = streams.generator(f"sentinel {gap.column}")
    is_marked, column = rng.random() < _CHANCE_OF_SENTINEL, columns[gap.column]
    if not is_marked or column.conversion or isinstance(column.distribution, Categorical | Identity):
        return gap
    low, high = (float(quantile(column, np.array(u), shift)) for u, shift in ((_FAR, -3.0), (1 - _FAR, 3.0)))
    outside = [number for number in _SENTINELS if not low - 0.5 <= number <= high + 0.5]
    return gap.model_copy(update={"sentinel": float(rng.choice(outside))}) if outside else gap


def state_sentinels(faults: Sequence[Pathology], read: Collection[str], streams: Streams) -> Iterator[Hint]:
    """State the numbers that stand for missing cells. They matter if the rule reads the column."""
    for fault in faults:
        if isinstance(fault, Missing) and fault.sentinel is not None:
            text = _SENTINEL_TEXTS[
                int(streams.generator(f"sentinel text {fault.column}").integers(len(_SENTINEL_TEXTS)))
            ]
            yield Hint(
                fact=Sentinel(column=fault.column, value=fault.sentinel),
                text=text.format(column=fault.column, value=f"{fault.sentinel:g}"),
                file=DATA_DICTIONARY,
                matters=fault.column in read,
            )
