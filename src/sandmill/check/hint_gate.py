"""Gates on hints and notes: they state facts in full, and readers who use them get what the mechanism uses."""

import re
from collections.abc import Iterable, Iterator, Mapping

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sandmill.check.giveaways import GIVEAWAYS
from sandmill.check.package_tables import PackageTables, note_values
from sandmill.errors import count
from sandmill.kinds.files.base import DESCRIPTION
from sandmill.mechanism.columns import Floats
from sandmill.mechanism.rule import evaluate_motif
from sandmill.models.columns import Categorical, Column
from sandmill.models.hints import DATA_DICTIONARY, Form, Hint, InText, SameUnits, Sentinel, Units
from sandmill.models.motifs import (
    Aggregate,
    CodeValue,
    Condition,
    Conditional,
    Distance,
    Formula,
    KnownUnit,
    NormDistance,
    columns_of,
)
from sandmill.models.spec import TaskSpec

_NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?!\w)")
_UNIT_BEHIND = r"\s.*$"
"""What stands behind a number, such as its unit."""
_TOLERANCE = 1e-6
"""Largest difference between a motif as a reader computes it and as the mechanism does, relative to its spread."""


def check_hints(tables: PackageTables) -> Iterator[str]:
    """Check that hints stand in their files in full, say what is so, and can be used."""
    spec = tables.spec
    yield from _check_dictionary(tables)
    for hint in spec.hints:
        text = _text_of(tables, hint.file)
        if hint.text not in text:
            yield f"{hint.file}: does not state the hint {_name(hint)} word for word"
        elif lacking := list(_unstated(hint, text, spec)):
            yield f"{hint.file}: the hint {_name(hint)} does not state {', '.join(lacking)}"
        yield from _check_role(hint, spec)
    yield from _check_cues(tables)
    yield from _check_decodings(spec)
    if not tables.faults:
        yield from _check_sentinels(tables)
        yield from _check_use(tables)


def _check_cues(tables: PackageTables) -> Iterator[str]:
    """Check that the description says in full how the items show latent columns."""
    for cue in tables.spec.channel.cues if tables.spec.channel else ():
        if cue.text not in tables.description:
            yield f"{DESCRIPTION}: does not say how items show {cue.column}"
        said = [float(number) for number in _NUMBER.findall(cue.text)]
        lacking = [part for part in cue.parameters if not _is_said(part, cue.text, said)]
        if lacking:
            yield f"{DESCRIPTION}: the text on {cue.column} does not state {', '.join(map(str, lacking))}"


def _is_said(part: str | float, text: str, numbers: list[float]) -> bool:
    return part in text if isinstance(part, str) else bool(np.isclose(numbers, part, rtol=1e-9).any())


def _check_dictionary(tables: PackageTables) -> Iterator[str]:
    lowered = _text_of(tables, DATA_DICTIONARY).lower()
    if said := [phrase for phrase in GIVEAWAYS if phrase in lowered]:
        yield f"{DATA_DICTIONARY}: speaks of the mechanism ({', '.join(said)})"


def _check_role(hint: Hint, spec: TaskSpec) -> Iterator[str]:
    """Check that a hint matters if and only if the rule uses its fact."""
    match hint.fact:
        case Form(motif=motif):
            is_used = any(term.motif == motif for term in spec.mechanism.terms)
        case SameUnits(columns=columns):
            units = [term.motif for term in spec.mechanism.terms if isinstance(term.motif, KnownUnit)]
            is_used = columns in [columns_of(motif) for motif in units]
        case fact:
            is_used = fact.column in spec.mechanism.rule_columns
    if is_used != hint.matters:
        yield f"the hint {_name(hint)} is {'' if is_used else 'not '}part of the rule, which its design denies"


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


