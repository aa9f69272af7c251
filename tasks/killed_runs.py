"""Runs from the command line, and runs whose process was killed: the next run on that machine marks them.

A Prefect server cannot know that the process of a run is gone.
"""

import os
import socket
import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

from prefect.client.orchestration import SyncPrefectClient, get_client
from prefect.client.schemas.filters import FlowFilter, FlowRunFilter
from prefect.client.schemas.objects import State, StateType
from prefect.exceptions import CancelledRun
from prefect.logging import get_run_logger
from prefect.runtime import flow_run as this_run
from prefect.settings import PREFECT_API_URL
from prefect.states import Crashed
from pydantic import BaseModel

from sandmill.cli.arguments import run_program
from sandmill.pipeline.workers import end_with_this_process
from tasks.progress import write_end

LABEL = "sandmill.process."
"""Labels of a flow run that name its process."""
ATTEMPT = f"{LABEL}attempt"
"""Label with the attempt that the process made. A retry has another process, which may not be recorded yet."""
UNFINISHED = (StateType.RUNNING, StateType.CANCELLING)


def run_flow(
    flow: Any,
    prog: str,
    examples: str,
    *models: type[BaseModel],
    work: Callable[..., None] | None = None,
) -> int:
    """Run a flow on the models that the command line gives, or other work, and return the exit code.

    Without other work, the message of the flow's final state is printed.
    """

    def run(*given: Any) -> None:
        end_server_with_this_process()
        if work:
            work(*given)
            return
        state = flow(*given, return_state=True)
        state.result()
        sys.stdout.write(f"{state.message}\n")

    return run_program(run, prog, flow.__doc__ or "", examples, *models, stops=(CancelledRun,))


def end_server_with_this_process() -> None:
    """Make the temporary server of Prefect end with this process, even if this process is killed.

    With the address of a server in `PREFECT_API_URL`, Prefect starts none.
    """
    if PREFECT_API_URL.value() or sys.platform != "linux":
        return
    from prefect.server.api.server import SubprocessASGIServer

    start = SubprocessASGIServer._run_uvicorn_command

    def start_guarded(server: SubprocessASGIServer) -> "subprocess.Popen[Any]":
        process = start(server)
        end_with_this_process(process.pid)
        return process

    SubprocessASGIServer._run_uvicorn_command = start_guarded  # type: ignore[assignment, method-assign]


@dataclass(frozen=True)
class ProcessIdentity:
    """Identity of one process. A process id alone may be used again."""

    host: str
    machine: str
    """/etc/machine-id, which stays the same after a reboot."""
    boot: str
    """Changes at every boot."""
    namespace: str
    """PID namespace, such as one container: process ids are valid inside it only."""
    pid: int
    started: int
    """Clock ticks since boot."""

    @classmethod
    def of(cls, pid: int) -> "ProcessIdentity | None":
        """Identify a process of this namespace; None if there is none with that id."""
        try:
            # Field 22, counted after the name, which may contain blanks and brackets.
            started = int(Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[19])
        except (OSError, ValueError, IndexError):
            return None
        return cls(
            host=socket.gethostname(),
            machine=_read_line("/etc/machine-id"),
            boot=_read_line("/proc/sys/kernel/random/boot_id"),
            namespace=str(Path("/proc/self/ns/pid").readlink()),
            pid=pid,
            started=started,
        )

    @classmethod
    def from_labels(cls, labels: dict[str, Any]) -> "ProcessIdentity | None":
        """Read the identity back; None if the run does not carry one."""
        try:
            return cls(**{name: labels[LABEL + name] for name in cls.__dataclass_fields__})
        except KeyError:
            return None

    @property
    def labels(self) -> dict[str, Any]:
        """The identity as labels of a flow run."""
        return {LABEL + name: value for name, value in asdict(self).items()}

    @property
    def is_gone(self) -> bool:
        """Whether the process has certainly ended. False for any process that cannot be seen from here."""
        here = ProcessIdentity.of(os.getpid())
        if here is None or not here.boot or (self.host, self.machine) != (here.host, here.machine):
            return False
        if self.boot != here.boot:
            return bool(self.machine)
        return self.namespace == here.namespace and ProcessIdentity.of(self.pid) != self


def mark_killed_runs_as_crashed() -> None:
    """Record the process of this flow run, and mark runs of the same flow as Crashed whose process was killed.

    A run on another machine, in another container, or without a recorded process is never touched.
    """
    identity, run_id = ProcessIdentity.of(os.getpid()), UUID(str(this_run.id))
    with get_client(sync_client=True) as client:
        if identity is not None:
            client.update_flow_run_labels(run_id, {**identity.labels, ATTEMPT: this_run.run_count})
        unfinished = FlowRunFilter.model_validate({"state": {"type": {"any_": UNFINISHED}}})
        same_flow = FlowFilter.model_validate({"name": {"any_": [str(this_run.flow_name)]}})
        for run in client.read_flow_runs(flow_filter=same_flow, flow_run_filter=unfinished):
            process = ProcessIdentity.from_labels(run.labels)
            is_recorded = run.labels.get(ATTEMPT, run.run_count) == run.run_count
            if run.id != run_id and is_recorded and process is not None and process.is_gone:
                message = f"Process {process.pid} on {process.host} ended without a report and was probably killed."
                _mark_crashed(client, run.id, message)


def _mark_crashed(client: SyncPrefectClient, run_id: UUID, message: str) -> None:
    """Read the state once more first: the process may have ended normally after the list of runs was read."""
    run = client.read_flow_run(run_id)
    if run.state_type not in UNFINISHED:
        return
    state: State[Any] = Crashed(message=message)
    client.set_flow_run_state(run_id, state, force=True)
    write_end(run_id, state)
    of_run = FlowRunFilter.model_validate({"id": {"any_": [run_id]}})
    for task in client.read_task_runs(flow_run_filter=of_run):
        if task.state_type in UNFINISHED:
            client.set_task_run_state(task.id, Crashed(message=message), force=True)
    get_run_logger().warning("Run %s is marked as crashed: %s", run.name, message)


def _read_line(path: str) -> str:
    try:
        return Path(path).read_text().strip()
    except OSError:
        return ""
