"""Put the facts of a plan into a design: units, notes, the numbers of forms, and the hints that state all of them."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sandmill.design.columns import Outline
from sandmill.design.hints import HintPlan
from sandmill.design.prose import Pens, meanings_of, phrases
from sandmill.design.prose.entries import lowered, say_in_text, say_sentinel, say_units
from sandmill.design.prose.forms import DESCRIPTION, Said, arrange
from sandmill.design.rule import Rule
from sandmill.design.statements import state_forms
from sandmill.mechanism.columns import quantile
from sandmill.models.columns import Categorical, Column, Conversion, Date, Identity, Unit
from sandmill.models.domain import Domain
from sandmill.models.faults import Missing, Pathology
from sandmill.models.hints import (
    DATA_DICTIONARY,
    Hint,
    InText,
    Notes,
    NoteValue,
    Passage,
    ReadingLevel,
    Sentinel,
    Units,
)
from sandmill.models.knowledge import ConversionWord
from sandmill.rng import Streams

MOST_VALUES = 2
_FILES_NAMED = re.compile(r"\b[Tt]he (?:data dictionary|description)\b")
_CHANCE_OF_SENTINEL, _CHANCE_OF_NOTES = 0.6, 0.3
_ROOM_FOR_VALUES = 8
"""Columns from which on values of the rule may stand in the text instead of a column."""
_SENTINELS = (-1.0, -9.0, -99.0, -999.0, 999.0, 9999.0, 99999.0)
_FAR = 1e-9
"""Probability beyond which values of a column count as impossible."""


def draw_notes(
    domain: Domain, columns: Sequence[Column], streams: Streams, level: ReadingLevel = "plain"
) -> tuple[Notes, tuple[Hint, ...]] | None:
    """Draw the text column of a design and the columns whose values it holds.

    Args:
        domain: knows phrases and patterns.
        columns: columns of the design. Only those without a unit, a date, an identity or a conversion can be in the
            text. The caller leaves out columns that have faults or that other columns depend on.
        streams: streams of the design.
        level: of reading.

    Returns:
        The notes, and a hint for each value in them, all marked as useful; None if no column can be in the text.
    """
    word = domain.knows.notes
    by_name = {
        column.name: column
        for column in columns
        if not (column.unit or column.conversion or isinstance(column.distribution, Date | Unit | Identity))
    }
    known = [value for value in word.values if value.column in by_name] if word else []
    if not word or not known:
        return None
    rng = streams.generator("notes")
    count = int(rng.integers(1, min(MOST_VALUES, len(known)) + 1))
    chosen = [known[place] for place in rng.permutation(len(known))[:count]]
    values = tuple(NoteValue(column=one.column, phrases=one.phrases, pattern=one.pattern) for one in chosen)
    notes = Notes(name=word.name, meaning=word.meaning, values=values, fillers=word.fillers)
    meanings = {item.name: item.meaning for item in (*domain.numeric, *domain.categorical)}
    pens = Pens(level, meanings_of(domain, has_paraphrases=False))
    hints = list[Hint]()
    for value, text in zip(values, map(str, rng.permutation(phrases("plainly_in_notes"))), strict=False):
        name, law = value.column, by_name[value.column].distribution
        pen = pens.of(f"words {name}", streams)
        told = Said(text.format(column=name, meaning=lowered(meanings[name]), notes=notes.name))
        said = say_in_text(pen, name, notes) if pen.is_free else told
        levels = tuple(level.replace("_", " ") for level in law.levels) if isinstance(law, Categorical) else ()
        fact = InText(column=name, notes=notes.name, pattern=value.pattern, levels=levels)
        hints.append(arrange(pen, fact, said, matters=True))
    return notes, tuple(hints)


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
    columns: Mapping[str, Column],
    words: Mapping[str, ConversionWord],
    read: Collection[str],
    streams: Streams,
    pens: Pens,
) -> Iterator[Hint]:
    """State the units of converted columns. They matter if the rule reads the column."""
    for name, word in words.items():
        conversion, by = columns[name].conversion, columns[word.by].distribution
        if conversion is None or not isinstance(by, Categorical):
            raise TypeError(f"column {name} has no conversion by a category")
        pen = pens.of(f"unit text {name}", streams)
        factors, offsets = conversion.factors, conversion.offsets
        fact = Units(column=name, by=word.by, factors=factors, offsets=offsets)
        turned = {"factors": (*factors[1:], *factors[:1]), "offsets": (*offsets[1:], *offsets[:1])}
        said = say_units(pen, fact, fact.model_copy(update=turned), word, by.levels)
        yield arrange(pen, fact, said, matters=name in read, file=DATA_DICTIONARY)


def move_to_notes(
    columns: Sequence[Column],
    rule: Rule,
    domain: Domain,
    streams: Streams,
    level: ReadingLevel = "plain",
    *,
    is_certain: bool = False,
) -> tuple[tuple[Column, ...], Notes | None, tuple[Hint, ...]]:
    """Write one or two columns of the rule into a text column, in some designs or, if it is certain, wherever possible.

    Returns:
        Columns in the same order, the notes, and a hint for each column in them.
    """
    parents = {rule.subgroup.by} if rule.subgroup else set[str]()
    for column in columns:
        parents |= {move.by for move in (column.shift, column.conversion) if move}
        parents |= set(column.distribution.of) if isinstance(column.distribution, Identity) else set()
    free = [column for column in columns if column.name in rule.read - parents]
    has_notes = is_certain or streams.generator("has notes").random() < _CHANCE_OF_NOTES
    drawn = draw_notes(domain, free, streams, level) if has_notes else None
    if drawn is None:
        return tuple(columns), None, ()
    names = {value.column for value in drawn[0].values}
    return tuple(column.model_copy(update={"in_text": column.name in names}) for column in columns), *drawn


def _marked(gap: Missing, columns: Mapping[str, Column], streams: Streams) -> Missing:
    rng = streams.generator(f"sentinel {gap.column}")
    is_marked, column = rng.random() < _CHANCE_OF_SENTINEL, columns[gap.column]
    if not is_marked or column.conversion or isinstance(column.distribution, Categorical | Identity):
        return gap
    outside = _outside(column)
    return gap.model_copy(update={"sentinel": float(rng.choice(outside))}) if outside else gap


def _outside(column: Column) -> list[float]:
    """Return the numbers, such as -999, that lie far outside the values of a column and so can mark missing cells."""
    low, high = (float(quantile(column, np.array(u), shift)) for u, shift in ((_FAR, -3.0), (1 - _FAR, 3.0)))
    return [number for number in _SENTINELS if not low - 0.5 <= number <= high + 0.5]


def state_sentinels(
    faults: Sequence[Pathology], columns: Mapping[str, Column], read: Collection[str], streams: Streams, pens: Pens
) -> Iterator[Hint]:
    """State the numbers that stand for missing cells. They matter if the rule reads the column."""
    for gap in faults:
        if isinstance(gap, Missing) and gap.sentinel is not None:
            pen = pens.of(f"sentinel text {gap.column}", streams)
            others = [number for number in _outside(columns[gap.column]) if number != gap.sentinel]
            fact = Sentinel(column=gap.column, value=gap.sentinel)
            other = Sentinel(column=gap.column, value=pen.pick(others or [10 * gap.sentinel]))
            said = say_sentinel(pen, fact, other)
            yield arrange(pen, fact, said, matters=gap.column in read, file=DATA_DICTIONARY)


@dataclass(frozen=True)
class Telling:
    """Columns and rule of a design with the facts that its texts state."""

    columns: tuple[Column, ...]
    rule: Rule
    """With the told motifs."""
    notes: Notes | None
    hints: tuple[Hint, ...]
    pens: Pens
    has_sentinels: bool = True
    """Whether numbers such as -999 may mark missing cells. Not in a table made from a seed's: its cells are empty."""
    has_dictionary: bool = True
    """Whether facts may stand in a file of their own. A table of the seed's shape has one if the seed has."""

    def mark(self, faults: tuple[Pathology, ...], streams: Streams) -> tuple[tuple[Pathology, ...], tuple[Hint, ...]]:
        """Return faults in which numbers may stand for missing cells, and all hints of the design."""
        by_name = {column.name: column for column in self.columns}
        if self.rule.told and self.has_sentinels:
            faults = tuple(_marked(one, by_name, streams) if isinstance(one, Missing) else one for one in faults)
        hints = (*self.hints, *state_sentinels(faults, by_name, self.rule.read, streams, self.pens))
        return faults, hints if self.has_dictionary else tuple(map(_in_description, hints))