def _check_sentinels(tables: PackageTables) -> Iterator[str]:
    """Check that numbers for missing cells lie outside of the values of their columns."""
    for fact in (hint.fact for hint in tables.spec.hints):
        if isinstance(fact, Sentinel) and fact.column in tables.test.columns:
            cells = pl.concat([frame[fact.column] for frame in (tables.train, tables.test)]).drop_nulls()
            low, high = float(np.min(cells.to_numpy())), float(np.max(cells.to_numpy()))
            if low <= fact.value <= high:
                yield f"{fact.column}: {fact.value:g} means a missing cell, but values reach from {low:g} to {high:g}"


def _check_use(tables: PackageTables) -> Iterator[str]:
    """Check that a reader who follows the hints computes the same motifs as the mechanism."""
    columns = tables.spec.mechanism.column_by_name
    for raw, typed in ((tables.items.train, tables.train), (tables.items.test, tables.test)):
        declared = pl.concat([typed, note_values(tables.spec, typed)], how="horizontal")
        read, true = _as_reader(raw, tables.spec), _as_declared(declared, columns)
        for hint in tables.spec.hints:
            if not isinstance(hint.fact, Form) or not set(columns_of(hint.fact.motif)) <= true.keys():
                continue
            motif = hint.fact.motif
            if isinstance(motif, Aggregate):
                continue
            known = np.all([~np.isnan(true[name]) for name in columns_of(motif)], axis=0)
            mine, theirs = (
                evaluate_motif(motif, columns, {name: cells[known] for name, cells in some.items()})
                for some in (read, true)
            )
            if not np.allclose(mine, theirs, rtol=0, atol=_TOLERANCE * max(1.0, float(np.ptp(theirs)))):
                yield f"the hint {_name(hint)} gives other values in the files than in the mechanism"


def _as_reader(frame: pl.DataFrame, spec: TaskSpec) -> dict[str, Floats]:
    """Parse cells as a reader does: plain numbers, with the sentinels and units that hints state."""
    columns = spec.mechanism.column_by_name
    cells = {name: _numbers(frame[name], columns[name]) for name in frame.columns if name in columns}
    facts = [hint.fact for hint in spec.hints]
    for fact in facts:
        if isinstance(fact, InText) and fact.notes in frame.columns:
            found = frame[fact.notes].str.extract(fact.pattern)
            if fact.levels:
                code_of = {word: float(code) for code, word in enumerate(fact.levels)}
                cells[fact.column] = np.array([code_of.get(word, np.nan) for word in found], dtype=np.float64)
            else:
                cells[fact.column] = _numbers(found, columns[fact.column])
        if isinstance(fact, Sentinel) and fact.column in cells:
            cells[fact.column] = np.where(cells[fact.column] == fact.value, np.nan, cells[fact.column])
    for fact in facts:
        if isinstance(fact, Units) and {fact.column, fact.by} <= cells.keys():
            levels = cells[fact.by].astype(np.intp)
            factor, offset = np.asarray(fact.factors)[levels], np.asarray(fact.offsets)[levels]
            cells[fact.column] = (cells[fact.column] - offset) / factor
    return cells


def _as_declared(frame: pl.DataFrame, columns: Mapping[str, Column]) -> dict[str, Floats]:
    """Return typed cells as numbers."""
    return {name: _numbers(frame[name], columns[name]) for name in frame.columns if name in columns}


def _numbers(cells: pl.Series, column: Column) -> Floats:
    if isinstance(column.distribution, Categorical):
        codes = {level: float(code) for code, level in enumerate(column.distribution.levels)}
        return np.array([codes.get(cell, np.nan) for cell in cells], dtype=np.float64)
    bare = cells.str.replace(_UNIT_BEHIND, "") if cells.dtype == pl.String else cells
    numbers: NDArray[np.float64] = bare.cast(pl.Float64, strict=False).fill_null(np.nan).to_numpy()
    return numbers


def _text_of(tables: PackageTables, name: str) -> str:
    return tables.description if name == DESCRIPTION else tables.package.public.get(name, b"").decode(errors="replace")


