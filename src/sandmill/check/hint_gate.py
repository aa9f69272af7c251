"""Gates on hints and notes: they state the facts of the mechanism in full. Calibration shows that they can be used."""

import re
from collections.abc import Collection, Iterable, Iterator

import numpy as np

from sandmill.check.description_gate import mentions
from sandmill.check.giveaways import GIVEAWAYS
from sandmill.check.package_tables import PackageTables, note_values
from sandmill.errors import count
from sandmill.models.columns import Categorical, Column
from sandmill.models.hints import DATA_DICTIONARY, Form, Hint, InText, SameUnits, Sentinel, Units
from sandmill.models.motifs import (
    Aggregate,
    CodeValue,
    Conditional,
    Distance,
    Formula,
    KnownUnit,
    NormDistance,
    columns_of,
)
from sandmill.models.numerals import says_number
from sandmill.models.spec import TaskSpec
from sandmill.models.spoken import level_words, spoken
from sandmill.models.texts import DESCRIPTION

_NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?!\w)")


def check_hints(tables: PackageTables) -> Iterator[str]:
    """Check that hints stand in their files in full, and say what is so."""
    spec, mechanism = tables.spec, tables.spec.mechanism
    dictionary = tables.package.public.get(DATA_DICTIONARY, b"").decode(errors="replace")
    if said := [phrase for phrase in GIVEAWAYS if phrase in dictionary.lower()]:
        yield f"{DATA_DICTIONARY}: speaks of the mechanism ({', '.join(said)})"
    for hint in spec.hints:
        texts = {DESCRIPTION: tables.description, DATA_DICTIONARY: dictionary}
        if absent := [one.file for one in hint.passages if one.text not in texts[one.file]]:
            yield f"{absent[0]}: does not state the hint {hint.label} word for word"
        elif lacking := list(_unstated(hint, texts[hint.file], spec)):
            yield f"{hint.file}: the hint {hint.label} does not state {', '.join(lacking)}"
        match hint.fact:
            case Form(motif=motif):
                is_used = any(term.motif == motif for term in mechanism.terms)
            case SameUnits(columns=columns):
                units = [term.motif for term in mechanism.terms if isinstance(term.motif, KnownUnit)]
                is_used = columns in [columns_of(motif) for motif in units]
            case fact:
                is_used = fact.column in mechanism.rule_columns
        if is_used != hint.matters:
            yield f"the hint {hint.label} is {'' if is_used else 'not '}part of the rule, which its design denies"
    for cue in spec.channel.cues if spec.channel else ():
        if cue.text not in tables.description:
            yield f"{DESCRIPTION}: does not say how items show {cue.column}"
        stated = [float(number) for number in _NUMBER.findall(cue.text)]
        if unsaid := [
            str(part)
            for part in cue.parameters
            if not (part in cue.text if isinstance(part, str) else np.isclose(stated, part, rtol=1e-9).any())
        ]:
            yield f"{DESCRIPTION}: the text on {cue.column} does not state {', '.join(unsaid)}"
    yield from _check_decodings(spec)


def _check_decodings(spec: TaskSpec) -> Iterator[str]:
    """Check that every unusual way of writing cells is stated, with the numbers of the mechanism."""
    facts = [hint.fact for hint in spec.hints]
    for column in spec.mechanism.columns:
        if (units := column.conversion) is not None:
            fact = Units(column=column.name, by=units.by, factors=units.factors, offsets=units.offsets)
            if fact not in facts:
                yield f"no hint states the units of {column.name}"
        if column.in_text and not any(isinstance(fact, InText) and fact.column == column.name for fact in facts):
            yield f"no hint says that the notes hold {column.name}"
    for gap in spec.mechanism.missing():
        if gap.sentinel is not None and Sentinel(column=gap.column, value=gap.sentinel) not in facts:
            yield f"no hint states the number for missing cells of {gap.column}"


