"""Real builds for tests: the library's own steps, and one small release that a whole session shares."""

import fcntl
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from sandmill.check import load_suites
from sandmill.models.base import Band
from sandmill.models.plan import ShardRef
from sandmill.models.request import BuildRequest, RunSettings
from sandmill.pipeline.designing import design_round
from sandmill.pipeline.plan import plan_build
from sandmill.pipeline.publishing import publish_release
from sandmill.pipeline.run import build_shard, plan_round
from sandmill.seeds import ingest

REPOSITORY = Path(__file__).parent.parent
QUICKEST = {Band.HARD: 1.0}
"""The band that takes the least search."""


def build(request: BuildRequest, settings: RunSettings) -> str:
    """Do what the flow does, without Prefect. Gives `<root>/<dataset>@<version>`."""
    suites = load_suites(REPOSITORY / "expectations")
    plan = plan_build(request, ingest(request.seeds))
    shards: list[ShardRef] = []
    while pending := plan_round(plan, shards, settings, suites):
        pending = design_round(plan, pending, shards, settings)
        shards += [build_shard(shard, settings, suites) for shard in pending]
    return publish_release(plan, shards, settings, suites).reference


@pytest.fixture(scope="session")
def once_a_session(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, Callable[[Path], str]], str]:
    """Make something once, whichever xdist worker comes first, and give the others what it returned."""
    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent

    def make(name: str, making: Callable[[Path], str]) -> str:
        made = folder / f"{name}.made"
        with _locked(folder / f"{name}.lock"):
            if not made.exists():
                made.write_text(making(folder / name))
            return made.read_text()

    return make


SMALL = BuildRequest(name="small", tasks=2, seed=15, mix=QUICKEST, kinds={"table": 1.0})
"""Two tables. With this seed and the secret of `small_settings`, one is for training and one has a held-out motif."""
SMALL_RELEASE = "small-release"


def small_settings(root: Path) -> RunSettings:
    """Make the key, beside the root."""
    key = root.with_name(f"{root.name}.key")
    key.write_bytes(bytes(32))
    return RunSettings(root=str(root), shard_size=1, workers=2, secret_file=key)


@pytest.fixture(scope="session")
def small_release(once_a_session: Callable[[str, Callable[[Path], str]], str]) -> str:
    """Build a release of two tasks once, for all tests to read. Gives its reference, `<root>/small@<version>`.

    In a session that runs flows, a flow has built it.
    """
    return once_a_session(SMALL_RELEASE, lambda folder: build(SMALL, small_settings(folder)))


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


if __name__ == "__main__":
    root, tasks, seed = sys.argv[1:]
    wanted = BuildRequest(name="micro", tasks=int(tasks), seed=int(seed), mix=QUICKEST)
    sys.stdout.write(build(wanted, RunSettings(root=root, shard_size=1, workers=2)) + "\n")
