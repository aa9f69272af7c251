"""Answers by item: what gates see of forms with several answer rows an item, and what they find wrong."""

import polars as pl
import pytest

from sandmill.check.package_tables import answers_by_item, by_item, train_target_by_item
from sandmill.draw.csv_files import answers_file
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
