"""Rows of results survive a file, and a file is whole or absent."""

from pathlib import Path

import pytest

from learn.tests.arms import make_rollout, scored_rows
from sandmill.errors import InputError
from sandmill.models.reports import Medal
from sandmill_learn.results import draw_of, read_results, to_scored, write_results

NAMES = {"arm": "grpo", "seed": 3, "family": "iris", "source": "final"}


def test_rows_come_back_as_they_were_written(tmp_path):
    rows = scored_rows("a", {"x": 1 / 3, "y": -1.0}, draws=2, medal=Medal.SILVER) + scored_rows("b", {"x": 0.0})
    path = tmp_path / "deep" / "results.parquet"
    write_results(path, rows)
    assert read_results(path) == rows
    first = path.read_bytes()
    write_results(path, rows)
    assert path.read_bytes() == first


def test_no_rows_are_a_file_too(tmp_path):
    write_results(tmp_path / "none.parquet", [])
    assert read_results(tmp_path / "none.parquet") == []


def test_a_write_that_fails_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "results.parquet"
    write_results(path, scored_rows("a", {"x": 0.5}))

    def fail(*_):
        raise OSError("disk full")

    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(OSError, match="disk full"):
        write_results(path, [])
    assert len(read_results(path)) == 1
    assert [file.name for file in tmp_path.iterdir()] == ["results.parquet"]


@pytest.mark.parametrize("content", [None, b"not parquet"])
def test_a_file_of_something_else_is_an_input_error(tmp_path, content):
    path = tmp_path / "results.parquet"
    if content:
        path.write_bytes(content)
    with pytest.raises(InputError, match=r"results\.parquet"):
        read_results(path)


def test_an_invalid_submission_closes_nothing_and_wins_nothing():
    row = to_scored(make_rollout("iris.d4", None), "text", **NAMES)
    assert (row.gap, row.valid, row.medal, row.position_score, row.draw) == (0, False, None, 0, 4)


def test_a_gap_is_clipped_and_time_is_that_of_the_script():
    row = to_scored(make_rollout("iris.d0", 1.7), "text", **NAMES)
    assert (row.gap, row.medal, row.seconds) == (1, Medal.GOLD, 0.5)
    assert to_scored(make_rollout("iris.d0", -4.0), "text", **NAMES).gap == -1


@pytest.mark.parametrize(("task_id", "draw"), [("iris.d12", 12), ("iris", 0), ("a.data", 0), ("sm-0d1f", 0)])
def test_the_draw_is_read_from_the_end_of_the_id(task_id, draw):
    assert draw_of(task_id) == draw
