"""Cells as the files write them."""

import csv
import io
import re
from collections import Counter
from datetime import date
from io import BytesIO, StringIO

import numpy as np
import pandas as pd
import polars as pl
import pytest
from pydantic import ValidationError

from sandmill.check.gates import check_package
from sandmill.draw import render
from sandmill.draw.csv_files import feature_frame, row_ids, target_frame, write_notes
from sandmill.draw.describe import columns_section
from sandmill.draw.wording import Wording, phrases
from sandmill.kinds.files.base import layout_of
from sandmill.kinds.files.tables import child_excess, csv_bytes, read_child
from sandmill.kinds.table import TABLE
from sandmill.mechanism.child import Events, aggregate
from sandmill.mechanism.row_numbers import RowNumbers
from sandmill.mechanism.rule import evaluate_motif
from sandmill.mechanism.units import encode
from sandmill.models import kind as registry
from sandmill.models.base import Part
from sandmill.models.columns import Categorical, Column, Date, LogNormal, Normal, Unit
from sandmill.models.faults import MixedTypes
from sandmill.models.hints import NoteValue
from sandmill.models.kind import kind_named, register
from sandmill.models.links import BinaryLink
from sandmill.models.mechanism import Mechanism
from sandmill.models.motifs import Linear, Term
from sandmill.models.package import TaskFacts, TaskPackage
from sandmill.models.spec import Sizes
from sandmill.models.structure import MetricName, TargetKind
from sandmill.models.texts import DESCRIPTION, TEXTS
from sandmill.rng import Streams
from sandmill.scoring.grading.private_half import answers_problem
from sandmill.scoring.submission import read_answers
from tests.designs import SECRET, make_spec
from tests.event_designs import CHILD, LEVELS, NOTES, RECENT_REPAIRS, TREND, make_event_spec
from tests.hinted_designs import small_rendered

STREAMS = Streams(SECRET, "cells")


def table(*faults):
    return Mechanism(
        columns=(
            Column(name="w", distribution=Normal(mean=12, sd=3), decimals=1),
            Column(name="k", distribution=LogNormal(median=30, sigma=0.4), decimals=0),
            Column(name="g", distribution=Categorical(levels=("one", "two, or more"), shares=(0.5, 0.5))),
            Column(name="day", distribution=Date(first=date(2019, 12, 30), days=60), decimals=0),
            Column(name="ward", distribution=Unit(prefix="W", size=4), decimals=0),
        ),
        terms=(Term(motif=Linear(column="w"), weights=(1.0,)),),
        link=BinaryLink(intercept=0.0),
        pathologies=faults,
    )


OBSERVED = {
    "w": np.array([12.5, np.nan, 11.0]),
    "k": np.array([30.0, 31.0, np.nan]),
    "g": np.array([0.0, 1.0, 0.0]),
    "day": np.array([0.0, 2.0, 59.0]),
    "ward": np.array([3.0, 3.0, 4.0]),
}


def features(mechanism, observed, streams):
    return feature_frame(mechanism, observed, RowNumbers.of(streams, range(len(observed["w"]))))


def cells(frame):
    return list(csv.DictReader(io.StringIO(csv_bytes(frame).decode())))


def test_each_kind_of_column_has_its_way_of_writing():
    rows = cells(features(table(), OBSERVED, STREAMS))
    assert [row["w"] for row in rows] == ["12.5", "", "11.0"]
    assert [row["k"] for row in rows] == ["30", "31", ""]
    assert [row["g"] for row in rows] == ["one", "two, or more", "one"]
    assert [row["day"] for row in rows] == ["2019-12-30", "2020-01-01", "2020-02-27"]
    assert all(re.fullmatch(r"W[0-9a-f]{6,}", row["ward"]) for row in rows)
    assert rows[0]["ward"] == rows[1]["ward"] != rows[2]["ward"]


