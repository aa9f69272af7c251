"""Run the commands of Prefect that README.md and docs/ show, on a server of its own, as an operator does."""

import json
import re
import shlex
import subprocess
from pathlib import Path

import httpx
import pytest

from sandmill.store.release import load
from tests.docs_commands import Command, Way, all_commands
from tests.prefect_services import PREFECT, Server, start_worker, stop
from tests.releases import REPOSITORY

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("prefect"), pytest.mark.timeout(900)]

COMMANDS = [command for command in all_commands() if command.way is Way.PREFECT]


def _those(*words: str, but: tuple[str, ...] = ()) -> list[Command]:
    """Return the commands that begin with these words after `prefect` and hold none of the others."""
    found = [one for one in COMMANDS if one.words[1 : 1 + len(words)] == list(words) and not {*but} & {*one.words}]
    assert found, words
    return found


def _run(server: Server, command: Command, **places: str) -> str:
    """Run a command with names of this server in place of placeholders. Returns what it printed."""
    words = [places.get(word, word) for word in command.words]
    variables = dict(re.findall(r"\b([A-Z_]+)=(\S+) ", command.text.partition("prefect")[0]))
    ran = subprocess.run(
        [PREFECT, "--no-prompt", *words[1:]],
        cwd=REPOSITORY,
        env={**server.environment, **variables},
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert ran.returncode == 0, f"{command}: {shlex.join(words)}\n{ran.stdout}{ran.stderr}"
    return ran.stdout


def _remove(server: Server, run: str) -> None:
    httpx.delete(f"{server.api}/flow_runs/{run}", timeout=60).raise_for_status()


def _run_of(output: str) -> str:
    (id,) = re.findall(r"UUID: ([0-9a-f-]{36})", output)
    return str(id)


@pytest.fixture
def waiting_run(server: Server) -> str:
    """A run of the demo that waits for a worker."""
    return server.trigger("demo", {"request": {"tasks": 1}})


@pytest.mark.parametrize("command", _those("deployment", "run", but=("--watch",)), ids=str)
def test_a_deployment_is_triggered(server: Server, command: Command):
    run = _run_of(_run(server, command))
    found = server.flow_run(run)
    assert found["state_type"] == "SCHEDULED"
    words = command.words
    for given in [words[place + 1] for place, word in enumerate(words) if word == "--param"]:
        name, _, value = given.partition("=")
        assert json.loads(value).items() <= found["parameters"][name].items()
    _remove(server, run)


def test_a_run_that_is_watched_publishes(server: Server, tmp_path: Path):
    command = next(one for one in _those("deployment", "run") if "--watch" in one.words)
    root = 'settings={"root": "/data"}'
    worker = start_worker(server, tmp_path / "worker.log")
    try:
        said = _run(server, command, **{root: root.replace("/data", str(tmp_path / "data"))})
    finally:
        stop(worker)
    assert server.flow_run(_run_of(said))["state_type"] == "COMPLETED", said
    assert load(str(tmp_path / "data" / "trial")).manifest.tasks == 1


@pytest.mark.parametrize("command", [*_those("flow-run", "ls"), *_those("flow-run", "logs")], ids=str)
def test_runs_and_their_logs_are_shown(server: Server, waiting_run: str, command: Command):
    said = _run(server, command, UUID=waiting_run)
    if "ls" in command.words:
        assert "Flow Runs" in said
    if "COLUMNS" in command.text:
        assert waiting_run in said
    _remove(server, waiting_run)


def test_a_run_is_cancelled_and_retried(server: Server, waiting_run: str):
    (cancel,), (retry,) = _those("flow-run", "cancel"), _those("flow-run", "retry", but=("--entrypoint",))
    _run(server, cancel, UUID=waiting_run)
    assert server.flow_run(waiting_run)["state_type"] in ("CANCELLED", "CANCELLING")
    state = {"state": {"type": "CANCELLED"}, "force": True}
    httpx.post(f"{server.api}/flow_runs/{waiting_run}/set_state", json=state, timeout=60).raise_for_status()
    _run(server, retry, UUID=waiting_run)
    assert server.flow_run(waiting_run)["state_type"] == "SCHEDULED"
    _remove(server, waiting_run)


def test_a_failed_build_of_the_command_line_is_retried_here(server: Server, tmp_path: Path):
    root = str(tmp_path / "releases")
    flow = httpx.get(f"{server.api}/flows/name/build-release", timeout=60).raise_for_status().json()
    failed = {
        "flow_id": flow["id"],
        "name": "late, 1 task",
        "parameters": {
            "request": {"name": "late", "tasks": 1, "mix": {"hard": 1.0}, "kinds": {"table": 1.0}},
            "settings": {"root": root, "workers": 1},
        },
        "state": {"type": "FAILED"},
    }
    run = httpx.post(f"{server.api}/flow_runs/", json=failed, timeout=60).raise_for_status().json()
    (retry,) = [one for one in _those("flow-run", "retry") if "--entrypoint" in one.words]
    _run(server, retry, UUID=run["id"])
    assert server.flow_run(run["id"])["state_type"] == "COMPLETED"
    assert load(f"{root}/late").manifest.tasks == 1


def test_a_schedule_is_shown_switched_on_and_off(server: Server):
    for action, active in (("ls", False), ("resume", True), ("pause", False)):
        (command,) = _those("deployment", "schedule", action)
        (schedule,) = server.deployment("nightly-release")["schedules"]
        said = _run(server, command, ID=schedule["id"])
        (schedule,) = server.deployment("nightly-release")["schedules"]
        assert schedule["active"] is active, said


def test_a_pool_is_paused(server: Server):
    (command,) = _those("work-pool", "pause")
    _run(server, command)
    assert httpx.get(f"{server.api}/work_pools/sandmill", timeout=60).json()["is_paused"]
    server.prefect("work-pool", "resume", "sandmill")


def test_every_command_stands_in_a_test():
    tested = [("deployment", "run"), ("deployment", "schedule"), ("work-pool", "pause")]
    tested += [("flow-run", word) for word in ("ls", "logs", "cancel", "retry")]
    assert {tuple(command.words[1:3]) for command in COMMANDS} <= set(tested)
