"""Start and stop a Prefect server and a worker as background processes, and keep schedules as operators left them."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

import httpx
from prefect.client.orchestration import SyncPrefectClient, get_client
from prefect.client.schemas.actions import DeploymentScheduleCreate
from prefect.client.schemas.filters import FlowFilter
from prefect.client.schemas.objects import DeploymentSchedule
from prefect.client.schemas.responses import DeploymentResponse

from sandmill.errors import SandmillError
from tasks.killed_runs import ProcessIdentity

POOL = "sandmill"
_PREFECT = (sys.executable, "-m", "prefect", "--no-prompt")
_START_S, _STOP_S = 180.0, 20.0
_QUIET = {"DO_NOT_TRACK": "1", "PREFECT_SERVER_ANALYTICS_ENABLED": "false"}


class ServiceError(SandmillError):
    """A server or a worker did not start."""


@dataclass(frozen=True)
class Service:
    """One background process. Its pid file holds the identity of the process, so that no other one is ever ended."""

    name: str
    folder: Path

    @property
    def log(self) -> Path:
        """Where its output goes."""
        return self.folder / f"{self.name}.log"

    @property
    def pid(self) -> int | None:
        """Process id if the process lives."""
        try:
            known = ProcessIdentity(**json.loads(self._pid_file.read_text()))
        except (OSError, ValueError, TypeError):
            return None
        # A child that has ended keeps its identity until somebody waits for it.
        _reap(known.pid)
        return known.pid if ProcessIdentity.of(known.pid) == known else None

    @property
    def _pid_file(self) -> Path:
        return self.folder / f"{self.name}.pid"

    def start(self, command: tuple[str, ...], environment: Mapping[str, str]) -> None:
        """Start the process in a session of its own, unless it lives."""
        if self.pid is not None:
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        with self.log.open("ab") as log:
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                env={**os.environ, **_QUIET, **environment},
            )
        identity = ProcessIdentity.of(process.pid)
        if identity is None:
            raise ServiceError(f"the {self.name} ended at once; see {self.log}")
        self._pid_file.write_text(json.dumps(asdict(identity)))

    def stop(self) -> bool:
        """End the process: SIGTERM, and SIGKILL to its whole group if it stays. Return whether there was one.

        A worker whose server is gone may ignore SIGTERM.
        """
        pid = self.pid
        if pid is not None:
            os.kill(pid, signal.SIGTERM)
            deadline = time.monotonic() + _STOP_S
            while self.pid is not None and time.monotonic() < deadline:
                time.sleep(0.1)
            if self.pid is not None:
                os.killpg(pid, signal.SIGKILL)
                _reap(pid)
        self._pid_file.unlink(missing_ok=True)
        return pid is not None


def start_server(server: Service, port: int) -> str:
    """Start a server and wait until it answers. Returns its address.

    Raises:
        ServiceError: it ended, does not answer, or runs at another address. The message says what to do.
    """
    address, noted = f"http://127.0.0.1:{port}", server.folder / "address"
    if server.pid is not None and (runs_at := noted.read_text()) != address:
        raise ServiceError(f"the server runs at {runs_at} already; end it first with: make stop")
    if server.pid is None and _answers(address):
        raise ServiceError(f"{address} is taken by another server. Use another port: make serve PORT=4300")
    # Without the variable the pages of the UI look for port 4200.
    server.start((*_PREFECT, "server", "start", "--port", str(port)), {"PREFECT_UI_API_URL": f"{address}/api"})
    noted.write_text(address)
    deadline = time.monotonic() + _START_S
    while not _answers(address):
        if server.pid is None or time.monotonic() > deadline:
            raise ServiceError(f"the server does not answer at {address}; see {server.log}")
        time.sleep(0.5)
    return address


def start_worker(worker: Service, address: str) -> None:
    """Make the work pool if there is none, and start a worker of it.

    Raises:
        ServiceError: the pool cannot be made.
    """
    environment = {"PREFECT_API_URL": f"{address}/api"}
    everything = {**os.environ, **_QUIET, **environment}
    known = subprocess.run((*_PREFECT, "work-pool", "inspect", POOL), env=everything, capture_output=True, check=False)
    if known.returncode:
        create = (*_PREFECT, "work-pool", "create", POOL, "--type", "process")
        made = subprocess.run(create, env=everything, capture_output=True, text=True, check=False)
        if made.returncode:
            raise ServiceError(f"no work pool {POOL}: {made.stdout}{made.stderr}".strip())
    worker.start((*_PREFECT, "worker", "start", "--pool", POOL, "--type", "process"), environment)


def _answers(address: str) -> bool:
    try:
        return httpx.get(f"{address}/api/health", timeout=2).status_code == httpx.codes.OK
    except httpx.HTTPError:
        return False


def _reap(pid: int) -> None:
    """Collect the process if it is a child of this one, so that it does not stay as a zombie."""
    try:
        os.waitpid(pid, os.WNOHANG)
    except ChildProcessError:
        return


@contextmanager
def keep_schedules(flows: Collection[str]) -> Iterator[None]:
    """Put back which deployments and schedules of these flows are active, also if the block fails.

    `prefect deploy` resumes a paused deployment, sets every schedule that prefect.yaml names to the `active` written
    there, and deletes schedules that were added by hand. What prefect.yaml says of times and parameters still arrives.
    A schedule that did not exist before the block keeps the `active` of prefect.yaml.
    """
    of_flows = FlowFilter.model_validate({"name": {"any_": list(flows)}})
    with get_client(sync_client=True) as client:
        before = client.read_deployments(flow_filter=of_flows)
        try:
            yield
        finally:
            after = {deployment.id: deployment for deployment in client.read_deployments(flow_filter=of_flows)}
            for old in before:
                if old.id in after:
                    _restore(client, old, after[old.id])


def _restore(client: SyncPrefectClient, old: DeploymentResponse, new: DeploymentResponse) -> None:
    if old.paused and not new.paused:
        client.pause_deployment(new.id)
    present = {_key(schedule): schedule for schedule in new.schedules}
    missing = [schedule for schedule in old.schedules if _key(schedule) not in present]
    if missing:
        kept = {"schedule", "active", "max_scheduled_runs", "parameters", "slug"}
        copies = [DeploymentScheduleCreate(**{name: getattr(old, name) for name in kept}) for old in missing]
        client.create_deployment_schedules(new.id, copies)
    for schedule in old.schedules:
        now = present.get(_key(schedule))
        if now and now.active != schedule.active:
            client.update_deployment_schedule(new.id, now.id, active=schedule.active)


def _key(schedule: DeploymentSchedule) -> str:
    """Return what identifies a schedule whose row was made again: its slug, or its times if it has none."""
    return schedule.slug or schedule.schedule.model_dump_json()
