"""Garbage collection on a folder and on S3: what it finds, what it leaves, and how it meets a running build."""

import os
import subprocess
import sys
import time
import uuid
from pathlib import Path

import pytest

from sandmill.errors import StoreError
from sandmill.store import garbage
from sandmill.store.files import Store
from sandmill.store.garbage import GarbageKind, find_garbage, remove_garbage
from sandmill.store.release import load
from sandmill.store.shards import find_shard
from sandmill.store.verify import verify_hashes
from sandmill.store.versions import VersionEnding, decide_ending, list_versions
from tests.data import SCRIPTS
from tests.factories import make_shard_plan
from tests.publishing import fill_shard, publish_numbers, publish_shards

_NOW = -1.0
"""Age in seconds with which everything is old enough."""
_DAY = 86_400


def _kill_before_manifest(store: Store, monkeypatch) -> str:
    """Publish a version, and die before its ending is decided. Returns its name."""
    ref = fill_shard(store, range(2, 4))
    with monkeypatch.context() as patch:

        def die(*_):
            raise KeyboardInterrupt

        patch.setattr("sandmill.store.publish.require_ending", die)
        with pytest.raises(KeyboardInterrupt):
            publish_shards(store, [ref])
    (version,) = set(garbage.version_folders(store)) - set(list_versions(store))
    return version


def _found(store: Store, age: float = _NOW) -> dict[str, GarbageKind]:
    return {item.name: item.kind for item in find_garbage(store, age)}


def _remove_all(store: Store) -> None:
    for item in find_garbage(store, _NOW):
        assert remove_garbage(store, item, _NOW)


def test_what_no_version_needs_is_found_by_kind(store, monkeypatch):
    publish_numbers(store, range(2))
    version = _kill_before_manifest(store, monkeypatch)
    fill_shard(store, range(4, 5))
    store.write("shards/dead/public/tasks-train-0a0a0a0a.parquet", b"x")
    store.write("shards/dead/slots/000003.json", b"x")
    found = _found(store)
    assert found[version] is GarbageKind.VERSION
    assert found["shards/dead"] is GarbageKind.DEAD_SHARD
    assert [len(item.files) for item in find_garbage(store, _NOW) if item.name == "shards/dead"] == [2]
    kinds = list(found.values())
    assert kinds.count(GarbageKind.PUBLISHED_SHARD) == 1
    assert kinds.count(GarbageKind.SHARD) == 2


def test_nothing_is_found_that_was_written_lately(local_store, monkeypatch):
    publish_numbers(local_store, range(2))
    _kill_before_manifest(local_store, monkeypatch)
    assert _found(local_store, 60) == {}


def test_only_garbage_goes_and_the_versions_stay_whole(store, monkeypatch):
    first = publish_numbers(store, range(2))
    version = _kill_before_manifest(store, monkeypatch)
    for kept in ("secret/release.key", "llm/replies/a.json", f"{first.version}/notes.txt", "shards/own-notes.txt"):
        store.write(kept, b"kept")
    before = {path: store.read(path) for path in store.list() if not path.startswith(("shards/r", version))}
    _remove_all(store)
    assert find_garbage(store, _NOW) == []
    left = {path: store.read(path) for path in store.list()}
    kept = {path: content for path, content in before.items() if path in left}
    assert {path: left[path] for path in kept} == kept
    assert {path for path in before if path not in left} == {
        path for path in before if path.startswith("shards/") and path != "shards/own-notes.txt"
    }
    assert verify_hashes(load(store.root)) == []
    assert list_versions(store) == [first.version]


def test_files_that_no_build_writes_are_left_in_an_unfinished_version(local_store, monkeypatch):
    version = _kill_before_manifest(local_store, monkeypatch)
    local_store.write(f"{version}/own-notes.txt", b"mine")
    _remove_all(local_store)
    assert local_store.list(version) == [f"{version}/own-notes.txt"]


def test_a_folder_without_a_claim_is_not_of_a_build(local_store):
    publish_numbers(local_store, range(2))
    local_store.write("0009-0a0a0a0a/README.md", b"mine")
    assert "0009-0a0a0a0a" not in _found(local_store)


@pytest.mark.slow
def test_a_publisher_that_comes_back_after_its_parts_were_removed_fails_and_the_next_run_takes_a_new_number(
    store, monkeypatch
):
    """The slow publisher has copied its parts and is about to end; garbage collection goes first."""
    import sandmill.store.publish as publishing

    publish_numbers(store, range(2))
    ref = fill_shard(store, range(2, 4))
    real = publishing.require_ending

    def collect_first(store: Store, version: str, ending: VersionEnding) -> None:
        for item in find_garbage(store, _NOW):
            if item.kind is GarbageKind.VERSION:
                assert remove_garbage(store, item, _NOW)
        real(store, version, ending)

    with monkeypatch.context() as patch:
        patch.setattr(publishing, "require_ending", collect_first)
        with pytest.raises(StoreError, match="garbage collection removed this unfinished version"):
            publish_shards(store, [ref])
    assert len(list_versions(store)) == 1
    manifest, is_new = publish_shards(store, [ref])
    assert is_new
    assert manifest.version.startswith("0003-")
    assert verify_hashes(load(store.root)) == []


