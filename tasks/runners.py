"""Choose where the shards of a build run: threads of this process, or processes of a Dask or Ray cluster."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any
from urllib.parse import urlsplit

from prefect import Task, unmapped
from prefect.client.orchestration import get_client
from prefect.settings import PREFECT_API_URL, temporary_settings
from prefect.task_runners import TaskRunner, ThreadPoolTaskRunner

from sandmill.errors import Problem, RequestError
from sandmill.models.plan import ShardPlan, ShardRef
from sandmill.models.request import RunSettings
from tasks.clusters import SECONDS_TO_ANSWER, Machine, describe_machine, look_at_cluster, workers_of_shard

SHARDS_AT_ONCE = 2
"""Shards that run at once on this machine. While one is at its last slots or writes, the other uses the workers."""
PACKAGES = {"dask": "prefect_dask", "ray": "prefect_ray"}
"""Module that each extra installs, which Prefect needs for the cluster."""


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
        threads: TaskRunner[Any] = ThreadPoolTaskRunner(max_workers=SHARDS_AT_ONCE)
        with threads:
            yield ShardRunner(threads, settings.workers)
        return
    if problems := runner_problems(settings):
        raise RequestError("task runner", problems)
    if address:
        workers = settings.shard_workers or workers_of_shard(look_at_cluster(name, address), settings.shard_size)
    else:
        workers = settings.shard_workers or max(1, settings.workers // SHARDS_AT_ONCE)
    with ExitStack() as stack:
        with get_client(sync_client=True) as client:
            stack.enter_context(temporary_settings({PREFECT_API_URL: str(client.api_url).rstrip("/")}))
        start = _start_dask if name == "dask" else _start_ray
        yield ShardRunner(start(stack, address, workers), workers)


def runner_problems(settings: RunSettings) -> list[Problem]:
    """List what keeps the task runner of the settings from building; called before any work."""
    name, _, address = settings.task_runner.partition(":")
    if name == "threads":
        return []
    if not find_spec(PACKAGES[name]):
        install = f"pip install -c constraints.txt -e '.[pipeline,{name}]'"
        return [Problem("--task-runner", f"{name}, which is not installed here", f"the extra {name}", install)]
    if not address:
        return []
    try:
        machines = look_at_cluster(name, address)
    except (OSError, ImportError, RuntimeError) as error:
        hint = f"Start workers and scheduler in the root of a checkout, with the extra {name}"
        why = f"{address}, which fails: {type(error).__name__}: {error}"
        return [Problem("--task-runner", why, f"a cluster that answers within {SECONDS_TO_ANSWER:g} s", hint)]
    if not machines:
        return [Problem("--task-runner", f"{address} without workers", "at least one worker of the cluster")]
    return [*_code_problems(machines), *_sharing_problems(settings, machines)]


def _code_problems(machines: Sequence[Machine]) -> Iterator[Problem]:
    """Compare the code that makes shards: the content of a shard depends on it."""
    here = describe_machine()
    others = sorted({machine.host for machine in machines if machine.code != here.code})
    if others:
        hint = "Install the same commit and constraints.txt on every machine"
        yield Problem("--task-runner", f"other code on {', '.join(others)}", f"code version {here.code}", hint)


def _sharing_problems(settings: RunSettings, machines: Sequence[Machine]) -> Iterator[Problem]:
    """Check that workers on other machines reach the store, the secret and the Prefect server."""
    others = sorted({machine.host for machine in machines} - {describe_machine().host})
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


def _start_dask(stack: ExitStack, address: str, workers: int) -> TaskRunner[Any]:
    from prefect_dask import DaskTaskRunner

    if address:
        return stack.enter_context(DaskTaskRunner(address=address))
    # One thread a process: a shard's own worker processes use the cores.
    local = {"n_workers": SHARDS_AT_ONCE, "threads_per_worker": 1, "processes": True, "dashboard_address": None}
    return stack.enter_context(DaskTaskRunner(cluster_kwargs=local))


def _start_ray(stack: ExitStack, address: str, workers: int) -> TaskRunner[Any]:
    from prefect_ray import RayTaskRunner
    from prefect_ray.context import remote_options

    # A shard waits until this many cores of one machine are free.
    stack.enter_context(remote_options(num_cpus=workers))
    if address:
        return stack.enter_context(RayTaskRunner(address=address))
    local = {"num_cpus": SHARDS_AT_ONCE * workers, "include_dashboard": False}
    return stack.enter_context(RayTaskRunner(init_kwargs=local))
