"""Put the facts of a plan into a design: units, notes, the numbers of forms, and the hints that state all of them."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from sandmill.design.hints import HintPlan
from sandmill.design.prose import Pen, meanings_of, pen_for, phrases
from sandmill.design.prose.entries import say_in_text, say_sentinel, say_units
from sandmill.design.prose.forms import DESCRIPTION, Said, arrange
from sandmill.design.rule import Rule
from sandmill.design.shape import Shape
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
from sandmill.models.spoken import Spoken
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
) -> tuple[Notes, tuple[str, ...], tuple[Hint, ...]] | None:
    """Draw the text column of a design and the columns whose values it holds.

    Args:
        domain: knows phrases and patterns.
        columns: columns of the design. Only those without a unit, a date, an identity or a conversion can be in the
            text. The caller leaves out columns that have faults or that other columns depend on.
        streams: streams of the design.
        level: of reading.

    Returns:
        The notes, names of the columns that are in the text, and a hint for each, all marked as useful; None if no
        column can be in the text.
    """
    word = domain.knows.notes
    if word is None:
        return None
    by_name = {column.name: column for column in columns if _can_be_written(column)}
    known = [value for value in word.values if value.column in by_name]
    if not known:
        return None
    rng = streams.generator("notes")
    count = int(rng.integers(1, min(MOST_VALUES, len(known)) + 1))
    chosen = [known[place] for place in rng.permutation(len(known))[:count]]
    values = tuple(NoteValue(column=one.column, phrases=one.phrases, pattern=one.pattern) for one in chosen)
    notes = Notes(name=word.name, meaning=word.meaning, values=values, fillers=word.fillers)
    meanings = {item.name: item.meaning for item in (*domain.numeric, *domain.categorical)}
    texts = [str(text) for text in rng.permutation(phrases("plainly_in_notes"))]
    hints = list[Hint]()
    for value, text in zip(values, texts, strict=False):
        pen = Pens(level, meanings_of(domain, has_paraphrases=False)).of(f"words {value.column}", streams)
        told = Said(_told(text, value.column, meanings[value.column], notes))
        said = say_in_text(pen, value.column, notes) if pen.is_free else told
        hints.append(arrange(pen, _fact(value, notes, by_name[value.column]), said, matters=True))
    return notes, tuple(value.column for value in values), tuple(hints)


def _can_be_written(column: Column) -> bool:
    is_plain = column.unit is None and column.conversion is None and not isinstance(column.distribution, Date)
    return is_plain and not isinstance(column.distribution, Unit | Identity)


def _fact(value: NoteValue, notes: Notes, column: Column) -> InText:
    spread = column.distribution
    levels = tuple(level.replace("_", " ") for level in spread.levels) if isinstance(spread, Categorical) else ()
    return InText(column=value.column, notes=notes.name, pattern=value.pattern, levels=levels)


def _told(text: str, column: str, meaning: str, notes: Notes) -> str:
    """Put the meaning of a column into a sentence, with a small letter unless it starts with an abbreviation."""
    starts_small = len(meaning) > 1 and not meaning[1].isupper()
    words = meaning[0].lower() + meaning[1:] if starts_small else meaning
    return text.format(column=column, meaning=words, notes=notes.name)


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
    pens: "Pens",
) -> Iterator[Hint]:
    """State the units of converted columns. They matter if the rule reads the column."""
    for name, word in words.items():
        conversion, by = columns[name].conversion, columns[word.by].distribution
        if conversion is None or not isinstance(by, Categorical):
            raise TypeError(f"column {name} has no conversion by a category")
        pen = pens.of(f"unit text {name}", streams)
        fact, other = (
            Units(column=name, by=word.by, factors=factors, offsets=offsets)
            for factors, offsets in (
                (conversion.factors, conversion.offsets),
                (_turned(conversion.factors), _turned(conversion.offsets)),
            )
        )
        said = say_units(pen, fact, other, word, by.levels)
        yield arrange(pen, fact, said, matters=name in read, file=DATA_DICTIONARY)


def _turned(numbers: tuple[float, ...]) -> tuple[float, ...]:
    return (*numbers[1:], *numbers[:1])


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
    has_notes = is_certain or streams.generator("has notes").random() < _CHANCE_OF_NOTES
    drawn = draw_notes(domain, free, streams, level) if has_notes else None
    if drawn is None:
        return tuple(columns), None, ()
    notes, names, hints = drawn
    return (
        tuple(column.model_copy(update={"in_text": column.name in names}) for column in columns),
        notes,
        hints,
    )


def mark_gaps(faults: Sequence[Pathology], columns: Mapping[str, Column], streams: Streams) -> tuple[Pathology, ...]:
    """Give some columns with missing cells a number that stands for them."""
    return tuple(_marked(fault, columns, streams) if isinstance(fault, Missing) else fault for fault in faults)


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
    faults: Sequence[Pathology],
    columns: Mapping[str, Column],
    read: Collection[str],
    streams: Streams,
    pens: "Pens",
) -> Iterator[Hint]:
    """State the numbers that stand for missing cells. They matter if the rule reads the column."""
    for fault in faults:
        if isinstance(fault, Missing) and fault.sentinel is not None:
            pen = pens.of(f"sentinel text {fault.column}", streams)
            others = [number for number in _outside(columns[fault.column]) if number != fault.sentinel]
            fact, other = (
                Sentinel(column=fault.column, value=value)
                for value in (fault.sentinel, pen.pick(others or [10 * fault.sentinel]))
            )
            said = say_sentinel(pen, fact, other)
            yield arrange(pen, fact, said, matters=fault.column in read, file=DATA_DICTIONARY)


@dataclass(frozen=True)
class Pens:
    """What sentences of a design are written with: its level, and what they call columns."""

    level: ReadingLevel = "plain"
    meanings: Mapping[str, Spoken] = field(default_factory=dict)

    def of(self, name: str, streams: Streams) -> Pen:
        """Return the pen for one fact."""
        return pen_for(name, self.level, streams, self.meanings)


@dataclass(frozen=True)
class Telling:
    """Columns and rule of a design with the facts that its texts state."""

    columns: tuple[Column, ...]
    rule: Rule
    """With the told motifs."""
    notes: Notes | None
    hints: tuple[Hint, ...]
    conversions: dict[str, ConversionWord]
    """By column."""
    has_sentinels: bool = True
    """Whether numbers such as -999 may mark missing cells. Not in a table made from a seed's: its cells are empty."""
    pens: Pens = Pens()
    has_dictionary: bool = True
    """Whether facts may stand in a file of their own. A table of the seed's shape has one if the seed has."""

    def mark(self, faults: tuple[Pathology, ...], streams: Streams) -> tuple[tuple[Pathology, ...], tuple[Hint, ...]]:
        """Return faults in which numbers may stand for missing cells, and all hints of the design."""
        by_name = {column.name: column for column in self.columns}
        if self.rule.told and self.has_sentinels:
            faults = mark_gaps(faults, by_name, streams)
        units = state_units(by_name, self.conversions, self.rule.read, streams, self.pens)
        hints = (*self.hints, *units, *state_sentinels(faults, by_name, self.rule.read, streams, self.pens))
        return faults, hints if self.has_dictionary else tuple(map(_in_description, hints))


