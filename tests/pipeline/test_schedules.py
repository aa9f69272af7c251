import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.releases import REPOSITORY

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("prefect"), pytest.mark.timeout(600)]

PREFECT = str(Path(sys.executable).parent / "prefect")
START_S, SCHEDULER_S, STOP_S = 180.0, 150.0, 15.0


@dataclass(frozen=True)
class Server:
    """A Prefect server as an operator runs it."""

    api: str
    environment: dict[str, str]
    log: Path

    def prefect(self, *arguments: str) -> str:
        command = [PREFECT, "--no-prompt", *arguments]
        ran = subprocess.run(
            command, cwd=REPOSITORY, env=self.environment, capture_output=True, text=True, check=False, timeout=180
        )
        assert ran.returncode == 0, ran.stdout + ran.stderr
        return ran.stdout

    def deployment(self, name: str) -> dict[str, Any]:
        found: dict[str, Any] = httpx.get(f"{self.api}/deployments/name/build-release/{name}").raise_for_status().json()
        return found

    def scheduled(self, name: str) -> int:
        """Runs of a deployment that wait for their time."""
        wanted = {
            "deployments": {"id": {"any_": [self.deployment(name)["id"]]}},
            "flow_runs": {"state": {"type": {"any_": ["SCHEDULED"]}}},
        }
        return int(httpx.post(f"{self.api}/flow_runs/count", json=wanted).raise_for_status().json())


@pytest.fixture(scope="module")
def server(tmp_path_factory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("server")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    api = f"http://127.0.0.1:{port}/api"
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("PREFECT_")}
    environment = {
        **inherited,
        "PREFECT_HOME": str(folder),
        "PREFECT_API_URL": api,
        "PREFECT_UI_API_URL": api,
        "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
        "DO_NOT_TRACK": "1",
        "SANDMILL_CLONE": str(REPOSITORY),
    }
    log = folder / "server.log"
    with log.open("w") as output:
        command = [PREFECT, "server", "start", "--host", "127.0.0.1", "--port", str(port)]
        process = subprocess.Popen(command, env=environment, stdout=output, stderr=output, start_new_session=True)
    try:
        assert _wait_until(lambda: _is_up(api), START_S), log.read_text()
        yield Server(api, environment, log)
    finally:
        _stop(process)


@pytest.fixture(scope="module")
def deployed(server: Server) -> Server:
    """The deployments of this checkout, made with the two commands of `make deploy`."""
    server.prefect("work-pool", "create", "sandmill", "--type", "process", "--overwrite")
    server.prefect("deploy", "--all")
    return server


def test_a_schedule_that_is_on_obtains_runs_and_the_nightly_that_is_off_obtains_none(deployed):
    entrypoint = "flows/build_release.py:build_release"
    parameters = '{"request": {"name": "often", "tasks": 1}}'
    options = ("--name", "often", "--pool", "sandmill", "--cron", "*/5 * * * *", "--params", parameters)
    deployed.prefect("deploy", entrypoint, *options)
    assert _wait_until(lambda: deployed.scheduled("often") > 0, SCHEDULER_S), deployed.log.read_text()
    assert deployed.scheduled("nightly") == 0
    assert deployed.scheduled("demo") == 0
    log = deployed.log.read_text()
    assert "bulk DML" not in log
    assert "Traceback" not in log, log


def test_deploying_twice_changes_nothing(deployed):
    nightly = deployed.deployment("nightly")
    (schedule,) = nightly["schedules"]
    assert (schedule["active"], schedule["schedule"]["timezone"]) == (False, "UTC")
    assert nightly["global_concurrency_limit"]["limit"] == 1
    assert nightly["pull_steps"] == [
        {"prefect.deployments.steps.set_working_directory": {"directory": str(REPOSITORY)}}
    ]
    deployed.prefect("deploy", "--all")
    again = deployed.deployment("nightly")
    assert (again["id"], again["parameters"]) == (nightly["id"], nightly["parameters"])
    assert [entry["active"] for entry in again["schedules"]] == [False]


def _is_up(api: str) -> bool:
    try:
        return httpx.get(f"{api}/health", timeout=5).status_code == 200
    except httpx.HTTPError:
        return False


def _wait_until(holds: Callable[[], bool], seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.5)
    return True


def _stop(process: "subprocess.Popen[bytes]") -> None:
    """End the server and what it started, whether it listens or not."""
    process.terminate()
    try:
        process.wait(timeout=STOP_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        return
