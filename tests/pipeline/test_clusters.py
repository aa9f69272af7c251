"""Builds whose shards run on real clusters. The extra `dask` is not in the usual environment."""

import os
import signal
import socket
import subprocess
import sys
import threading
from importlib.util import find_spec

import pytest
from prefect.client.schemas.filters import FlowRunFilter, FlowRunFilterId

from flows.build_release import build_release
from sandmill.models.request import RunSettings
from sandmill.store.release import load
from sandmill.store.verify import verify_hashes
from tasks.runners import look_at_cluster, name_machine, runner_problems
from tests.processes import descendants, is_alive, read_proc, wait_until
from tests.releases import SMALL, small_settings

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("prefect"), pytest.mark.timeout(1200)]

DEADLINE_S = 600.0


needs_dask = pytest.mark.skipif(
    not find_spec("prefect_dask"), reason="pip install -c constraints.txt -e '.[pipeline,dev,dask]'"
)


@pytest.fixture
def dask_cluster(s3_root):
    """A scheduler and two worker processes, which see the bucket as this process does."""
    from distributed import LocalCluster

    with LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster:
        yield cluster


def _build(prefect_server, settings: RunSettings):
    """Run the flow. Returns the release and the states of its shards."""
    state = build_release(SMALL, settings, return_state=True)
    release = load(state.result())
    of_run = FlowRunFilter(id=FlowRunFilterId(any_=[state.state_details.flow_run_id]))
    runs = prefect_server.read_task_runs(flow_run_filter=of_run)
    return release, [run.state.name for run in runs if run.name.startswith("slots ")]


def _own_workers(pid: int) -> list[int]:
    """Processes of a Dask worker that run attempts."""
    return [child for child in descendants(pid) if b"sandmill.pipeline.workers" in read_proc(child, "cmdline")]


def _kill_at_work(cluster, killed: list[int]) -> None:
    """Kill a Dask worker once its own worker processes are there, which is while it builds a shard."""
    pid = cluster.workers[0].pid
    assert wait_until(lambda: _own_workers(pid), DEADLINE_S)
    killed += _own_workers(pid)
    os.kill(pid, signal.SIGKILL)


@needs_dask
def test_a_killed_dask_worker_costs_no_task_and_changes_nothing(
    dask_cluster, s3_root, prefect_server, small_release, tmp_path
):
    settings = small_settings(tmp_path / "root").model_copy(
        update={"root": f"{s3_root}/on-dask", "task_runner": f"dask:{dask_cluster.scheduler_address}"}
    )
    killed: list[int] = []
    killer = threading.Thread(target=_kill_at_work, args=(dask_cluster, killed))
    killer.start()
    release, states = _build(prefect_server, settings)
    killer.join()
    assert killed, "the worker was killed while it built"
    assert states == ["Completed", "Completed"], "one task run a shard"
    assert release.manifest.content == load(small_release).manifest.content
    assert verify_hashes(release) == []
    assert wait_until(lambda: not any(map(is_alive, killed)), DEADLINE_S)


@needs_dask
def test_a_dask_cluster_describes_its_machines(dask_cluster):
    assert look_at_cluster(dask_cluster.scheduler_address) == [name_machine()] * 2


@needs_dask
def test_a_dask_scheduler_that_cannot_import_the_tasks_is_refused_before_any_work(tmp_path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    command = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", str(port)]
    with subprocess.Popen([*command, "--no-dashboard"], cwd=tmp_path, env=kept, stderr=subprocess.DEVNULL) as scheduler:
        try:
            assert wait_until(lambda: _listens(port), DEADLINE_S)
            (problem,) = runner_problems(RunSettings(task_runner=f"dask:tcp://127.0.0.1:{port}"))
        finally:
            scheduler.kill()
    assert "No module named 'tasks'" in problem.saw
    assert "scheduler in the root of a checkout" in problem.hint


def _listens(port: int) -> bool:
    with socket.socket() as one:
        return one.connect_ex(("127.0.0.1", port)) == 0
