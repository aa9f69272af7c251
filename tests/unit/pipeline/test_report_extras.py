"""Sections of a report beyond the release: their numbers, their SQL over the files, and what is refused."""

import json
import os
from pathlib import Path

import duckdb
import pytest

from sandmill.errors import InputError
from sandmill.models.rollout import RewardParts
from sandmill.publish.report_extras import extra_sections
from sandmill.report.html.page import PageHead, machine_twin
from sandmill.store.files import Store
from sandmill.store.release import load
from sandmill.store.rollouts import RolloutFolder
from tests.factories import make_task
from tests.publishing import fill_shard, publish_numbers, publish_shards
from tests.report_sections import of_release, play, red_team_record
from tests.rollout_records import SETTINGS, make_record


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """A dataset of two versions: tasks 0 to 3, then 2 to 5."""
    store = Store(str(tmp_path_factory.mktemp("root") / "micro"))
    for numbers in (range(4), range(2, 6)):
        publish_numbers(store, numbers)
    return store


@pytest.fixture(scope="module")
def release(store):
    return load(store.root)


def _assert_sql_gives_rows(section, release):
    """Run the SQL of each figure as a reader would: by DuckDB, in the folder of the version."""
    before = Path.cwd()
    os.chdir(release.store.where(release.version))
    try:
        for figure in section.figures:
            found = duckdb.sql(figure.sql)
            assert tuple(found.columns) == figure.columns
            assert found.fetchall() == [pytest.approx(row) for row in figure.rows], figure.id
    finally:
        os.chdir(before)


@pytest.mark.parametrize("edition", ["public", "private"])
def test_sql_of_rollouts_gives_the_numbers_of_the_section(release, tmp_path, edition):
    base = play(tmp_path / "it's base", release, (0.0, 0.6, 0.8))
    step = play(tmp_path / "step", release, (0.6, 0.9), model="two")
    (section,) = extra_sections(release, edition, [base, f"after={step}"])
    _assert_sql_gives_rows(section, release)
    assert section.data["labels"] == ["one", "after"]
    head = PageHead(dataset="micro", version=release.version, edition=edition)
    twin = json.loads(machine_twin(head, [section]))["sections"]["overlay"]
    sets = twin["figures"]["rollout-sets"]["rows"]
    assert [row[:4] for row in sets] == [["one", 12, 1, 4], ["after", 8, 1, 4]]
    assert (release.task_ids[0] in section.html) == (edition == "private")


def test_a_parquet_file_gives_a_set_for_each_model(release, tmp_path):
    import polars as pl

    folders = [play(tmp_path / name, release, (0.5,), model=name) for name in ("b", "a")]
    frames = [pl.read_parquet(f"{folder}/rollouts-00000.parquet") for folder in folders]
    pl.concat(frames).write_parquet(tmp_path / "all.parquet")
    (section,) = extra_sections(release, "private", [str(tmp_path / "all.parquet")])
    assert section.data["labels"] == ["a", "b"]
    _assert_sql_gives_rows(section, release)


def test_rollouts_that_no_parquet_reader_sees_are_named(release, tmp_path):
    (section,) = extra_sections(release, "public", [play(tmp_path / "loose", release, (0.5,), loose=True)])
    assert "one: 5 rollouts in no Parquet file yet" in section.html


def test_different_presets_are_said(release, tmp_path):
    base = play(tmp_path / "base", release, (0.5,))
    other = RolloutFolder(Store(str(tmp_path / "raw")))
    other.begin(SETTINGS.model_copy(update={"release": release.version, "reward": "raw", "model": "two"}))
    parts = RewardParts(preset="raw", parts={"score": 0.7})
    other.save(of_release(make_record(release.task_ids[0], 0, 0.5, parts=parts), release, "two"))
    (section,) = extra_sections(release, "private", [base, str(tmp_path / "raw")])
    assert "Rewards do not compare: the sets have the presets gap, raw." in section.html
    assert list(section.data["intervals"]["one to two"]) == ["share of the gap", "solve rate"]


