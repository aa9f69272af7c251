import os
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from uuid import uuid4

import pytest

from sandmill.store.files import Store
from sandmill.store.release import load
from sandmill.store.verify import verify_hashes
from sandmill.store.versions import list_versions, version_folders
from tests.processes import descendants, pids, read_proc, wait_until
from tests.releases import REPOSITORY

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

TASKS = 3
MARK = "SANDMILL_TEST_RUN"
DEADLINE_S = 240.0
SCRIPT_LIMIT_S = 90.0
"""A reference script ends by itself within its own time limit, a minute."""
SCRATCH = ("sandmill-panel-", "sandmill-reference-", "sandmill-run-")
"""Folders that a killed build may leave: public files of a task, and what a script made of them."""

Moment = Callable[[Store], bool]


class Build:
    """A build in a process of its own, recognisable by a mark that its workers inherit."""

    def __init__(self, root: Path, seed: int, scratch: Path) -> None:
        self.mark = uuid4().hex
        scratch.mkdir(exist_ok=True)
        paths = f"{REPOSITORY / 'src'}{os.pathsep}{REPOSITORY}"
        environment = {**os.environ, MARK: self.mark, "TMPDIR": str(scratch), "PYTHONPATH": paths}
        # Files and not pipes: workers inherit them, and reading a pipe to its end would wait for survivors to go.
        self.output, self.errors = (scratch.parent / f"{self.mark}.{name}" for name in ("out", "err"))
        with self.output.open("w") as output, self.errors.open("w") as errors:
            command = [sys.executable, "-m", "tests.releases", str(root), str(TASKS), str(seed)]
            self.process = subprocess.Popen(command, cwd=REPOSITORY, env=environment, stdout=output, stderr=errors)

    def kill_when(self, moment: Callable[[], bool]) -> None:
        assert wait_until(lambda: self.process.poll() is not None or moment(), DEADLINE_S, 0.002), (
            "it never came to that"
        )
        assert self.process.poll() is None, f"it ended too soon: {self.errors.read_text()}"
        self.last_scripts = self.scripts()
        self.process.kill()
        assert self.process.wait() == -signal.SIGKILL

    def finish(self) -> str:
        assert self.process.wait(DEADLINE_S) == 0, self.errors.read_text()
        return self.output.read_text().strip()

    def scripts(self) -> list[int]:
        """Runs of reference scripts at this moment. Their environment is empty, so they bear no mark."""
        return [pid for pid in descendants(self.process.pid) if _is_script(pid)]

    def left(self) -> list[int]:
        """Processes of this build that are alive."""
        wanted = f"{MARK}={self.mark}".encode()
        return [pid for pid in pids() if wanted in read_proc(pid, "environ").split(b"\0")]


def _finished_shards(store: Store) -> dict[str, bytes]:
    return {name: store.read(path) for name in store.folders("shards") if store.exists(path := _index(name))}


def _index(shard: str) -> str:
    return f"shards/{shard}/shard.json"


MOMENTS: dict[str, Moment] = {
    "before the first shard of its own": lambda store: len(store.folders("shards")) > TASKS,
    "after a shard": lambda store: len(_finished_shards(store)) > TASKS,
    "before the last shard": lambda store: len(_finished_shards(store)) > TASKS + 1,
    "while publishing": lambda store: len(store.list("versions")) > 1,
}
"""Seen from outside, beside an earlier release of three shards."""


@pytest.fixture(scope="module")
def workshop(tmp_path_factory) -> tuple[Path, str]:
    """A dataset with one release, whose build nobody disturbed."""
    root = tmp_path_factory.mktemp("workshop")
    return root, Build(root, 1, root / "scratch").finish()


def test_a_build_killed_again_and_again_hides_nothing_breaks_nothing_and_ends(workshop, tmp_path):
    root, first = workshop
    store = Store(str(root / "micro"))
    earlier = load(first)
    kept = {path: store.read(path) for path in store.list(earlier.version)}
    finished = _finished_shards(store)
    assert len(finished) == TASKS

    for name, moment in MOMENTS.items():
        build = Build(root, 2, tmp_path / "scratch")
        build.kill_when(lambda moment=moment: moment(store))

        assert wait_until(lambda build=build: not build.left(), 15), f"{name}: workers live on"
        assert wait_until(lambda build=build: not any(map(_is_script, build.last_scripts)), SCRIPT_LIMIT_S), name
        assert {path: store.read(path) for path in store.list(earlier.version)} == kept, name
        assert verify_hashes(earlier) == [], name
        for version in list_versions(store):
            assert verify_hashes(load(f"{store.root}@{version}")) == [], name
        now = _finished_shards(store)
        assert now.items() >= finished.items(), f"{name}: a finished shard was made again"
        finished = now

    for left in _staged(root):
        os.utime(left, (0, 0))
    before = {name: _changed(root, name) for name in finished}
    second = load(Build(root, 2, tmp_path / "scratch").finish())
    assert {name: _changed(root, name) for name in finished} == before, "finished shards are reused as they are"
    assert len(finished) >= TASKS + 2
    assert list_versions(store) == version_folders(store) == [earlier.version, second.version]
    assert len(second.task_ids) == TASKS
    assert verify_hashes(second) == []
    assert set(store.list(second.version)) == {
        f"{second.version}/{name}" for name in ("manifest.json", *(part.path for part in second.manifest.parts))
    }
    assert _staged(root) == [], "what killed runs had not finished writing was swept"


def test_a_build_killed_while_a_script_runs_leaves_no_process_and_nothing_private_in_its_scratch(workshop, tmp_path):
    root, _ = workshop
    scratch = tmp_path / "scratch"
    build = Build(root, 3, scratch)
    build.kill_when(lambda: bool(build.scripts()))
    assert build.last_scripts
    assert wait_until(lambda: not build.left(), 15)
    assert wait_until(lambda: not any(map(_is_script, build.last_scripts)), SCRIPT_LIMIT_S)
    assert [path.name for path in scratch.iterdir() if not path.name.startswith(SCRATCH)] == []
    assert [path for path in scratch.rglob("*") if path.name in ("answers.csv", "task.json", "release.key")] == []


def _is_script(pid: int) -> bool:
    """Whether a process works in a folder with a script, which it sees in a file system of its own."""
    with suppress(OSError):
        return Path(f"/proc/{pid}/cwd/solution.py").exists()
    return False


def _staged(root: Path) -> list[Path]:
    return sorted((root / "micro" / ".tmp").glob("*"))


def _changed(root: Path, shard: str) -> dict[str, int]:
    folder = root / "micro" / "shards" / shard
    return {str(path.relative_to(folder)): path.stat().st_mtime_ns for path in folder.rglob("*") if path.is_file()}