def test_garbage_collection_that_comes_second_leaves_the_version_alone(store, monkeypatch):
    version = _kill_before_manifest(store, monkeypatch)
    (item,) = (item for item in find_garbage(store, _NOW) if item.kind is GarbageKind.VERSION)
    assert decide_ending(store, version, VersionEnding.PUBLISHED)
    before = store.list(version)
    assert not remove_garbage(store, item, _NOW)
    assert store.list(version) == before
    manifest, is_new = publish_shards(store, [fill_shard(store, range(2, 4))])
    assert is_new
    assert manifest.version == version


def test_what_is_used_between_list_and_removal_is_left_alone(local_store):
    fill_shard(local_store, range(2))
    _make_old(local_store)
    (item,) = find_garbage(local_store, 7 * _DAY)
    plan = make_shard_plan(local_store.root, range(2))
    assert find_shard(local_store, plan)
    assert not remove_garbage(local_store, item, 7 * _DAY)
    assert find_garbage(local_store, 7 * _DAY) == []
    assert find_shard(local_store, plan)


def _make_old(store: Store) -> None:
    old = time.time() - 8 * _DAY
    for path in Path(store.root).rglob("*"):
        os.utime(path, (old, old))


_CHANGES = 34
"""Writes of two shards, and of the version that is made of them."""

_DIE_AT_EACH = (SCRIPTS / "die_at_each.txt").read_text("utf-8")


def _die_at_each(level: str, first: int, roots: list[str]) -> list[bool]:
    """Publish in each dataset and die at one of the changes, the next one for each. Say where a change was reached."""
    command = [sys.executable, "-c", _DIE_AT_EACH, level, str(first), *roots]
    ran = subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, "PYTHONPATH": "."})
    ended = ran.stdout.split()
    assert set(ended) <= {"-9", "0"}, ran.stderr
    assert len(ended) == len(roots), ran.stderr
    return [code == "-9" for code in ended]


def _check_killed(roots: list[str], level: str, first: int = 0) -> list[bool]:
    """Let a run die in each dataset, which has an older version, and complete its work."""
    older = [publish_numbers(Store(root), range(2)) for root in roots]
    kept = [_content(Store(root), old.version) for root, old in zip(roots, older, strict=True)]
    died = _die_at_each(level, first, roots)
    for root, old, content, is_dead in zip(roots, older, kept, died, strict=True):
        _check_completed(Store(root), old, content, is_dead)
    return died


def _content(store, version):
    return {path: store.read(path) for path in store.list(version)}


def _check_completed(store, old, content, is_dead):
    seen = list_versions(store)
    assert seen[0] == old.version
    assert all(verify_hashes(load(f"{store.root}@{version}")) == [] for version in seen)
    refs = [fill_shard(store, range(2)), fill_shard(store, range(2, 3))]
    new, is_new = publish_shards(store, refs)
    assert is_new is (len(seen) == 1)
    assert is_dead or len(seen) == 2
    assert new.version == f"0002-{new.content[:8]}"
    assert list_versions(store) == [old.version, new.version]
    assert verify_hashes(load(store.root)) == []
    held = {f"{new.version}/{part.path}" for part in new.parts}
    assert set(store.list(new.version)) == held | {f"{new.version}/manifest.json"}
    assert _content(store, old.version) == content


# Steps of a write: sync the file, give it its name, sync the folder. The end of the first shard is there already.
@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize(("level", "places"), [("write", _CHANGES), ("system call", 3 * (_CHANGES - 1))])
def test_a_run_may_die_at_each_of_its_writes_and_between_any_two_steps_of_one(tmp_path, level, places):
    roots = [str(tmp_path / str(number) / "micro") for number in range(places + 1)]
    assert _check_killed(roots, level) == [True] * places + [False]


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_a_run_may_die_before_or_after_each_writing_request_to_s3(s3_root):
    folder = uuid.uuid4().hex
    roots = [f"{s3_root}/{folder}/{number}/micro" for number in range(100)]
    died = _check_killed(roots, "request")
    reached = died.index(False)
    assert died == [True] * reached + [False] * (len(died) - reached)
    assert reached > 2 * _CHANGES
