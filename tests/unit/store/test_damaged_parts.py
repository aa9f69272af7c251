"""A part of a published version that is missing, cut or changed: who says what, and whether the repair works."""

import re

import pytest

from sandmill.errors import SandmillError
from sandmill.store.release import load
from sandmill.store.verify import verify_hashes
from tests.factories import make_task
from tests.publishing import publish_numbers


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


@pytest.mark.parametrize("table", ["public/files", "private/tasks"])
def test_verify_names_the_part_and_is_content_with_a_copy_of_it(store, damage, table):
    publish_numbers(store, range(2))
    path = _part(load(store.root), table)
    whole = store.read(path)
    damage(store, path)
    assert any(problem.startswith(path.partition("/")[2]) for problem in verify_hashes(load(store.root)))
    store.write(path, whole)
    assert verify_hashes(load(store.root)) == []


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
