"""Cells of the files, from draws of a mechanism, the same on every machine: items, notes, targets, events, answers."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sandmill.kinds.files.tables import child_columns, csv_bytes
from sandmill.kinds.table import TABLE
from sandmill.mechanism.child import Events
from sandmill.mechanism.columns import Floats
from sandmill.mechanism.row_numbers import RowNumbers
from sandmill.mechanism.units import encode
from sandmill.models.base import Part
from sandmill.models.columns import Categorical, ChildTable, Column, Date, Unit
from sandmill.models.hints import Notes
from sandmill.models.kind import Kind
from sandmill.models.mechanism import Mechanism
from sandmill.models.package import TaskFacts
from sandmill.models.spec import TaskSpec
from sandmill.rng import Streams
from sandmill.scoring.base import Array
from sandmill.scoring.forms import form_of
from sandmill.scoring.submission import UNSCORED, Answers

_ID_LENGTH = 10
_FIRST_MOMENT, _SECONDS, _TICKS = datetime(2012, 1, 1, tzinfo=UTC), 3 * 365 * 86_400, 10**7
"""Start and length of the span of time stamps, and ticks of a second."""
_UNIT_LENGTH = 10
FEWEST_SENTENCES, MOST_SENTENCES = 2, 5
"""Sentences of a row. A row with more values has a sentence for each."""


def row_ids(streams: Streams, part: str, rows: range, kind: Kind = TABLE) -> list[str]:
    """Return row ids: keyed hashes of the row number, which reveal neither order nor part nor target.

    Time stamps have seven decimals of a second, as databases write them. Two rows hardly ever share one.
    """
    if kind.ids != "timestamp":
        return streams.tokens(f"id {part}", rows, _ID_LENGTH)
    ticks = [int(share * _SECONDS * _TICKS) for share in streams.uniforms(f"id {part}", rows)]
    moments = (_FIRST_MOMENT + timedelta(seconds=tick // _TICKS) for tick in ticks)
    return [f"{moment:%Y-%m-%d %H:%M:%S}.{tick % _TICKS:07d}" for moment, tick in zip(moments, ticks, strict=True)]


def feature_frame(
    mechanism: Mechanism,
    observed: Mapping[str, Floats],
    row_numbers: RowNumbers,
    names: Sequence[str] | None = None,
) -> pl.DataFrame:
    """Return visible cells with the types of the files: integers, decimals, level names, dates or unit names.

    Missing cells are null or the number that stands for them. Converted cells are in the unit of their site. Columns
    are the named ones in this order, or all that are no part of a text. The streams of the row numbers name the units
    and choose the numbers that are written as text, with their unit after them.
    """
    sentinels = {gap.column: gap.sentinel for gap in mechanism.missing() if gap.sentinel is not None}
    frame = {}
    for column in mechanism.columns if names is None else [mechanism.column_by_name[name] for name in names]:
        if names is None and column.in_text:
            continue
        cells = observed[column.name]
        if column.conversion:
            cells = encode(column, cells, observed[column.conversion.by])
        if column.name in sentinels:
            cells = np.where(np.isnan(cells), sentinels[column.name], cells)
        frame[column.name] = _series(column, cells, row_numbers.streams)
    for fault in mechanism.mixed_types():
        if fault.column in frame:
            plain = frame[fault.column].cast(pl.String)
            is_marked = pl.Series(row_numbers.uniforms("mixed types") < fault.rate)
            written = pl.select(pl.when(is_marked).then(plain + f" {fault.suffix}").otherwise(plain))
            frame[fault.column] = written.to_series().alias(fault.column)
    return pl.DataFrame(list(frame.values()))


def target_frame(facts: TaskFacts, target: Floats) -> pl.DataFrame:
    """Return targets as in the files: class names, 0/1 for labels, label lists, or numbers."""
    return pl.DataFrame(dict(form_of(facts).write_truth(target, facts)))


def child_files(spec: TaskSpec, facts: TaskFacts, parts: Sequence[tuple[pl.Series, Events | None]]) -> dict[str, bytes]:
    """Return the file of the child table with the events of all parts; nothing if the design has no child table.

    A part has the ids of some items, and their events in the same order.
    """
    child = spec.mechanism.child
    if child is None:
        return {}
    frames = [events_frame(child, facts.id_column, ids, events) for ids, events in parts if events is not None]
    # Sorted by item, from old to new. Ids are random, so the order carries nothing about parts or targets.
    order = pl.col(facts.id_column), -pl.col(child.age), pl.col(child.kind), pl.col(child.amount)
    return {child.path: csv_bytes(pl.concat(frames).sort(*order))}


def events_frame(child: ChildTable, id_column: str, ids: pl.Series, events: Events) -> pl.DataFrame:
    """Return one row for each event, with the id of its item."""
    there = ~np.isnan(events.ages)
    amounts = pl.Series(events.amounts[there])
    cells = (
        ids.gather(np.nonzero(there)[0]),
        pl.Series(np.array(child.kinds, dtype=object)[events.kinds[there].astype(np.intp)], dtype=pl.String),
        amounts.cast(pl.Int64) if child.decimals == 0 else amounts,
        pl.Series(events.ages[there].astype(np.int64)),
    )
    return pl.DataFrame(dict(zip(child_columns(child, id_column), cells, strict=True)))


def _series(column: Column, values: Floats, streams: Streams) -> pl.Series:
    match column.distribution:
        case Categorical(levels=levels):
            return pl.Series(column.name, [None if np.isnan(code) else levels[int(code)] for code in values])
        case Date(first=first):
            return pl.Series(column.name, [(first + timedelta(days=int(day))).isoformat() for day in values])
        case Unit(prefix=prefix):
            names = {unit: prefix + streams.token(f"unit {unit:.0f}", _UNIT_LENGTH) for unit in np.unique(values)}
            return pl.Series(column.name, [names[unit] for unit in values])
        case _:
            numbers = pl.Series(column.name, values).fill_nan(None)
            return numbers.cast(pl.Int64) if column.decimals == 0 else numbers


def answers_file(facts: TaskFacts, answers: Answers) -> bytes:
    """Write answers.csv: id, targets and part."""
    form = form_of(facts)
    ids = form.row_ids(answers.ids, facts, answers.lengths)
    parts = np.where(answers.is_final, str(Part.FINAL), str(Part.FEEDBACK))
    if answers.is_scored is not None:
        parts = np.where(answers.is_scored, parts, UNSCORED)
    each = form.rows_each(facts) if answers.lengths is None else answers.lengths
    columns = {facts.id_column: ids, **form.write_answers(answers.truth, facts), "part": np.repeat(parts, each)}
    return csv_bytes(pl.DataFrame({name: pl.Series(cells) for name, cells in columns.items()}))


def sample_submission(facts: TaskFacts, row_ids: Sequence[str], train_target: Array) -> pl.DataFrame:
    """Return a valid submission that gives the same answer in every row, which follows from the training targets."""
    cells = form_of(facts).sample(facts, train_target)
    columns = zip(facts.submission_columns, cells, strict=True)
    return pl.DataFrame(
        {facts.id_column: pl.Series(row_ids)} | {name: pl.Series([cell] * len(row_ids)) for name, cell in columns}
    )


def write_notes(
    notes: Notes, columns: Mapping[str, Column], cells: Mapping[str, Floats], row_numbers: RowNumbers
) -> list[str]:
    """Write the notes of each row. Row i depends on its own numbers and true values (codes for categories) alone."""
    own = RowNumbers(row_numbers.streams.child("notes"), row_numbers.numbers)
    stated = [
        _state(value.phrases, written_values(columns[value.column], cells[value.column]), own, place)
        for place, value in enumerate(notes.values)
    ]
    fewest = max(FEWEST_SENTENCES, len(stated))
    span = max(MOST_SENTENCES, fewest) - fewest + 1
    lengths = fewest + np.floor(own.uniforms("sentences") * span).astype(np.intp)
    fillers = _rank(own, "filler", len(notes.fillers))
    orders = _rank(own, "order", fewest + span - 1)
    written = []
    for row, length in enumerate(lengths):
        chosen = [notes.fillers[filler] for filler in fillers[row, : length - len(stated)]]
        sentences = [*(texts[row] for texts in stated), *chosen]
        written.append(" ".join(sentences[place] for place in orders[row] if place < len(sentences)))
    return written


def written_values(column: Column, cells: Floats) -> list[str]:
    """Return values as notes write them: numbers with all their decimals, levels with spaces for underscores."""
    if isinstance(column.distribution, Categorical):
        words = [level.replace("_", " ") for level in column.distribution.levels]
        return [words[int(code)] for code in cells]
    return [f"{value:.{column.decimals}f}" for value in cells]


def _state(phrases: tuple[str, ...], values: list[str], row_numbers: RowNumbers, place: int) -> list[str]:
    chosen = np.floor(row_numbers.uniforms(f"phrase {place}") * len(phrases)).astype(np.intp)
    return [phrases[phrase].replace("{value}", value) for phrase, value in zip(chosen, values, strict=True)]


def _rank(row_numbers: RowNumbers, name: str, count: int) -> NDArray[np.intp]:
    """Return a random order of `count` things for each row."""
    return np.argsort(np.column_stack([row_numbers.uniforms(f"{name} {place}") for place in range(count)]), axis=1)
