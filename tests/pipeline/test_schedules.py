import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sandmill.models.release import SPLITS
from sandmill.models.reports import Medal
from sandmill.store.files import Store
from sandmill.store.release import load
from sandmill.store.rollouts import RolloutFolder
from sandmill.store.verify import verify_hashes
from tests.prefect_services import PREFECT, Server, start_worker, stop
from tests.processes import wait_until
from tests.releases import REPOSITORY
from tests.rollout_records import SETTINGS, make_record

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("prefect"), pytest.mark.timeout(600)]

SCHEDULER_S = 150.0


@pytest.fixture
def worker(server: Server) -> Iterator[None]:
    """A worker of the pool, as `make worker` starts it."""
    process = start_worker(server, server.log.parent / "worker.log")
    yield
    stop(process)


def test_a_schedule_that_is_on_obtains_runs_and_the_nightly_that_is_off_obtains_none(server):
    entrypoint = "flows/build_release.py:build_release"
    parameters = '{"request": {"name": "often", "tasks": 1}}'
    options = ("--name", "often", "--pool", "sandmill", "--cron", "*/5 * * * *", "--params", parameters)
    server.prefect("deploy", entrypoint, *options)
    assert wait_until(lambda: server.scheduled("often") > 0, SCHEDULER_S), server.log.read_text()
    assert server.scheduled("nightly-release") == 0
    assert server.scheduled("demo") == 0
    log = server.log.read_text()
    assert "bulk DML" not in log
    assert "Traceback" not in log, log


def test_triggers_are_delivered_off_and_start_audit_and_refresh_once_they_are_on(server):
    for name in ("audit-after-nightly", "refresh-after-rollouts"):
        assert server.automation(name)["enabled"] is False
    emit(server)
    server.prefect("automation", "resume", "refresh-after-rollouts")
    server.prefect("automation", "resume", "audit-after-nightly")

    def started(name: str, flow: str) -> list[dict[str, Any]]:
        emit(server)  # the server takes up an automation some time after it was switched on
        return server.runs(name, flow)

    assert wait_until(lambda: bool(started("refresh-curriculum", "refresh-curriculum")), SCHEDULER_S)
    assert all(
        run["parameters"]["request"] == {"release": "releases/other", "rollouts": ["rollouts/step-9"]}
        for run in server.runs("refresh-curriculum", "refresh-curriculum")
    )
    nightly = server.trigger("nightly-release", {})
    assert server.runs("weekly-audit", "audit-release") == []
    server.post(f"/flow_runs/{nightly}/set_state", {"state": {"type": "COMPLETED"}, "force": True})
    assert wait_until(lambda: bool(server.runs("weekly-audit", "audit-release")), SCHEDULER_S)
    for name in ("audit-after-nightly", "refresh-after-rollouts"):
        server.prefect("automation", "pause", name)
    for run in [
        *server.runs("refresh-curriculum", "refresh-curriculum"),
        *server.runs("weekly-audit", "audit-release"),
    ]:
        server.post(f"/flow_runs/{run['id']}/set_state", {"state": {"type": "CANCELLED"}, "force": True})


def emit(server: Server) -> None:
    """Say that rollouts were written, as docs/operating.md does."""
    payload = '{"release": "releases/other", "rollouts": "rollouts/step-9"}'
    server.prefect("event", "emit", "sandmill.rollouts.written", "--resource-id", "step-9", "--payload", payload)


def test_deploying_twice_changes_nothing(server):
    nightly = server.deployment("nightly-release")
    (schedule,) = nightly["schedules"]
    assert (schedule["active"], schedule["schedule"]["timezone"]) == (False, "UTC")
    assert nightly["global_concurrency_limit"]["limit"] == 1
    assert nightly["pull_steps"] == [
        {"prefect.deployments.steps.set_working_directory": {"directory": str(REPOSITORY)}}
    ]
    server.deploy()
    again = server.deployment("nightly-release")
    assert (again["id"], again["parameters"]) == (nightly["id"], nightly["parameters"])
    assert [entry["active"] for entry in again["schedules"]] == [False]


def test_a_worker_runs_what_was_triggered_with_some_of_the_fields(server, worker):
    given = ("--param", 'request={"tasks": 4, "seeds": ["nowhere"]}', "--watch", "--watch-timeout", "150")
    command = [PREFECT, "--no-prompt", "deployment", "run", "build-release/demo", *given]
    ran = subprocess.run(
        command, cwd=REPOSITORY, env=server.environment, capture_output=True, text=True, check=False, timeout=180
    )
    (id,) = re.findall(r"UUID: ([0-9a-f-]{36})", ran.stdout)
    ended = server.flow_run(id)
    assert (ended["name"], ended["state_name"]) == ("micro, 4 tasks", "Failed"), ran.stdout
    assert "nowhere" in ended["state"]["message"]


@pytest.mark.timeout(2400)
def test_a_worker_refreshes_a_curriculum_and_takes_over_what_is_on_the_frontier(
    server, worker, small_release, tmp_path
):
    root = Path(small_release).parent
    shutil.copytree(root / "small", tmp_path / "small")
    earlier = load(str(tmp_path / "small"))
    solved, open_task = earlier.task_ids
    folder = RolloutFolder(Store(str(tmp_path / "rollouts")))
    folder.begin(SETTINGS.model_copy(update={"release": earlier.version}))
    for sample in range(4):
        folder.save(make_record(solved, sample, medal=Medal.GOLD))
        folder.save(make_record(open_task, sample, medal=Medal.GOLD if sample % 2 else None))
    request = {"release": str(tmp_path / "small"), "rollouts": [str(tmp_path / "rollouts")], "splits": list(SPLITS)}
    settings = {"secret_file": str(root.with_name(f"{root.name}.key")), "workers": 1}

    run = server.trigger("refresh-curriculum", {"request": request, "settings": settings}, "refresh-curriculum")
    ends = ("Completed", "Failed", "Crashed")
    assert wait_until(lambda: server.flow_run(run)["state_name"] in ends, 2000)
    ended = server.flow_run(run)
    assert ended["state_name"] == "Completed", ended["state"]["message"]
    following = load(str(tmp_path / "small"))
    assert ended["name"] == f"small@{following.version}"
    assert following.version.startswith("0002-")
    assert verify_hashes(following) == []
    assert len(following.task_ids) == 2
    assert solved not in following.task_ids
    assert following.record(open_task) == earlier.record(open_task)