def test_some_numbers_have_their_unit_behind_them():
    rows = 4000
    observed = {name: np.resize(of, rows) for name, of in OBSERVED.items()}
    plain = cells(features(table(), observed, STREAMS))
    for name in ("w", "k"):
        mixed = cells(features(table(MixedTypes(column=name, rate=0.3, suffix="kg")), observed, STREAMS))
        marked = [row[name].endswith(" kg") for row in mixed]
        assert [row[name].removesuffix(" kg") for row in mixed] == [row[name] for row in plain]
        assert not any(mark for mark, row in zip(marked, plain, strict=True) if row[name] == "")
        assert abs(sum(marked) / sum(row[name] != "" for row in plain) - 0.3) < 0.04
        assert [{**row, name: ""} for row in mixed] == [{**row, name: ""} for row in plain]


def facts(target, encoding, classes=(), columns=("y",)):
    return TaskFacts(
        id_column="id",
        target_column="y",
        target=target,
        metric=MetricName.ACCURACY,
        encoding=encoding,
        classes=classes,
        submission_columns=columns,
    )


def test_each_kind_of_target_has_its_way_of_writing():
    codes, sets = np.array([1.0, 0.0, 2.0]), np.array([[1.0, 0.0, 1.0], [0.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    names, pair = ("dry", "wet", "ice"), np.array([[1.25, 3.0], [0.5, -4.0], [2.0, 0.25]])

    def written(of, target):
        frame = target_frame(of, target)
        rows = cells(pl.concat([pl.DataFrame({"id": ["a", "b", "c"]}), frame], how="horizontal"))
        return [tuple(row.values())[1:] for row in rows]

    assert written(facts(TargetKind.BINARY, "label", ("0", "1")), codes % 2) == [("1",), ("0",), ("0",)]
    assert written(facts(TargetKind.MULTICLASS, "label", names), codes) == [("wet",), ("dry",), ("ice",)]
    assert written(facts(TargetKind.ORDINAL, "label", ("1", "2", "3")), codes) == [("2",), ("1",), ("3",)]
    assert written(facts(TargetKind.COUNT, "value"), codes) == [("1",), ("0",), ("2",)]
    assert written(facts(TargetKind.REGRESSION, "value"), codes / 2) == [("0.5",), ("0.0",), ("1.0",)]
    assert written(facts(TargetKind.MULTILABEL, "label_list", names), sets) == [("dry ice",), ("",), ("wet",)]
    wide = facts(TargetKind.MULTILABEL, "label_probabilities", names, names)
    assert target_frame(wide, sets).columns == list(names)
    assert written(wide, sets) == [("1", "0", "1"), ("0", "0", "0"), ("0", "1", "0")]
    several = facts(TargetKind.MULTI_TARGET, "values", (), ("a", "b"))
    assert written(several, pair) == [("1.25", "3.0"), ("0.5", "-4.0"), ("2.0", "0.25")]


@pytest.mark.parametrize(
    ("kind", "form"), [("table", r"[0-9a-f]{10}"), ("table_keys", r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{7}")]
)
def test_row_names_are_unique_and_say_nothing_of_order(kind, form):
    names, made = row_ids(STREAMS, "test", range(20_000), kind_named(kind)), kind_named(kind)
    assert len(set(names)) == 20_000
    assert all(re.fullmatch(form, name) for name in names)
    assert names != sorted(names)
    assert not set(names) & set(row_ids(STREAMS, "train", range(20_000), made))
    assert row_ids(STREAMS, "test", range(7, 11), made) == names[7:11]


NOTE_STREAMS = Streams(b"a secret", "notes")
SPEC = make_event_spec(has_copies=True)


def test_notes_have_two_to_five_sentences_in_drawn_order_and_no_filler_twice():
    rows = RowNumbers.of(NOTE_STREAMS, range(2000))
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
    whole = write_notes(NOTES, columns, cells, RowNumbers.of(NOTE_STREAMS, range(200)))
    last = {name: values[-size:] for name, values in cells.items()}
    assert write_notes(NOTES, columns, last, RowNumbers.of(NOTE_STREAMS, range(200 - size, 200))) == whole[-size:]


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


def events_in(content: bytes, ids: list[str]) -> Events:
    """Read the file as a solver would, with the items in the order of `ids`."""
    frame = pd.read_csv(StringIO(content.decode()), dtype={"id": str})
    assert list(frame.columns) == ["id", "booking_kind", "amount_eur", "days_ago"]
    frame = frame[frame["id"].isin(set(ids))]
    places = pd.Series(range(len(ids)), index=ids)[frame["id"]].to_numpy()
    kinds = frame["booking_kind"].map(CHILD.kinds.index).to_numpy(dtype=float)
    cells = (frame[name].to_numpy(dtype=float) for name in ("amount_eur", "days_ago"))
    return Events.from_list(places, kinds, *cells, rows=len(ids), horizon=CHILD.horizon)


def test_summaries_of_the_file_are_those_of_the_rule():
    rendered = render(SPEC, SECRET)
    public, columns = rendered.package.public, SPEC.mechanism.column_by_name
    for name, draw in (("train.csv", rendered.train_draw), ("test.csv", rendered.test_draw)):
        ids = pd.read_csv(StringIO(public[name].decode()), dtype=str)["id"].tolist()
        events = events_in(public["bookings.csv"], ids)
        for motif in (RECENT_REPAIRS, TREND):
            np.testing.assert_allclose(
                aggregate(motif, events), evaluate_motif(motif, columns, draw.complete), atol=1e-9
            )


def test_the_file_holds_all_items_in_the_order_of_their_ids():
    public = render(SPEC, SECRET).package.public
    faults: list[str] = []
    frame = read_child(public, CHILD, "id", faults)
    assert frame is not None
    assert not faults
    items = {
        line.split(",")[0] for name in ("train.csv", "test.csv") for line in public[name].decode().splitlines()[1:]
    }
    assert set(frame["id"]) == items
    assert frame.equals(frame.sort("id", maintain_order=True))
    falls = frame.with_columns((pl.col("days_ago").diff() > 0).alias("rises"), (pl.col("id") == pl.col("id").shift()))
    assert not falls.filter(pl.col("id"))["rises"].any()
    assert not list(child_excess(CHILD, public[CHILD.path], len(items)))
    assert list(child_excess(CHILD, public[CHILD.path], 10 * len(items)))
    assert len(public[CHILD.path]) < 5 << 20


def test_a_broken_file_is_a_fault():
    for content in (
        b"id,booking_kind,amount_eur\na,rent,2\n",
        b"id,booking_kind,amount_eur,days_ago\na,rent,much,3\n",
        b"id,booking_kind,amount_eur,days_ago\na,,2.5,3\n",
        b"id,booking_kind,amount_eur,days_ago\na,rent,inf,3\n",
    ):
        faults: list[str] = []
        assert read_child({"bookings.csv": content}, CHILD, "id", faults) is None
        assert len(faults) == 1
        assert "bookings.csv" in faults[0]
    faults = []
    assert read_child({}, CHILD, "id", faults) is None
    assert faults


SIZES = Sizes(train=100, feedback=400, final=600)


@pytest.fixture(scope="module")
def rendered():
    known = dict(registry._KINDS)
    spec = make_spec().model_copy(update={"sizes": SIZES})
    plain = render(spec, SECRET)
    register(TABLE.model_copy(update={"unscored": 0.3}))
    yield plain, render(spec, SECRET)
    registry._KINDS.clear()
    registry._KINDS.update(known)


def test_files_hold_more_items_and_answers_say_which_do_not_count(rendered):
    package = rendered[1].package
    answers = read_answers(package.private["answers.csv"], package.facts)
    parts = [line.rpartition(b",")[2].decode() for line in package.private["answers.csv"].splitlines()[1:]]
    assert Counter(parts) == {"feedback": 400, "final": 600, "unscored": 300}
    assert package.public["test.csv"].count(b"\n") == package.public["sample_submission.csv"].count(b"\n") == 1301
    assert [int(answers.part(part).sum()) for part in Part] == [400, 600]
    assert (answers.is_scored == rendered[1].answers.is_scored).all()
    assert answers_problem(package.private["answers.csv"], package.facts) is None
    assert "1300" in package.public["description.md"].decode()
    assert check_package(package) == []


def test_scored_items_are_those_of_the_task_without_others(rendered):
    for part in Part:
        cells = []
        for made in rendered:
            columns, rows = [*made.test_draw.complete.values(), made.answers.truth], made.answers.part(part)
            cells.append(sorted(zip(*(column[rows].tolist() for column in columns), strict=True)))
        assert cells[0] == cells[1]
