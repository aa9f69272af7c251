"""Builds of a worker that is killed with everything it started, and that are run again until they end."""

import json
import os
import random
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from sandmill.store.files import Store
from sandmill.store.release import StoredRelease, load
from sandmill.store.verify import verify_hashes
from sandmill.store.versions import list_versions
from tests.llm_playbook import Playbook
from tests.llm_server import LlmServer, serve
from tests.prefect_services import Server, descendants, running_server, start_worker, stop, wait_until

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("prefect"), pytest.mark.timeout(7200)]

KILLS = int(os.environ.get("SANDMILL_TEST_KILLS", "20"))
"""Kills over all builds. Fewer, by the variable, are for work on this test."""
KILLS_A_BUILD = 4
TASKS = 3
SEED = 5
MOST_S = 1200.0
"""Until a build that nobody kills has ended, on a busy machine."""


@dataclass
class Workshop:
    """A server with its deployments, a scripted model, and the worker that is killed."""

    server: Server
    llm: LlmServer
    folder: Path
    worker: "subprocess.Popen[bytes] | None" = None
    seconds: float = MOST_S
    """Of the quickest build that nobody killed, so that kills come in time however busy the machine is."""
    alive: list[int] = field(default_factory=list)
    """Processes that the last kill found."""

    def parameters(self, root: Path) -> dict[str, Any]:
        request = {"name": "micro", "tasks": TASKS, "seed": SEED, "mix": {"hard": 1.0}, "kinds": {}}
        by_model = {"designer": "llm", "model": ["openai/first"]}
        how = {"root": str(root), "shard_size": 1, "workers": 2, "secret_file": str(self.folder / "key")}
        return {"request": {**request, **by_model}, "settings": {**how, "api_base": self.llm.base}}

    def start_worker(self) -> None:
        self.worker = start_worker(self.server, self.folder / "worker.log", OPENAI_API_KEY="none")

    def kill_worker(self) -> None:
        """Kill the worker, the run and the worker processes of its shards, as a power cut would."""
        assert self.worker
        self.alive = [self.worker.pid, *descendants(self.worker.pid)]
        for pid in self.alive:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.worker.wait()

    def state(self, run: str) -> str:
        return str(self.server.flow_run(run)["state_name"])

    def has_ended(self, run: str) -> bool:
        return self.state(run) in ("Completed", "Failed", "Crashed", "Cancelled")


@pytest.fixture(scope="module")
def workshop(tmp_path_factory) -> Iterator[Workshop]:
    folder = tmp_path_factory.mktemp("workshop")
    (folder / "key").write_bytes(bytes(32))
    with running_server(folder) as server, serve(Playbook().serve) as llm:
        server.prefect("work-pool", "create", "sandmill", "--type", "process")
        server.deploy()
        workshop = Workshop(server, llm, folder)
        try:
            yield workshop
        finally:
            if workshop.worker and workshop.worker.poll() is None:
                stop(workshop.worker)


@dataclass(frozen=True)
class Undisturbed:
    """A build that nobody killed."""

    release: StoredRelease
    asked: Counter[str]
    """How often each question was asked."""


@pytest.fixture(scope="module")
def undisturbed(workshop: Workshop) -> Undisturbed:
    root = workshop.folder / "undisturbed"
    workshop.start_worker()
    run = workshop.server.trigger("demo", workshop.parameters(root))
    assert wait_until(lambda: workshop.state(run) == "Running", MOST_S), _log(workshop)
    started = time.monotonic()
    assert wait_until(lambda: workshop.has_ended(run), MOST_S), _log(workshop)
    assert workshop.state(run) == "Completed", _log(workshop)
    assert workshop.worker
    workshop.seconds = time.monotonic() - started
    stop(workshop.worker)
    return Undisturbed(load(str(root / "micro")), _questions(workshop.llm, 0))


def test_a_worker_killed_again_and_again_loses_nothing_doubles_nothing_and_pays_nothing_twice(workshop, undisturbed):
    draws = random.Random(20)
    killed = 0
    for number in count():
        root = workshop.folder / f"build-{number}"
        killed += _build(workshop, undisturbed, root, draws, min(KILLS_A_BUILD, KILLS - killed))
        _assert_equal(load(str(root / "micro")), undisturbed.release)
        if killed == KILLS:
            break


def _build(workshop: Workshop, undisturbed: Undisturbed, root: Path, draws: random.Random, kills: int) -> int:
    """Build with kills at random moments. Returns how many there were before the build ended."""
    runs: list[str] = []
    shards: dict[str, bytes] = {}
    for killed in range(kills + 1):
        run = workshop.server.trigger("demo", workshop.parameters(root))
        runs.append(run)
        asked, recorded = len(workshop.llm.received), _recorded_questions(root)
        workshop.start_worker()
        assert wait_until(lambda run=run: workshop.state(run) in ("Running", "Completed"), MOST_S), _log(workshop)
        started = time.monotonic()
        is_killed = killed < kills and _kill_within(workshop, run, draws.uniform(0, workshop.seconds))
        if not is_killed:
            assert wait_until(lambda run=run: workshop.has_ended(run), MOST_S), _log(workshop)
            if killed == 0:
                workshop.seconds = min(workshop.seconds, time.monotonic() - started)
        assert recorded.keys() <= undisturbed.asked.keys(), "equal builds ask equal questions"
        for question, times in _questions(workshop.llm, asked).items():
            assert times + recorded[question] <= undisturbed.asked[question], f"paid twice: {question[:300]}"
        found = _finished_shards(root)
        assert found.items() >= shards.items(), "a finished shard was made again"
        shards = found
        if not is_killed:
            break
    assert workshop.worker
    stop(workshop.worker)
    assert workshop.state(run) == "Completed", _log(workshop)
    assert {workshop.state(other) for other in runs if other != run} <= {"Running"}
    return killed


def _kill_within(workshop: Workshop, run: str, seconds: float) -> bool:
    """Kill the worker after these seconds, unless the run ends before. Returns whether the run was killed with it."""
    if wait_until(lambda: workshop.has_ended(run), seconds):
        return False
    workshop.kill_worker()
    found = workshop.state(run)
    assert found in ("Running", "Completed"), "nothing told the server"
    return found == "Running"


def _assert_equal(killed: StoredRelease, undisturbed: StoredRelease) -> None:
    assert killed.version == undisturbed.version
    assert list_versions(killed.store) == [killed.version]
    assert killed.task_ids == undisturbed.task_ids
    assert len(set(killed.task_ids)) == TASKS
    assert verify_hashes(killed) == []


def _questions(llm: LlmServer, first: int) -> Counter[str]:
    return Counter(_text(received.body["messages"]) for received in llm.received[first:])


def _recorded_questions(root: Path) -> Counter[str]:
    replies = (root / "micro" / "llm" / "replies").glob("*.json")
    return Counter(_text(json.loads(path.read_bytes())["messages"]) for path in replies)


def _text(messages: list[dict[str, Any]]) -> str:
    return json.dumps([[message["role"], message["content"]] for message in messages])


def _finished_shards(root: Path) -> dict[str, bytes]:
    store = Store(str(root / "micro"))
    paths = [f"shards/{name}/shard.json" for name in store.folders("shards")]
    return {path: store.read(path) for path in paths if store.exists(path)}


def _log(workshop: Workshop) -> str:
    return (workshop.folder / "worker.log").read_text()[-5000:]
