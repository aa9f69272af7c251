"""The section of a report on rollouts: its numbers, its SQL over the files, and what is refused."""

import json
import os
from pathlib import Path

import duckdb
import pytest

from sandmill.errors import InputError
from sandmill.models.rollout import RewardParts
from sandmill.publish.overlay import rollouts_section
from sandmill.report.html.page import PageHead, machine_twin
from sandmill.store.files import Store
from sandmill.store.release import load
from sandmill.store.rollouts import RolloutFolder
from tests.factories import make_task
from tests.publishing import fill_shard, publish_numbers, publish_shards
from tests.report_sections import of_release, play
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
    section = rollouts_section(release, edition, [base, f"after={step}"])
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
    section = rollouts_section(release, "private", [str(tmp_path / "all.parquet")])
    assert section.data["labels"] == ["a", "b"]
    _assert_sql_gives_rows(section, release)


def test_rollouts_that_no_parquet_reader_sees_are_named(release, tmp_path):
    section = rollouts_section(release, "public", [play(tmp_path / "loose", release, (0.5,), loose=True)])
    assert "one: 5 rollouts in no Parquet file yet" in section.html


def test_different_presets_are_said(release, tmp_path):
    base = play(tmp_path / "base", release, (0.5,))
    other = RolloutFolder(Store(str(tmp_path / "raw")))
    other.begin(SETTINGS.model_copy(update={"release": release.version, "reward": "raw", "model": "two"}))
    parts = RewardParts(preset="raw", parts={"score": 0.7})
    other.save(of_release(make_record(release.task_ids[0], 0, 0.5, parts=parts), release, "two"))
    section = rollouts_section(release, "private", [base, str(tmp_path / "raw")])
    assert "Rewards do not compare: the sets have the presets gap, raw." in section.html
    assert list(section.data["intervals"]["one to two"]) == ["share of the gap", "solve rate"]


def test_rollouts_of_another_version_and_folders_given_twice_are_refused(store, release, tmp_path):
    earlier = load(f"{store.root}@1")
    folder = play(tmp_path / "earlier", earlier, (0.5,))
    with pytest.raises(InputError, match=f"rollouts of {earlier.version}"):
        rollouts_section(release, "public", [folder])
    with pytest.raises(InputError, match="twice"):
        rollouts_section(earlier, "public", [folder, f"x={folder}/"])
    with pytest.raises(InputError, match="no rollouts"):
        rollouts_section(release, "public", [str(tmp_path / "nothing")])


def test_replicates_of_a_design_are_compared_as_one(tmp_path):
    store = Store(str(tmp_path / "micro"))
    tasks = [make_task(number, replicate, slot=number) for number in range(2) for replicate in range(3)]
    publish_shards(store, [fill_shard(store, range(2), tasks)])
    release = load(store.root)
    folders = [play(tmp_path / name, release, (reward,), model=name) for name, reward in (("one", 0.2), ("two", 0.7))]
    for edition in ("private", "public"):
        section = rollouts_section(release, edition, folders)
        found = section.data["intervals"]["one to two"]["reward"]
        assert (found["tasks"], found["clusters"], found["mean"]) == (6, 2, 0.5)
