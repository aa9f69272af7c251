"""Choose where the shards of a build run: threads of this process, or processes of a Dask cluster."""

import socket
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any
from urllib.parse import urlsplit

from prefect import Task, unmapped
from prefect.client.orchestration import get_client
from prefect.exceptions import TerminationSignal
from prefect.settings import PREFECT_API_URL, temporary_settings
from prefect.task_runners import TaskRunner, ThreadPoolTaskRunner

from sandmill.errors import Problem, RequestError
from sandmill.models.plan import ShardPlan, ShardRef
from sandmill.models.request import RunSettings

SECONDS_TO_ANSWER = 15.0
"""Wall-clock limit in seconds for a connection to a cluster."""
SHARDS_AT_ONCE = 2
"""Shards that run at once on this machine. While one is at its last slots or writes, the other uses the workers."""


def name_machine() -> str:
    """Return the name of the machine that runs this function. Who can run it can import the tasks."""
    return socket.gethostname()


def look_at_cluster(address: str) -> list[str]:
    """Return the machine of each worker process of a Dask cluster.

    Raises:
        OSError: nothing answers at the address.
        ImportError: a worker, or the scheduler, cannot import the tasks of this repository.
    """
    host, colon, port = address.rpartition("://")[2].rpartition(":")
    if not colon or not port.isdigit():
        raise OSError("the address has no port")
    # The libraries themselves try for minutes before they give up.
    socket.create_connection((host, int(port)), timeout=SECONDS_TO_ANSWER).close()
    from distributed import Client

    with Client(address, timeout=SECONDS_TO_ANSWER, set_as_default=False) as client:
        # The scheduler unpickles the shards that it hands on, so it has to import the tasks too.
        client.run_on_scheduler(name_machine)
        return list(client.run(name_machine).values())


@dataclass(frozen=True)
class ShardRunner:
    """A task runner that was started, and the worker processes of each of its shards."""

    runner: TaskRunner[Any]
    workers: int

    def fill(self, fill_shard: Task[..., Any], pending: Sequence[ShardPlan], settings: RunSettings) -> list[ShardRef]:
        """Run one Prefect task for each shard, and wait for all."""
        shared = settings.model_copy(update={"workers": self.workers})
        futures = self.runner.map(fill_shard, {"shard": pending, "settings": unmapped(shared)})
        return [future.result() for future in futures]


@contextmanager
def open_runner(settings: RunSettings) -> Iterator[ShardRunner]:
    """Start the task runner of the settings, and stop it at the end.

    A cluster that the runner starts itself ends with it. Workers of a cluster call the server that this flow run calls.

    Raises:
        RequestError: the cluster cannot be used, with every reason.
    """
    name, _, address = settings.task_runner.partition(":")
    if name == "threads":
        with _threads() as threads:
            yield ShardRunner(threads, settings.workers)
        return
    if problems := runner_problems(settings):
        raise RequestError("task runner", problems)
    workers = settings.shard_workers or max(1, settings.workers // SHARDS_AT_ONCE)
    with ExitStack() as stack:
        with get_client(sync_client=True) as client:
            stack.enter_context(temporary_settings({PREFECT_API_URL: str(client.api_url).rstrip("/")}))
        yield ShardRunner(stack.enter_context(_dask_runner(address)), workers)


@contextmanager
def _threads() -> Iterator[TaskRunner[Any]]:
    """Run shards in threads. When the process is told to end (SIGTERM), do not wait for them: their slots are kept."""
    threads: ThreadPoolTaskRunner[Any] = ThreadPoolTaskRunner(max_workers=SHARDS_AT_ONCE)
    with threads:
        try:
            yield threads
        except TerminationSignal:
            if threads._executor:
                threads._executor.shutdown(wait=False, cancel_futures=True)
                threads._executor = None
            raise


def runner_problems(settings: RunSettings) -> list[Problem]:
    """List what keeps the task runner of the settings from building; called before any work."""
    name, _, address = settings.task_runner.partition(":")
    if name == "threads":
        return []
    if not find_spec("prefect_dask"):
        install = "pip install -c constraints.txt -e '.[pipeline,dask]'"
        return [Problem("--task-runner", "dask, which is not installed here", "the extra dask", install)]
    if not address:
        return []
    try:
        machines = look_at_cluster(address)
    except (OSError, ImportError, RuntimeError) as error:
        hint = "Start workers and scheduler in the root of a checkout, with the extra dask"
        why = f"{address}, which fails: {type(error).__name__}: {error}"
        return [Problem("--task-runner", why, f"a cluster that answers within {SECONDS_TO_ANSWER:g} s", hint)]
    if not machines:
        return [Problem("--task-runner", f"{address} without workers", "at least one worker of the cluster")]
    return list(_machine_problems(settings, machines))


def _machine_problems(settings: RunSettings, machines: Sequence[str]) -> Iterator[Problem]:
    """Check that machines reach the store, the secret and the server. Each shard compares their code itself."""
    others = sorted({*machines} - {name_machine()})
    if not others:
        return
    where = f"workers on {', '.join(others)}"
    if "://" not in settings.root:
        yield Problem("--root", f"the folder {settings.root} and {where}", "s3://bucket/prefix for all of them")
    if settings.secret_file:
        hint = "Without the option the secret is kept in the store"
        yield Problem("--secret-file", f"a file of this machine and {where}", "no such option", hint)
    url = urlsplit(PREFECT_API_URL.value() or "http://localhost")
    if url.hostname in ("localhost", "127.0.0.1", "::1"):
        hint = "Start a server with: prefect server start --host 0.0.0.0"
        yield Problem("PREFECT_API_URL", f"{url.hostname} and {where}", "an address that all of them reach", hint)


def _dask_runner(address: str) -> TaskRunner[Any]:
    from prefect_dask import DaskTaskRunner

    # One thread a process: a shard's own worker processes use the cores.
    local = {"n_workers": SHARDS_AT_ONCE, "threads_per_worker": 1, "processes": True, "dashboard_address": None}
    runner: TaskRunner[Any] = DaskTaskRunner(address=address) if address else DaskTaskRunner(cluster_kwargs=local)
    return runner