def _unstated(hint: Hint, file: str, spec: TaskSpec) -> Iterator[str]:
    """Yield columns, numbers and levels of a fact that its texts lack. Columns may stand elsewhere in the file."""
    columns, fact, text = spec.mechanism.column_by_name, hint.fact, "\n".join(one.text for one in hint.passages)
    names, words, numbers, unit = list[str](), list[str](), list[float](), ""
    match fact:
        case Form(motif=Conditional(when=when) as motif):
            names += columns_of(motif)
            for part in when:
                every, levels = (set(_levels(columns[part.column], codes)) for codes in (None, part.levels))
                if levels and not (_says_levels(text, levels) or _says_levels(text, every - levels)):
                    yield f"the levels of {part.column}"
                cut = part.above if part.above is not None else part.at_most
                half = 0.5 * 10.0 ** -columns[part.column].decimals
                # A stated number has to part the values of the files as the cut does.
                unit_of_cut = _unit_of(part.column, spec)
                if cut is not None and not any(
                    says_number(text, round(cut + side * half, 9), unit_of_cut) for side in (-1, 1)
                ):
                    yield f"the cut {cut:g}"
        case Form(motif=NormDistance(column=column, by=by, norms=norms)):
            names += [column]
            words += _levels(columns[by])
            # A list may say how much more or less a norm is than another.
            numbers += [
                one
                for one in norms
                if not any(one != to and says_number(text, round(abs(one - to), 9)) for to in norms)
            ]
        case Form(motif=CodeValue(column=column, values=values)):
            names += [column]
            words += _levels(columns[column])
            numbers += values
        case Form(motif=Distance() as motif):
            names += columns_of(motif) if hint.level == "plain" else ()
            unit = "kilometres"
            numbers += [number for number in (motif.above, motif.norm) if number is not None]
        case Form(motif=Formula() as motif):
            names += columns_of(motif)
            numbers += [number for number in (motif.above, motif.norm) if number is not None]
        case Form(motif=Aggregate(kinds=kinds, days=days)) if spec.mechanism.child:
            words += [spec.mechanism.child.kinds[code] for code in kinds]
            numbers += [days] if days else []
            unit = spoken(spec.mechanism.child.age_meaning).unit
        case Sentinel(column=column, value=value):
            names += [column]
            numbers += [value]
        case Units(column=column, by=by, factors=factors, offsets=offsets):
            names += [column, by]
            changed = [level for level, factor in zip(_levels(columns[by]), factors, strict=True) if factor != 1]
            words += _levels(columns[by]) if hint.level == "plain" else changed
            numbers += [abs(number) for number in (*factors, *offsets) if number not in (0.0, 1.0)]
        case InText(notes=notes):
            names += [notes]
        case SameUnits(columns=(place, number)):
            names += [place, number]
    if hint.level == "plain":  # elsewhere columns are paraphrased
        yield from (f"the column {name}" for name in dict.fromkeys(names) if not mentions(file, name))
    yield from (f"the level {word}" for word in dict.fromkeys(words) if not _says_levels(text, {word}))
    yield from (f"the number {number:g}" for number in numbers if not says_number(text, round(number, 9), unit))


def _says_levels(text: str, names: Collection[str]) -> bool:
    """Whether all of some levels are named, with their names or in words."""
    ways = ((name.lower(), level_words(name).lower()) for name in names)
    return bool(names) and all(any(mentions(text.lower(), way) for way in some) for some in ways)


def _unit_of(name: str, spec: TaskSpec) -> str:
    """Return the unit in which sentences state a column."""
    if spec.notes and spec.notes.name == name:
        return spoken(spec.notes.meaning, is_number=False).unit
    law = spec.mechanism.column_by_name[name].distribution
    return spoken(spec.story.column_meanings.get(name, name), is_number=not isinstance(law, Categorical)).unit


def _levels(column: Column, codes: Iterable[int] | None = None) -> list[str]:
    levels = column.distribution.levels if isinstance(column.distribution, Categorical) else ()
    return list(levels) if codes is None else [levels[code] for code in codes]


def check_notes(tables: PackageTables) -> Iterator[str]:
    """Check that the stated pattern finds each value in each row, and that notes are single lines."""
    notes = tables.spec.notes
    if notes is None:
        return
    for path, frame in tables.parts():
        if broken := int(frame[notes.name].fill_null("").str.contains("\n").sum()):
            yield f"{path}: {count(broken, 'note')} of several lines"
        for cells in note_values(tables.spec, frame):
            if lost := cells.null_count():
                yield f"{path}: {count(lost, 'note')} from which the value of {cells.name} cannot be read"
    for name in (value.column for value in notes.values):
        if name in tables.features:
            yield f"column {name} is in the notes and in the table"
