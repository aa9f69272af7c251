"""Notes hold every value of the row, as written, and can be parsed by every reader of CSV files."""

import csv
from collections import Counter
from io import BytesIO, StringIO

import numpy as np
import pandas as pd
import polars as pl
import pytest
from pydantic import ValidationError

from sandmill.draw import render
from sandmill.draw.csv_files import write_notes
from sandmill.draw.describe import columns_section
from sandmill.draw.wording import Wording, phrases
from sandmill.kinds.files.base import layout_of
from sandmill.mechanism.row_numbers import RowNumbers
from sandmill.mechanism.units import encode
from sandmill.models.columns import Categorical
from sandmill.models.hints import NoteValue
from sandmill.models.package import TaskPackage
from sandmill.models.texts import DESCRIPTION, TEXTS
from sandmill.rng import Streams
from tests.designs import SECRET
from tests.event_designs import LEVELS, NOTES, make_event_spec
from tests.hinted_designs import small_rendered

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


SLOTS = (0, 2, 6, 8, 9, 10)


def test_hints_and_asides_stand_in_the_texts_word_for_word():
    for slot in SLOTS:
        package = small_rendered(slot).package
        page = package.public[DESCRIPTION].decode()
        assert all(hint.text in package.public[hint.file].decode() for hint in package.spec.hints)
        assert all(aside in page for aside in package.spec.story.asides)
        assert set(package.public) == layout_of(package.spec).files_of(package.spec)
        for name in package.public:
            assert (f"`public/{name}`" in page) == (name not in TEXTS)


def test_files_hold_sentinels_and_converted_cells():
    seen = Counter()
    for slot in SLOTS:
        rendered = small_rendered(slot)
        mechanism, cells = rendered.package.spec.mechanism, rendered.test_draw.observed
        frame = pl.read_csv(rendered.package.public["test.csv"])
        for gap in mechanism.missing():
            if gap.sentinel is not None and gap.column in frame.columns:
                missing = np.isnan(cells[gap.column])
                written = frame[gap.column].cast(pl.Float64).to_numpy()
                assert (written[missing] == gap.sentinel).all()
                assert not (written[~missing] == gap.sentinel).any()
                said = line_of(rendered.package, gap.column)
                assert not [words for words in phrases()["gaps"] if words in said]
                seen["sentinels"] += 1
        for column in mechanism.columns:
            if column.conversion and frame[column.name].dtype != pl.String:
                codes = cells[column.conversion.by]
                expected = encode(column, cells[column.name], codes)
                known = ~np.isnan(cells[column.name])
                written = frame[column.name].cast(pl.Float64).to_numpy()
                np.testing.assert_allclose(written[known], expected[known])
                level = mechanism.column_by_name[column.conversion.by].distribution
                assert isinstance(level, Categorical)
                other = np.asarray(column.conversion.factors)[codes.astype(int)] != 1
                if other.any():
                    assert not np.allclose(written[known & other], cells[column.name][known & other])
                    seen["units"] += 1
    assert min(seen["sentinels"], seen["units"]) >= 1


def line_of(package: TaskPackage, column: str) -> str:
    """What the section of the columns says of one of them."""
    section = columns_section(package.spec, package.facts, layout_of(package.spec), Wording(package.spec.story.style))
    assert section in package.public[DESCRIPTION].decode()
    (line,) = (line for line in section.splitlines() if f"`{column}`" in line)
    return line
