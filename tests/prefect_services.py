"""Prefect server and worker as an operator runs them: processes of their own, on a port and a folder of their own."""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from tests.processes import wait_until
from tests.releases import REPOSITORY

PREFECT = str(Path(sys.executable).parent / "prefect")
START_S, STOP_S = 180.0, 15.0


@dataclass(frozen=True)
class Server:
    """A running server, and how to reach it."""

    api: str
    environment: dict[str, str]
    log: Path

    def prefect(self, *arguments: str) -> str:
        """Run a command of Prefect to its end, and return its output."""
        return self._run([PREFECT, "--no-prompt", *arguments], REPOSITORY)

    def deploy(self) -> None:
        """Deploy as `make deploy` does."""
        self.prefect("deploy", "--all")

    def _run(self, command: list[str], folder: Path) -> str:
        ran = subprocess.run(
            command, cwd=folder, env=self.environment, capture_output=True, text=True, check=False, timeout=180
        )
        assert ran.returncode == 0, ran.stdout + ran.stderr
        return ran.stdout

    def flow_run(self, id: str) -> dict[str, Any]:
        found: dict[str, Any] = httpx.get(f"{self.api}/flow_runs/{id}", timeout=60).raise_for_status().json()
        return found

    def trigger(self, name: str, parameters: dict[str, Any], flow: str = "build-release") -> str:
        """Run a deployment, and return the id of the run."""
        address = f"{self.api}/deployments/{self.deployment(name, flow)['id']}/create_flow_run"
        made = httpx.post(address, json={"parameters": parameters}, timeout=60).raise_for_status().json()
        return str(made["id"])

    def deployment(self, name: str, flow: str = "build-release") -> dict[str, Any]:
        address = f"{self.api}/deployments/name/{flow}/{name}"
        found: dict[str, Any] = httpx.get(address, timeout=60).raise_for_status().json()
        return found

    def post(self, path: str, body: dict[str, Any]) -> Any:
        """Call the server, and return its answer."""
        return httpx.post(f"{self.api}{path}", json=body, timeout=60).raise_for_status().json()

    def automation(self, name: str) -> dict[str, Any]:
        """Return the automation that a trigger of prefect.yaml made."""
        (found,) = self.post("/automations/filter", {"automations": {"name": {"any_": [name]}}})
        return dict(found)

    def runs(self, name: str, flow: str) -> list[dict[str, Any]]:
        """Return the runs of a deployment that a trigger started."""
        wanted = {"deployments": {"id": {"any_": [self.deployment(name, flow)["id"]]}}}
        return [run for run in self.post("/flow_runs/filter", wanted) if not run["auto_scheduled"]]

    def scheduled(self, name: str) -> int:
        """Runs of a deployment that wait for their time."""
        wanted = {
            "deployments": {"id": {"any_": [self.deployment(name)["id"]]}},
            "flow_runs": {"state": {"type": {"any_": ["SCHEDULED"]}}},
        }
        return int(httpx.post(f"{self.api}/flow_runs/count", json=wanted, timeout=60).raise_for_status().json())


@contextmanager
def running_server(folder: Path) -> Iterator[Server]:
    """Run a server with a fresh database in a folder."""
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
        assert wait_until(lambda: _is_up(api), START_S), log.read_text()
        yield Server(api, environment, log)
    finally:
        stop(process)


def start_worker(server: Server, log: Path, **environment: str) -> "subprocess.Popen[bytes]":
    """Start a worker of the pool, as `make worker` does."""
    command = [PREFECT, "worker", "start", "--pool", "sandmill", "--type", "process"]
    known = {**server.environment, **environment}
    with log.open("a") as output:
        return subprocess.Popen(
            command, cwd=REPOSITORY, env=known, stdout=output, stderr=output, start_new_session=True
        )


def stop(process: "subprocess.Popen[bytes]") -> None:
    """End a server or a worker and what it started, whether it listens or not."""
    process.terminate()
    try:
        process.wait(timeout=STOP_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def _is_up(api: str) -> bool:
    try:
        return httpx.get(f"{api}/health", timeout=5).status_code == 200
    except httpx.HTTPError:
        return False
