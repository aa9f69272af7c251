import os
import signal
import subprocess
import sys

import pytest

from sandmill.store.files import Store
from sandmill.store.release import load
from sandmill.store.verify import verify_hashes
from sandmill.store.versions import list_versions
from tests.publishing import fill_shard, publish_numbers, publish_shards

_PUBLISH_AND_DIE = """
import os, signal, sys
from sandmill.store.files import Store
from tests.publishing import fill_shard, publish_shards

root, last = sys.argv[1], int(sys.argv[2])
changes = []

def dying(act):
    def wrapped(self, *args, **kwargs):
        if publishing:
            if len(changes) == last:
                os.kill(os.getpid(), signal.SIGKILL)
            changes.append(args[0])
        return act(self, *args, **kwargs)
    return wrapped

publishing = False
for name in ("write", "create", "copy"):
    setattr(Store, name, dying(getattr(Store, name)))
store = Store(root)
refs = [fill_shard(store, range(2)), fill_shard(store, range(2, 3))]
publishing = True
publish_shards(store, refs)
print(len(changes))
"""


def _run(root: str, last: int) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-c", _PUBLISH_AND_DIE, root, str(last)]
    return subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, "PYTHONPATH": "."})


def test_a_publish_makes_eighteen_changes(tmp_path):
    ran = _run(str(tmp_path / "micro"), 99)
    assert (ran.stdout.strip(), ran.returncode) == ("18", 0), ran.stderr


# Before the claim, after it, between two parts, before the reports, the ending, the card and the manifest.
@pytest.mark.parametrize("last", [0, 1, 4, 13, 15, 16, 17])
def test_a_publish_killed_at_any_point_shows_nothing_and_is_completed_by_the_next_run(tmp_path, last):
    _check_killed(Store(str(tmp_path / "micro")), last)


def test_a_publish_killed_on_s3_shows_nothing_and_is_completed_by_the_next_run(s3_root):
    _check_killed(Store(f"{s3_root}/killed/micro"), 17)


def _check_killed(store: Store, last: int) -> None:
    first = publish_numbers(store, range(2))
    kept = {path: store.read(path) for path in store.list(first.version)}
    assert _run(store.root, last).returncode == -signal.SIGKILL

    assert list_versions(store) == [first.version]
    assert load(store.root).manifest == first
    assert verify_hashes(load(store.root)) == []

    refs = [fill_shard(store, range(2)), fill_shard(store, range(2, 3))]
    second, is_new = publish_shards(store, refs)
    assert is_new
    assert second.version == f"0002-{second.content[:8]}"
    assert list_versions(store) == [first.version, second.version]
    assert verify_hashes(load(store.root)) == []
    held = {f"{second.version}/{part.path}" for part in second.parts}
    assert set(store.list(second.version)) == held | {f"{second.version}/manifest.json"}
    assert {path: store.read(path) for path in store.list(first.version)} == kept
