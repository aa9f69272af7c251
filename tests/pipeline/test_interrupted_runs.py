"""Builds from the command line that are killed or cancelled, and what the Prefect server shows of them afterwards."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from prefect.client.orchestration import SyncPrefectClient
from prefect.client.schemas.filters import FlowRunFilter, FlowRunFilterName
from prefect.client.schemas.objects import FlowRun
from prefect.states import Cancelling

from sandmill.store.files import Store
from sandmill.store.versions import list_versions
from tests.processes import descendants, read_proc, wait_until
from tests.releases import REPOSITORY

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("prefect"), pytest.mark.timeout(3600)]

UNTIL_IT_WORKS_S, UNTIL_IT_ENDS_S = 600.0, 1200.0
"""At most: the one slot of a build took up to nine minutes on a busy machine, where ten processes shared two cores."""


class Builds:
    """Builds of one task, each a process that talks to the test server."""

    def __init__(self, client: SyncPrefectClient, root: Path) -> None:
        self.client, self.root, self.processes = client, root, list["subprocess.Popen[str]"]()

    def start(self, name: str) -> "subprocess.Popen[str]":
        options = ("--name", name, "--tasks", "1", "--seed", "3", "--mix", "easy=1", "--root", str(self.root))
        process = subprocess.Popen(
            [sys.executable, "-m", "flows.build_release", *options, "--workers", "1"],
            cwd=REPOSITORY,
            env={**os.environ, "PREFECT_API_URL": str(self.client.api_url)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.processes.append(process)
        return process

    def runs(self, name: str) -> list[FlowRun]:
        """Runs of a dataset, whatever they are named after."""
        return self.client.read_flow_runs(flow_run_filter=FlowRunFilter(name=FlowRunFilterName(like_=name)))

    def wait_until_it_works(self, name: str) -> FlowRun:
        """Wait until the secret is made, which follows on recording the process."""
        assert wait_until(lambda: (self.root / name / "secret").exists(), UNTIL_IT_WORKS_S)
        (found,) = self.runs(name)
        return found


@pytest.fixture
def builds(prefect_server: SyncPrefectClient, tmp_path: Path) -> Iterator[Builds]:
    builds = Builds(prefect_server, tmp_path)
    yield builds
    for process in builds.processes:
        process.kill()
        process.communicate()


def test_a_killed_build_is_finished_by_the_next(builds):
    first = builds.start("killed")
    builds.wait_until_it_works("killed")
    first.kill()
    first.wait()
    output, _ = builds.start("killed").communicate(timeout=UNTIL_IT_ENDS_S)
    assert "Published" in output, output
    assert {found.state.name for found in builds.runs("killed@")} == {"Completed"}


def test_a_build_that_is_cancelled_publishes_nothing_and_says_so(builds):
    process = builds.start("cancelled")
    run = builds.wait_until_it_works("cancelled")
    builds.client.set_flow_run_state(run.id, Cancelling())
    output, _ = process.communicate(timeout=UNTIL_IT_ENDS_S)
    assert process.returncode == 1
    assert "Cancelled before publishing. Finished shards are kept." in output.splitlines()[-3:], output
    assert "Traceback" not in output
    assert builds.client.read_flow_run(run.id).state.name == "Cancelled"
    assert list_versions(Store(f"{builds.root}/cancelled")) == []


@contextmanager
def _build_alone(folder: Path, tasks: int = 1) -> Iterator["subprocess.Popen[bytes]"]:
    """Start a build with a temporary server of its own, and wait until it works."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PREFECT_")}
    options = ("--name", "stopped", "--tasks", str(tasks), "--seed", "3", "--root", str(folder), "--workers", "1")
    with (folder / "output").open("w") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "flows.build_release", *options],
            cwd=REPOSITORY,
            env={**environment, "PREFECT_HOME": str(folder / "prefect")},
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
    try:
        assert wait_until(lambda: (folder / "stopped" / "secret").exists(), UNTIL_IT_WORKS_S)
        yield process
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


@pytest.mark.parametrize(("end", "tasks"), [(signal.SIGKILL, 1), (signal.SIGTERM, 8)])
def test_nothing_of_a_build_lives_on_when_its_process_is_killed_or_told_to_end(tmp_path, end, tasks):
    with _build_alone(tmp_path, tasks) as process:
        assert wait_until(lambda: b"sandmill.pipeline.workers" in _commands(descendants(process.pid)), UNTIL_IT_WORKS_S)
        started = descendants(process.pid)
        assert b"uvicorn" in _commands(started), "its temporary server"
        process.send_signal(end)
        assert process.wait(30) != 0
        assert wait_until(lambda: not _commands(started), 20), _commands(started)
    assert "Published" not in (tmp_path / "output").read_text()


def _commands(pids: Iterable[int]) -> bytes:
    """Command lines of those processes that live."""
    lines = (read_proc(pid, "cmdline").replace(b"\0", b" ") for pid in pids)
    return b"\n".join(filter(None, lines))


def test_ctrl_c_ends_a_build_and_its_temporary_server_in_one_sentence(tmp_path):
    """In a terminal Ctrl-C reaches the whole process group, the temporary server included."""
    with _build_alone(tmp_path) as process:
        os.killpg(process.pid, signal.SIGINT)
        assert process.wait(30) == 130
    said = (tmp_path / "output").read_text()
    assert "Interrupted. What was finished stays; run the same command again to go on." in said
    assert "Traceback (most recent call last)" not in said