def _in_description(hint: Hint) -> Hint:
    """Return a hint all of whose passages stand in the description, and do not speak of another file."""
    further = tuple(Passage(file=DESCRIPTION, text=_FILES_NAMED.sub(_elsewhere, one.text)) for one in hint.further)
    text = _FILES_NAMED.sub(_elsewhere, hint.text)
    return hint.model_copy(update={"file": DESCRIPTION, "text": text, "further": further})


def _elsewhere(named: re.Match[str]) -> str:
    return "Another part of this page" if named[0][0] == "T" else "another part of this page"


def tell(
    outline: Outline,
    plan: HintPlan,
    rule: Rule,
    columns: Sequence[Column],
    level: ReadingLevel,
    *,
    has_records: bool,
) -> Telling:
    """Draw the numbers of a plan over the columns of a design, and state its facts. An empty plan changes nothing.

    A table with the shape of a seed's has a text column if that table has one. If no value of the rule can stand in it,
    it holds filler sentences alone. `has_records` is False where items such as pictures show the columns, not a table.
    """
    domain, streams, shape = outline.vocabulary.domain, outline.streams, outline.shape
    meanings = meanings_of(domain)
    pens = Pens(level if meanings else "plain", meanings, domain.words, has_records)
    converted, conversions = convert_columns(columns, plan, streams)
    notes, in_notes = None, tuple[Hint, ...]()
    if plan.told and not plan.is_single and (shape is None or (shape.has_text and shape.count >= _ROOM_FOR_VALUES)):
        converted, notes, in_notes = move_to_notes(converted, rule, domain, streams, pens.level, is_certain=bool(shape))
    word = domain.knows.notes
    if shape and shape.has_text and notes is None and word:
        notes = Notes(name=word.name, meaning=word.meaning, values=(), fillers=word.fillers)
    by_name = {column.name: column for column in converted}
    forms, told = state_forms(plan, by_name, streams, pens)
    rule = replace(rule, told=told, leads=any(hint.matters and hint.decoys for hint in forms))
    units = state_units(by_name, conversions, rule.read, streams, pens)
    profile = shape.profile if shape else None
    return Telling(
        converted,
        rule,
        notes,
        (*forms, *in_notes, *units),
        pens,
        has_sentinels=not plan.is_single and profile is None,
        has_dictionary=profile is None or profile.has_dictionary,
    )
