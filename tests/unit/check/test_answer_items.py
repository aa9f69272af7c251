"""Answers by item: what gates see of forms with several answer rows an item, and what they find wrong."""

import polars as pl
import pytest

from sandmill.check.package_tables import answers_by_item, by_item, read_targets
from sandmill.draw.csv_files import answers_file
from tests.many_rows import FORMS, facts_for, make_many


def frame_of(form: str) -> pl.DataFrame:
    task = make_many(form)
    return pl.read_csv(answers_file(task.facts, task.answers), infer_schema=False)


def read(form: str, frame: pl.DataFrame) -> tuple[pl.DataFrame, list[str]]:
    faults: list[str] = []
    return answers_by_item("answers.csv", frame, facts_for(form), "part", faults), faults


@pytest.mark.parametrize("form", FORMS)
def test_each_item_is_a_row_and_labels_of_pairs_are_its_target(form):
    answers, facts = make_many(form).answers, facts_for(form)
    items, faults = read(form, frame_of(form))
    assert faults == []
    assert tuple(items["id"]) == answers.ids
    assert (items["part"] == "final").to_list() == answers.is_final.tolist()
    assert (items["part"] == "unscored").to_list() == (~answers.is_scored).tolist()
    targets = read_targets(items, facts)
    assert [target.name for target in targets] == [*facts.classes]
    for target, marks in zip(targets, answers.truth.T, strict=False):
        assert target.values.tolist() == marks.tolist()


@pytest.mark.parametrize("form", [form for form in FORMS if form != "runs"])
def test_rows_of_no_whole_items_and_of_several_parts_are_faults(form):
    frame = frame_of(form)
    assert "not those of all answer rows" in read(form, frame[1:])[1][0]
    assert by_item("sample.csv", frame[::-1], facts_for(form), faults := []).height == 0
    assert faults
    parts = ["final", "feedback"] * (frame.height // 2 + 1)
    assert "several parts" in read(form, frame.with_columns(part=pl.Series(parts[: frame.height])))[1][0]


def test_a_cell_that_is_no_mark_has_no_target():
    frame = frame_of("pairs")
    frame[0, "y"] = "0.5"
    assert read("pairs", frame)[0]["y"][0] == "?"
