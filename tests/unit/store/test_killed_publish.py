"""Publishing in a process that dies at each of its writes: old versions stay whole, the next run completes the new."""

import os
import subprocess
import sys
import uuid

import pytest

from sandmill.store.files import Store
from sandmill.store.release import load
from sandmill.store.verify import verify_hashes
from sandmill.store.versions import list_versions
from tests.data import SCRIPTS
from tests.publishing import fill_shard, publish_numbers, publish_shards

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


@pytest.mark.slow
def test_a_run_may_die_at_each_of_its_writes(tmp_path):
    roots = [str(tmp_path / str(number) / "micro") for number in range(_CHANGES + 1)]
    assert _check_killed(roots, "write") == [True] * _CHANGES + [False]


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_a_run_may_die_between_any_two_steps_of_a_write(tmp_path):
    # Sync the file, give it its name, sync the folder. The end of the first shard is there from the older version.
    steps = 3 * (_CHANGES - 1)
    roots = [str(tmp_path / str(number) / "micro") for number in range(steps + 1)]
    assert _check_killed(roots, "system call") == [True] * steps + [False]


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_a_run_may_die_before_or_after_each_writing_request_to_s3(s3_root):
    folder = uuid.uuid4().hex
    roots = [f"{s3_root}/{folder}/{number}/micro" for number in range(100)]
    died = _check_killed(roots, "request")
    reached = died.index(False)
    assert died == [True] * reached + [False] * (len(died) - reached)
    assert reached > 2 * _CHANGES
