"""Answers by item: what gates see of forms with several answer rows an item, and what they find wrong."""

from datetime import date

import polars as pl
import pytest

from sandmill.check import check_package
from sandmill.check.package_tables import answers_by_item, by_item, train_target_by_item
from sandmill.draw import render
from sandmill.draw.csv_files import answers_file
from sandmill.kinds.files.archives import pack, unpack
from sandmill.kinds.files.media import MediaFiles
from sandmill.models import kind as registry
from sandmill.models.columns import Column, Date, Unit
from sandmill.models.kind import kind_named, register
from sandmill.models.spec import Sizes
from sandmill.models.structure import SplitKind
from tests.designs import SECRET, make_image_spec
from tests.many_rows import FORMS, ITEMS, facts_for, make_many


def frame_of(form: str, *, plain: bool = True) -> pl.DataFrame:
    task = make_many(form)
    frame = pl.read_csv(answers_file(task.facts, task.answers), infer_schema=False)
    return frame.with_columns(pl.col("y").fill_null("empty")) if plain and form != "runs" else frame


def read(form: str, frame: pl.DataFrame) -> tuple[pl.DataFrame, list[str]]:
    faults: list[str] = []
    return answers_by_item("answers.csv", frame, facts_for(form), "part", faults), faults


@pytest.mark.parametrize("form", FORMS)
def test_each_item_is_a_row_with_a_target_that_gates_can_judge(form):
    answers = make_many(form).answers
    items, faults = read(form, frame_of(form))
    assert faults == []
    assert tuple(items["id"]) == answers.ids
    assert (items["part"] == "final").to_list() == answers.is_final.tolist()
    assert (items["part"] == "unscored").to_list() == (~answers.is_scored).tolist()
    assert items["y"].null_count() == 0
    match form:
        case "pairs":
            wanted = " ".join(
                name for name, mark in zip(facts_for(form).classes, answers.truth[0], strict=True) if mark
            )
            assert items["y"][0] == wanted
        case "dense" | "runs":
            assert float(items["y"][0]) == pytest.approx(answers.truth[0].mean(), abs=1e-6)
        case _:
            assert int(items["y"][0]) == sum(len(text or "empty") for text in answers.truth[0] if text is not None)


@pytest.mark.parametrize("form", [form for form in FORMS if form != "runs"])
def test_rows_of_no_whole_items_and_of_several_parts_are_faults(form):
    frame = frame_of(form)
    assert "not those of all answer rows" in read(form, frame[1:])[1][0]
    assert by_item("sample.csv", frame[::-1], facts_for(form), faults := []).height == 0
    assert faults
    parts = ["final", "feedback"] * (frame.height // 2 + 1)
    assert "several parts" in read(form, frame.with_columns(part=pl.Series(parts[: frame.height])))[1][0]


def test_a_cell_that_is_no_answer_has_no_target():
    for form, cell in (("pairs", "0.5"), ("dense", "grey"), ("dense", "1.5"), ("runs", "1 2 2 2")):
        frame = frame_of(form)
        frame[0, "y"] = cell
        target = read(form, frame)[0]["y"][0]
        assert target in ("?", None)


def test_texts_that_no_submission_may_hold_are_faults():
    assert "empty, too long or hold control" in read("strings", frame_of("strings", plain=False))[1][0]
    frame = frame_of("strings")
    frame[0, "y"] = "a\x07b"
    assert read("strings", frame)[1] == ["answers.csv: 1 texts are empty, too long or hold control characters"]


def test_training_targets_look_like_those_of_answers():
    pictures = pl.DataFrame({"y": [bytes([0, 255]), bytes([255, 255])]})
    assert train_target_by_item(pictures, facts_for("dense"))["y"].to_list() == ["0.500000", "1.000000"]
    masks = pl.DataFrame({"y": ["2 3", None]})
    assert train_target_by_item(masks, facts_for("runs"))["y"].to_list() == ["0.500000", "0.000000"]
    texts = pl.DataFrame({"y": [["one", "two"], ["three"]]})
    assert train_target_by_item(texts, facts_for("strings"))["y"].to_list() == ["6", "5"]
    assert len(make_many("dense").answers.ids) == ITEMS


IN_NAMES = MediaFiles(
    train_items="train2.zip",
    test_items="test2.zip",
    train_table=None,
    train_name="{shown}_{id}_TRAIN_{label}.png",
    name="{shown}_{id}_Test.png",
)
IN_TABLES = MediaFiles(train_items="train/", test_items="test/", test_table="test.csv", name="{id}.png")
DAYS = Date(first=date(2020, 3, 1), days=60, train_days=30)
WARDS = Unit(prefix="W", size=5)


@pytest.fixture
def dated(monkeypatch):
    monkeypatch.setattr(registry, "_KINDS", dict(registry._KINDS))

    def make(layout, distribution, split, shown=("seen_at",)):
        register(kind_named("image_archive").model_copy(update={"layout": f"{__name__}:{layout}"}))
        spec = make_image_spec()
        column = Column(name="seen_at", distribution=distribution, decimals=0)
        mechanism = spec.mechanism.model_copy(update={"columns": (column, *spec.mechanism.columns)})
        meanings = {**spec.story.column_meanings, "seen_at": "When or where it was taken"}
        changed = {
            "mechanism": mechanism,
            "split": split,
            "story": spec.story.model_copy(update={"column_meanings": meanings}),
            "sizes": Sizes(train=80, feedback=100, final=120),
            "channel": spec.channel.model_copy(update={"shown": shown}),
        }
        return render(spec.model_copy(update=changed), SECRET).package

    return make


def gates_of(package):
    return {finding.gate: finding.detail for finding in check_package(package)}


@pytest.mark.parametrize(
    ("layout", "distribution", "split"),
    [("IN_NAMES", DAYS, SplitKind.TEMPORAL), ("IN_TABLES", WARDS, SplitKind.GROUPED)],
)
def test_items_that_are_split_by_day_or_unit_pass_all_gates(dated, layout, distribution, split):
    package = dated(layout, distribution, split)
    assert gates_of(package) == {}
    text = package.public["description.md"].decode()
    assert ("<seen_at>_<id>_Test.png" in text) == (layout == "IN_NAMES")


def test_a_test_file_that_is_named_after_an_early_day_is_found(dated):
    package = dated("IN_NAMES", DAYS, SplitKind.TEMPORAL)
    files = [("2020-03-02" + name[10:], held) for name, held in unpack(package.public, "test2.zip")]
    changed = package.model_copy(update={"public": {**package.public, "test2.zip": pack(files)}})
    assert "not later than all of train2.zip by column seen_at" in gates_of(changed)["time"]


@pytest.mark.slow
def test_a_unit_of_both_parts_in_a_table_beside_the_files_is_found(dated):
    package = dated("IN_TABLES", WARDS, SplitKind.GROUPED)
    ward, other = (package.public[path].splitlines()[1].split(b",")[1] for path in ("train.csv", "test.csv"))
    table = package.public["test.csv"].replace(other, ward)
    changed = package.model_copy(update={"public": {**package.public, "test.csv": table}})
    assert "in both train.csv and" in gates_of(changed)["units"]


def test_a_split_by_what_no_file_shows_is_found(dated):
    hidden = dated("IN_TABLES", WARDS, SplitKind.GROUPED, shown=())
    assert gates_of(hidden)["units"] == "the split is by unit, but the files do not show column seen_at"
    hidden = dated("IN_TABLES", DAYS, SplitKind.TEMPORAL, shown=())
    assert gates_of(hidden)["time"] == "the split is by time, but no date column parts train and test"
