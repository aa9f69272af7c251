import os
import re
import shutil
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

from sandmill.cli.checks.orchestration import check_server
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
        return self._run([PREFECT, "--no-prompt", *arguments], REPOSITORY)

    def deploy(self, folder: Path = REPOSITORY) -> None:
        """Deploy as `make deploy` does."""
        self._run([sys.executable, "-m", "flows.deploy_all"], folder)

    def _run(self, command: list[str], folder: Path) -> str:
        ran = subprocess.run(
            command, cwd=folder, env=self.environment, capture_output=True, text=True, check=False, timeout=180
        )
        assert ran.returncode == 0, ran.stdout + ran.stderr
        return ran.stdout

    def flow_run(self, id: str) -> dict[str, Any]:
        found: dict[str, Any] = httpx.get(f"{self.api}/flow_runs/{id}").raise_for_status().json()
        return found

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
    server.prefect("work-pool", "create", "sandmill", "--type", "process")
    server.deploy()
    return server


@pytest.fixture
def worker(deployed: Server) -> Iterator[None]:
    """A worker of the pool, as `make worker` starts it."""
    command = [PREFECT, "worker", "start", "--pool", "sandmill", "--type", "process"]
    with (deployed.log.parent / "worker.log").open("w") as output:
        process = subprocess.Popen(
            command, cwd=REPOSITORY, env=deployed.environment, stdout=output, stderr=output, start_new_session=True
        )
    yield
    _stop(process)


def test_a_schedule_that_is_on_obtains_runs_and_the_nightly_that_is_off_obtains_none(deployed):
    entrypoint = "flows/build_release.py:build_release"
    parameters = '{"request": {"name": "often", "tasks": 1}}'
    options = ("--name", "often", "--pool", "sandmill", "--cron", "*/5 * * * *", "--params", parameters)
    deployed.prefect("deploy", entrypoint, *options)
    assert _wait_until(lambda: deployed.scheduled("often") > 0, SCHEDULER_S), deployed.log.read_text()
    assert deployed.scheduled("nightly-release") == 0
    assert deployed.scheduled("demo") == 0
    log = deployed.log.read_text()
    assert "bulk DML" not in log
    assert "Traceback" not in log, log
    seen = _doctor(deployed)
    assert seen["Prefect server"] == seen["schedule of often"] == "ok"
    assert seen["work pool sandmill"] == "bad", "no worker is online yet"
    assert seen["schedules off"] == "info"


def test_deploying_twice_changes_nothing(deployed):
    nightly = deployed.deployment("nightly-release")
    (schedule,) = nightly["schedules"]
    assert (schedule["active"], schedule["schedule"]["timezone"]) == (False, "UTC")
    assert nightly["global_concurrency_limit"]["limit"] == 1
    assert nightly["pull_steps"] == [
        {"prefect.deployments.steps.set_working_directory": {"directory": str(REPOSITORY)}}
    ]
    deployed.deploy()
    again = deployed.deployment("nightly-release")
    assert (again["id"], again["parameters"]) == (nightly["id"], nightly["parameters"])
    assert [entry["active"] for entry in again["schedules"]] == [False]


def test_deploying_again_keeps_what_operators_switched_on_and_brings_what_the_file_changed(deployed, tmp_path):
    (schedule,) = deployed.deployment("nightly-release")["schedules"]
    deployed.prefect("deployment", "schedule", "resume", "build-release/nightly-release", schedule["id"])
    by_hand = ("--cron", "30 5 * * 1", "--timezone", "UTC", "--no-active")
    deployed.prefect("deployment", "schedule", "create", "build-release/nightly-release", *by_hand)
    httpx.post(f"{deployed.api}/deployments/{deployed.deployment('demo')['id']}/pause_deployment").raise_for_status()
    for folder in ("flows", "tasks", "expectations"):
        shutil.copytree(REPOSITORY / folder, tmp_path / folder)
    text = (REPOSITORY / "prefect.yaml").read_text()
    (tmp_path / "prefect.yaml").write_text(text.replace("0 2 * * *", "0 3 * * *").replace("tasks: 100", "tasks: 101"))

    deployed.deploy(tmp_path)
    nightly = deployed.deployment("nightly-release")
    states = {entry["schedule"]["cron"]: entry["active"] for entry in nightly["schedules"]}
    assert states == {"0 3 * * *": True, "30 5 * * 1": False}
    assert nightly["parameters"]["request"]["tasks"] == 101
    assert deployed.deployment("demo")["paused"]
    deployed.deploy()
    nightly = deployed.deployment("nightly-release")
    assert {entry["schedule"]["cron"]: entry["active"] for entry in nightly["schedules"]} == {
        "0 2 * * *": True,
        "30 5 * * 1": False,
    }


def test_a_worker_runs_what_was_triggered_with_some_of_the_fields(deployed, worker):
    deployment = deployed.deployment("demo")
    httpx.post(f"{deployed.api}/deployments/{deployment['id']}/resume_deployment").raise_for_status()
    given = ("--param", 'request={"tasks": 4, "seeds": ["nowhere"]}', "--watch", "--watch-timeout", "150")
    command = [PREFECT, "--no-prompt", "deployment", "run", "build-release/demo", *given]
    ran = subprocess.run(
        command, cwd=REPOSITORY, env=deployed.environment, capture_output=True, text=True, check=False, timeout=180
    )
    (id,) = re.findall(r"UUID: ([0-9a-f-]{36})", ran.stdout)
    ended = deployed.flow_run(id)
    assert (ended["name"], ended["state_name"]) == ("micro, 4 tasks", "Failed"), ran.stdout
    assert "nowhere" in ended["state"]["message"]
    assert ended["labels"]["sandmill.process.pid"]
    assert _doctor(deployed)["work pool sandmill"] == "ok"


def _doctor(server: Server) -> dict[str, str]:
    """Return the status of each check that `sandmill doctor` makes on a server."""
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("PREFECT_API_URL", server.api)
        return {check.what: check.status for check in check_server("sandmill")}


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