def _in_description(hint: Hint) -> Hint:
    """Return a hint all of whose passages stand in the description, and do not speak of another file."""
    further = tuple(Passage(file=DESCRIPTION, text=_FILES_NAMED.sub(_elsewhere, one.text)) for one in hint.further)
    text = _FILES_NAMED.sub(_elsewhere, hint.text)
    return hint.model_copy(update={"file": DESCRIPTION, "text": text, "further": further})


def _elsewhere(named: re.Match[str]) -> str:
    return "Another part of this page" if named[0][0] == "T" else "another part of this page"


def tell(
    plan: HintPlan,
    rule: Rule,
    columns: Sequence[Column],
    domain: Domain,
    streams: Streams,
    shape: Shape | None = None,
    level: ReadingLevel = "plain",
) -> Telling:
    """Draw the numbers of a plan over the columns of a design, and state its facts. An empty plan changes nothing.

    A shape says whether there is a column of text. Where no value of a row is left for it, it means nothing.
    """
    meanings = meanings_of(domain)
    # Texts of media say how items show a column under its name, so its facts are stated by names too.
    level = level if meanings else "plain"
    plan = replace(plan, level=level)
    converted, conversions = convert_columns(columns, plan, streams)
    notes, in_notes = None, tuple[Hint, ...]()
    if plan.told and not plan.is_single and (shape is None or (shape.has_text and shape.count >= _ROOM_FOR_VALUES)):
        converted, notes, in_notes = move_to_notes(converted, rule, domain, streams, level, is_certain=bool(shape))
    word = domain.knows.notes
    if shape and shape.has_text and notes is None and word:
        notes = Notes(name=word.name, meaning=word.meaning, values=(), fillers=word.fillers)
    pens = Pens(level, meanings)
    forms, told = state_forms(plan, {column.name: column for column in converted}, streams, pens.meanings, domain.words)
    profile = shape.profile if shape else None
    return Telling(
        converted,
        replace(rule, told=told),
        notes,
        (*forms, *in_notes),
        conversions,
        has_sentinels=not plan.is_single and profile is None,
        pens=pens,
        has_dictionary=profile is None or profile.has_dictionary,
    )
