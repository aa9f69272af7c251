"""Notes hold every value of the row, as written, and can be parsed by every reader of CSV files."""

import csv
from io import BytesIO, StringIO

import numpy as np
import pandas as pd
import polars as pl
import pytest
from pydantic import ValidationError

from sandmill.draw import render
from sandmill.draw.csv_files import write_notes
from sandmill.mechanism.row_numbers import RowNumbers
from sandmill.models.hints import NoteValue
from sandmill.rng import Streams
from tests.designs import SECRET
from tests.event_designs import LEVELS, NOTES, make_event_spec

STREAMS = Streams(b"a secret", "notes")
SPEC = make_event_spec(has_copies=True)


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
    assert any("3.50" in text for text in texts)
    assert all(text.count(filler) <= 1 for text in texts for filler in NOTES.fillers)
    first = [next(sentence for sentence in known if text.startswith(sentence)) for text in texts]
    assert set(first) == set(known)


def test_the_note_of_a_row_does_not_depend_on_other_rows():
    size = 50
    columns, cells = SPEC.mechanism.column_by_name, {"balcony_m2": np.arange(200) / 4, "roof": np.arange(200) % 3.0}
    whole = write_notes(NOTES, columns, cells, RowNumbers.of(STREAMS, range(200)))
    last = {name: values[-size:] for name, values in cells.items()}
    assert write_notes(NOTES, columns, last, RowNumbers.of(STREAMS, range(200 - size, 200))) == whole[-size:]


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
