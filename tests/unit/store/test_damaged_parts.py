"""A part of a published version that is missing, cut or changed: who says what, and whether the repair works."""

import re
import shutil

import pytest

from sandmill.errors import InputError, SandmillError
from sandmill.store import publish as publishing
from sandmill.store.files import Store
from sandmill.store.release import load
from sandmill.store.repair import Restored, restore_damaged
from sandmill.store.verify import verify_hashes
from tests.factories import make_task
from tests.publishing import publish_numbers, publish_splits


def _flip(store, path):
    content = bytearray(store.read(path))
    content[len(content) // 3] ^= 16
    store.write(path, bytes(content))


DAMAGES = {
    "flipped": _flip,
    "cut": lambda store, path: store.write(path, store.read(path)[:-7]),
    "gone": lambda store, path: store.remove(path),
}


@pytest.fixture(params=sorted(DAMAGES))
def damage(request):
    return DAMAGES[request.param]


def _part(release, table):
    return f"{release.version}/{release.parts(table)[0].path}"


def _without_shards(store):
    for shard in store.list("shards"):
        store.remove(shard)


def _problem(store):
    (problem,) = [problem for problem in verify_hashes(load(store.root)) if "To repair it" in problem]
    return problem


@pytest.mark.parametrize("table", ["public/files", "private/tasks"])
def test_verify_names_the_part_and_a_repair_that_works(store, damage, table):
    publish_numbers(store, range(2))
    path = _part(load(store.root), table)
    damage(store, path)
    problem = _problem(store)
    assert problem.startswith(path.partition("/")[2])
    source = re.search(rf"`sandmill verify {load(store.root).ref} --repair`: (\S+) has equal bytes", problem)[1]
    assert restore_damaged(load(store.root)) == [Restored(path.partition("/")[2], source)]
    assert verify_hashes(load(store.root)) == []
    assert restore_damaged(load(store.root)) == [], "nothing is left to do"


def test_without_shards_a_part_is_repaired_from_another_copy(local_store, damage, tmp_path):
    publish_numbers(local_store, range(2))
    path = _part(load(local_store.root), "public/files")
    shutil.copytree(local_store.root, tmp_path / "backup")
    _without_shards(local_store)
    damage(local_store, path)
    assert f"`sandmill verify {load(local_store.root).ref} --repair --from COPY`" in _problem(local_store)
    assert restore_damaged(load(local_store.root)) == [], "no copy is known"
    backup = load(tmp_path / "backup")
    assert restore_damaged(load(local_store.root), backup) == [
        Restored(path.partition("/")[2], backup.store.where(path))
    ]
    assert verify_hashes(load(local_store.root)) == []


def test_a_copy_that_is_damaged_too_is_not_used(local_store, damage, tmp_path):
    publish_numbers(local_store, range(2))
    path = _part(load(local_store.root), "public/files")
    damage(local_store, path)
    shutil.copytree(local_store.root, tmp_path / "backup")
    for shard in local_store.list("shards"):
        damage(local_store, shard)
    before = {name: local_store.read(name) for name in local_store.list()}
    assert "--from COPY" in _problem(local_store)
    assert restore_damaged(load(local_store.root), load(tmp_path / "backup")) == []
    assert {name: local_store.read(name) for name in local_store.list()} == before


def test_a_copy_with_other_tasks_is_refused(local_store, tmp_path):
    publish_numbers(local_store, range(2))
    other = Store(str(tmp_path / "other"))
    publish_numbers(other, range(3))
    with pytest.raises(InputError, match="a copy of 0001-"):
        restore_damaged(load(local_store.root), load(other.root))


@pytest.mark.parametrize("side", ["public", "private"])
def test_a_table_of_facts_is_made_again_after_the_tables_it_is_made_from(store, damage, side, monkeypatch):
    monkeypatch.setattr(publishing, "FACTS_ABOVE", 1)
    publish_splits(store, {0: "train", 1: "validation"}, {2: "train"})
    path, source = (_part(load(store.root), f"{side}/{table}") for table in ("facts", "tasks"))
    damage(store, path)
    assert "it can be made again from the tables of tasks" in _problem(store)
    damage(store, source)
    found = restore_damaged(load(store.root))
    assert [one.path for one in found] == [source.partition("/")[2], path.partition("/")[2]]
    assert found[1].source == "the tables of tasks"
    assert verify_hashes(load(store.root)) == []


def test_a_table_of_facts_waits_for_tables_that_cannot_be_repaired(local_store, monkeypatch):
    monkeypatch.setattr(publishing, "FACTS_ABOVE", 1)
    publish_splits(local_store, {0: "train", 1: "validation"}, {2: "train"})
    release = load(local_store.root)
    for table in ("public/facts", "public/tasks"):
        local_store.remove(_part(release, table))
    _without_shards(local_store)
    assert restore_damaged(load(local_store.root)) == []


@pytest.mark.parametrize("table", ["public/tasks", "public/files"])
def test_a_pull_names_the_part_or_the_task_and_writes_nothing_damaged(store, damage, table, tmp_path):
    publish_numbers(store, range(2))
    path = _part(load(store.root), table)
    damage(store, path)
    with pytest.raises(SandmillError) as raised:
        load(store.root).pull(tmp_path / "tasks")
    said = str(raised.value)
    assert path.partition("/")[2] in said or re.search(r"task \w+: public/", said)
    packages = {make_task(number).package.task_id: make_task(number).package for number in range(2)}
    for folder in tmp_path.glob("tasks/*"):
        assert {one.name: one.read_bytes() for one in (folder / "public").iterdir()} == packages[folder.name].public


def test_a_missing_or_cut_part_says_who_knows_the_repair(local_store):
    publish_numbers(local_store, range(2))
    release = load(local_store.root)
    path = _part(release, "private/files")
    local_store.write(path, local_store.read(path)[:-1])
    with pytest.raises(SandmillError, match=rf"bytes; the manifest says .*`sandmill verify {release.ref}` lists"):
        release.files("private", release.task_ids[0])
    local_store.remove(path)
    with pytest.raises(SandmillError, match=r"missing, and the manifest lists it\. `sandmill verify"):
        load(local_store.root).files("private", release.task_ids[0])