def _name(hint: Hint) -> str:
    return hint.fact.name if isinstance(hint.fact, Form | SameUnits) else f"{hint.fact.fact} of {hint.fact.column}"


def _unstated(hint: Hint, file: str, spec: TaskSpec) -> Iterator[str]:
    """Yield columns, numbers and levels of a fact that its text lacks. Columns may stand elsewhere in the file."""
    columns, fact = spec.mechanism.column_by_name, hint.fact
    stated = [float(number) for number in _NUMBER.findall(hint.text)]
    names, words, numbers = list[str](), list[str](), list[float]()
    match fact:
        case Form(motif=Conditional(when=when) as motif):
            names += columns_of(motif)
            words += [level for part in when for level in _levels(columns[part.column], part.levels)]
            yield from (_cut(part) for part in when if not _states_cut(part, columns[part.column], stated))
        case Form(motif=NormDistance(column=column, by=by, norms=norms)):
            names += [column]
            words += _levels(columns[by])
            numbers += norms
        case Form(motif=CodeValue(column=column, values=values)):
            names += [column]
            words += _levels(columns[column])
            numbers += values
        case Form(motif=Formula() | Distance() as motif):
            names += columns_of(motif)
            numbers += [number for number in (motif.above, motif.norm) if number is not None]
        case Form(motif=Aggregate(kinds=kinds, days=days)) if spec.mechanism.child:
            words += [spec.mechanism.child.kinds[code] for code in kinds]
            numbers += [days] if days else []
        case Sentinel(column=column, value=value):
            names += [column]
            numbers += [value]
        case Units(column=column, by=by, factors=factors, offsets=offsets):
            names += [column, by]
            words += _levels(columns[by])
            numbers += [abs(number) for number in (*factors, *offsets) if number not in (0.0, 1.0)]
        case InText(notes=notes):
            names += [notes]
        case SameUnits(columns=(place, number)):
            names += [place, number]
    yield from (f"the column {name}" for name in dict.fromkeys(names) if not _says(file, name))
    yield from (f"the level {word}" for word in dict.fromkeys(words) if not _says(hint.text, word))
    yield from (f"the number {number:g}" for number in numbers if not np.isclose(stated, number, rtol=1e-9).any())


def _levels(column: Column, codes: Iterable[int] | None = None) -> list[str]:
    levels = column.distribution.levels if isinstance(column.distribution, Categorical) else ()
    return list(levels) if codes is None else [levels[code] for code in codes]


def _cut(part: Condition) -> str:
    return f"the cut {part.above if part.above is not None else part.at_most:g}"


def _states_cut(part: Condition, column: Column, stated: list[float]) -> bool:
    """Whether a stated number parts the values of the files as the cut does."""
    cut = part.above if part.above is not None else part.at_most
    half = 0.5 * 10.0**-column.decimals
    return cut is None or any(cut - half - 1e-9 <= number < cut + half - 1e-9 for number in stated)


def _says(text: str, name: str) -> bool:
    return re.search(rf"(?<![A-Za-z0-9_]){re.escape(name)}(?![A-Za-z0-9_])", text) is not None


def check_notes(tables: PackageTables) -> Iterator[str]:
    """Check that the stated pattern finds each value in each row, and that notes are single lines."""
    notes = tables.spec.notes
    if notes is None:
        return
    for path, frame in ((tables.layout.train, tables.train), (tables.layout.test, tables.test)):
        if broken := int(frame[notes.name].fill_null("").str.contains("\n").sum()):
            yield f"{path}: {count(broken, 'note')} of several lines"
        for cells in note_values(tables.spec, frame):
            if lost := cells.null_count():
                yield f"{path}: {count(lost, 'note')} from which the value of {cells.name} cannot be read"
    for name in (value.column for value in notes.values):
        if name in tables.features:
            yield f"column {name} is in the notes and in the table"
