"""Notes hold every value of the row, as written, and can be parsed by every reader of CSV files."""

import csv
import re
from io import BytesIO, StringIO

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from sandmill.draw import render
from sandmill.draw.csv_files import write_notes, written_values
from sandmill.kinds.library import load_domains
from sandmill.mechanism.columns import quantile
from sandmill.mechanism.row_numbers import RowNumbers
from sandmill.models.columns import Categorical, Column
from sandmill.models.hints import Notes, NoteValue
from sandmill.rng import Streams
from tests.designs import SECRET
from tests.event_designs import LEVELS, NOTES, make_event_spec

STREAMS = Streams(b"a secret", "notes")
SPEC = make_event_spec(has_copies=True)


def notes_domains():
    return [domain for domain in load_domains() if domain.knows.notes]


def value_of(column: Column, text: str) -> float:
    """Parse a value as the texts say: a number, or the place of a level among the words."""
    if isinstance(column.distribution, Categorical):
        return float([level.replace("_", " ") for level in column.distribution.levels].index(text))
    return float(text)


@settings(max_examples=60, deadline=None)
@given(st.data())
@pytest.mark.slow
def test_every_value_is_read_back_exactly_in_all_domains(data):
    if not notes_domains():
        pytest.skip("no domain has notes")
    domain = data.draw(st.sampled_from(notes_domains()))
    word = domain.knows.notes
    offered = {item.name: item for item in (*domain.numeric, *domain.categorical)}
    chosen = data.draw(st.lists(st.sampled_from(word.values), min_size=1, max_size=3, unique_by=lambda one: one.column))
    columns = {}
    for one in chosen:
        item = offered[one.column]
        if hasattr(item, "levels"):
            even = tuple([1 / len(item.levels)] * len(item.levels))
            columns[one.column] = Column(
                name=one.column, distribution=Categorical(levels=item.levels, shares=even), decimals=0
            )
        else:
            columns[one.column] = Column(name=one.column, distribution=item.distribution, decimals=item.decimals)
    notes = Notes(
        name=word.name,
        meaning=word.meaning,
        values=tuple(NoteValue(column=one.column, phrases=one.phrases, pattern=one.pattern) for one in chosen),
        fillers=word.fillers,
    )
    rows = RowNumbers.of(STREAMS.child(str(data.draw(st.integers(0, 999)))), range(150))
    cells = {
        name: quantile(column, rows.uniforms(f"cells {name}"), 0.0, is_train=True) for name, column in columns.items()
    }
    for place, text in enumerate(write_notes(notes, columns, cells, rows)):
        for value in notes.values:
            found = value.find(text)
            assert len(found) == 1, (domain.name, value.column, text)
            assert value_of(columns[value.column], found[0]) == cells[value.column][place], (domain.name, text)
            assert re.search(value.pattern, text)[1] == found[0]


def test_notes_have_two_to_five_sentences_in_drawn_order_and_no_filler_twice():
    rows = RowNumbers.of(STREAMS, range(2000))
    columns = SPEC.mechanism.column_by_name
    cells = {"balcony_m2": np.full(2000, 3.5), "roof": np.zeros(2000)}
    texts = write_notes(NOTES, columns, cells, rows)
    known = [
        *NOTES.fillers,
        *(
            p.replace("{value}", v)
            for one, v in zip(NOTES.values, ("3.50", "tile roof"), strict=True)
            for p in one.phrases
        ),
    ]
    counts = [sum(text.count(sentence) for sentence in known) for text in texts]
    assert set(counts) == {2, 3, 4, 5}
    assert all(text.count(filler) <= 1 for text in texts for filler in NOTES.fillers)
    first = [next(sentence for sentence in known if text.startswith(sentence)) for text in texts]
    assert set(first) == set(known)


def test_the_note_of_a_row_does_not_depend_on_other_rows():
    size = 50
    columns, cells = SPEC.mechanism.column_by_name, {"balcony_m2": np.arange(200) / 4, "roof": np.arange(200) % 3.0}
    whole = write_notes(NOTES, columns, cells, RowNumbers.of(STREAMS, range(200)))
    last = {name: values[-size:] for name, values in cells.items()}
    assert write_notes(NOTES, columns, last, RowNumbers.of(STREAMS, range(200 - size, 200))) == whole[-size:]


def test_numbers_are_written_with_their_decimals_and_levels_as_words():
    columns = SPEC.mechanism.column_by_name
    assert written_values(columns["balcony_m2"], np.array([3.5, 12.0, 0.07])) == ["3.50", "12.00", "0.07"]
    assert written_values(columns["floor_cm"], np.array([250.0])) == ["250"]
    assert written_values(columns["roof"], np.array([1.0])) == ["flat roof"]


def test_files_hold_notes_in_place_of_the_columns_and_all_readers_agree():
    rendered = render(SPEC, SECRET)
    for name, draw in (("train.csv", rendered.train_draw), ("test.csv", rendered.test_draw)):
        content = rendered.package.public[name]
        by_pandas = pd.read_csv(BytesIO(content), dtype=str)["visit_note"].tolist()
        by_polars = pl.read_csv(content, infer_schema=False)["visit_note"].to_list()
        by_csv = [row["visit_note"] for row in csv.DictReader(StringIO(content.decode()))]
        assert by_pandas == by_polars == by_csv
        assert any(", " in text for text in by_csv)
        assert any('"' in text for text in by_csv)
        header = content.split(b"\n", 1)[0].decode().split(",")
        assert "balcony_m2" not in header
        assert "roof" not in header
        sizes, roofs = ([value.find(text) for text in by_csv] for value in NOTES.values)
        np.testing.assert_array_equal(np.array(sizes, dtype=float)[:, 0], draw.complete["balcony_m2"])
        words = [level.replace("_", " ") for level in LEVELS]
        assert [words.index(found) for (found,) in roofs] == draw.complete["roof"].tolist()


def test_designs_whose_notes_and_columns_disagree_are_refused():
    with pytest.raises(ValidationError, match="notes hold"):
        type(SPEC).model_validate({**SPEC.model_dump(), "notes": None})
    with pytest.raises(ValidationError, match="no regular expression"):
        NoteValue(column="a", phrases=("It is {value}.",), pattern="is (")
    with pytest.raises(ValidationError, match="has no group"):
        NoteValue(column="a", phrases=("It is {value}.",), pattern=r"is \d+")