def test_rollouts_of_another_version_and_folders_given_twice_are_refused(store, release, tmp_path):
    earlier = load(f"{store.root}@1")
    folder = play(tmp_path / "earlier", earlier, (0.5,))
    with pytest.raises(InputError, match=f"rollouts of {earlier.version}"):
        extra_sections(release, "public", [folder])
    with pytest.raises(InputError, match="twice"):
        extra_sections(earlier, "public", [folder, f"x={folder}/"])
    with pytest.raises(InputError, match="no rollouts"):
        extra_sections(release, "public", [str(tmp_path / "nothing")])


@pytest.mark.parametrize("edition", ["public", "private"])
def test_a_difference_counts_tasks_of_both_versions(store, release, edition):
    (section,) = extra_sections(release, edition, against=f"{store.root}@1")
    _assert_sql_gives_rows(section, release)
    figures = {figure.id: figure.records() for figure in section.figures}
    assert figures["difference-tasks"] == [{"added": 2, "removed": 2, "kept": 2}]
    assert ("difference-band" in figures) == (edition == "private")
    if edition == "private":
        assert figures["difference-band"][0] | {"band": ""} == {"band": "", "before": 4, "after": 4}
    earlier = load(f"{store.root}@1")
    listed = {row["task_id"]: row["change"] for row in figures["difference-list"]}
    assert listed == {
        **dict.fromkeys(set(release.task_ids) - set(earlier.task_ids), "added"),
        **dict.fromkeys(set(earlier.task_ids) - set(release.task_ids), "removed"),
    }


@pytest.mark.parametrize("edition", ["public", "private"])
def test_a_red_team_counts_attacks_above_the_sample(release, tmp_path, edition):
    path = tmp_path / "red team's.json"
    path.write_text(red_team_record(release).model_dump_json())
    (section,) = extra_sections(release, edition, red_team=str(path))
    _assert_sql_gives_rows(section, release)
    row = section.figures[0].records()[0]
    assert (row["attacks"], row["above_the_sample"], row["of_them_above"]) == (3, 1, 1)
    assert ("sample_submission" in row) == (release.task_ids[0] in section.html) == (edition == "private")
    assert "<b>" not in section.html
    if edition == "private":
        families = {row["family"]: row["gap"] for row in section.figures[1].records()}
        assert families == {"access": pytest.approx(0.15), "semantics": None}


def test_records_that_do_not_fit_are_refused(release, tmp_path):
    path = tmp_path / "record.json"
    for content, expected in (
        ("{}", "benchmarks.red_team"),
        (red_team_record(release, task_id="sm0").model_dump_json(), "a task of this release"),
        (red_team_record(release).model_copy(update={"attacks": ()}).model_dump_json(), "no attacks"),
    ):
        path.write_text(content)
        with pytest.raises(InputError, match=expected):
            extra_sections(release, "public", red_team=str(path))
    path.write_text(red_team_record(release).model_copy(update={"release": "0009-ab12cd34"}).model_dump_json())
    (section,) = extra_sections(release, "public", red_team=str(path))
    assert "Measured on version 0009-ab12cd34" in section.html


def test_replicates_of_a_design_are_compared_as_one(tmp_path):
    store = Store(str(tmp_path / "micro"))
    tasks = [make_task(number, replicate, slot=number) for number in range(2) for replicate in range(3)]
    publish_shards(store, [fill_shard(store, range(2), tasks)])
    release = load(store.root)
    folders = [play(tmp_path / name, release, (reward,), model=name) for name, reward in (("one", 0.2), ("two", 0.7))]
    for edition in ("private", "public"):
        (section,) = extra_sections(release, edition, folders)
        found = section.data["intervals"]["one to two"]["reward"]
        assert (found["tasks"], found["clusters"], found["mean"]) == (6, 2, 0.5)
