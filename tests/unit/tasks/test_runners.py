import socket

import pytest
from prefect.settings import PREFECT_API_URL, temporary_settings
from prefect.task_runners import ThreadPoolTaskRunner
from pydantic import ValidationError

import tasks.runners
from sandmill.errors import RequestError
from sandmill.models.request import BuildRequest, RunSettings
from sandmill.pipeline.plan import plan_build
from sandmill.pipeline.run import build_shard, plan_round
from tasks.runners import name_machine, open_runner, runner_problems
from tests.designs import bundled_seeds


@pytest.fixture
def installed(monkeypatch):
    """As if the extra were installed."""
    monkeypatch.setattr(tasks.runners, "find_spec", lambda name: name)


@pytest.fixture
def cluster(installed, monkeypatch):
    """A cluster of the given machines."""

    def of(*machines: str) -> None:
        monkeypatch.setattr(tasks.runners, "look_at_cluster", lambda address: list(machines))

    return of


def _text(settings: RunSettings) -> str:
    return "\n".join(map(str, runner_problems(settings)))


@pytest.mark.parametrize("runner", ["threads", "dask", "dask:tcp://10.0.0.1:8786"])
def test_runners_are_named_with_or_without_an_address(runner):
    assert RunSettings(task_runner=runner).task_runner == runner


@pytest.mark.parametrize("runner", ["", "threads:4", "dask: "])
def test_an_unknown_runner_is_refused(runner):
    with pytest.raises(ValidationError, match="must be threads, dask or"):
        RunSettings(task_runner=runner)


def test_threads_need_nothing_and_share_the_workers_of_the_process():
    assert runner_problems(RunSettings()) == []
    with open_runner(RunSettings(workers=5)) as runner:
        assert isinstance(runner.runner, ThreadPoolTaskRunner)
        assert runner.workers == 5


def test_a_missing_extra_is_named_with_the_command_that_installs_it(monkeypatch):
    monkeypatch.setattr(tasks.runners, "find_spec", lambda name: None)
    assert "pip install -c constraints.txt -e '.[pipeline,dask]'" in _text(RunSettings(task_runner="dask"))


def test_an_address_where_nothing_listens_is_reported_at_once(installed):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{taken.getsockname()[1]}"
    problems = runner_problems(RunSettings(task_runner=f"dask:tcp://{address}"))
    assert len(problems) == 1
    assert address in problems[0].saw


def test_a_cluster_without_workers_is_refused(cluster):
    cluster()
    assert "at least one worker" in _text(RunSettings(task_runner="dask:tcp://10.0.0.1:8786"))


def test_workers_elsewhere_need_a_store_a_secret_and_a_server_that_they_reach(cluster, tmp_path):
    cluster(name_machine(), "another")
    settings = RunSettings(task_runner="dask:tcp://10.0.0.1:8786", root="releases", secret_file=tmp_path / "key")
    with temporary_settings({PREFECT_API_URL: "http://127.0.0.1:4200/api"}):
        assert {problem.where for problem in runner_problems(settings)} == {
            "--root",
            "--secret-file",
            "PREFECT_API_URL",
        }
    shared = settings.model_copy(update={"root": "s3://bucket/releases", "secret_file": None})
    with temporary_settings({PREFECT_API_URL: "http://10.0.0.1:4200/api"}):
        assert runner_problems(shared) == []


def test_where_shards_run_changes_no_shard_and_other_code_is_refused(tmp_path):
    plan = plan_build(BuildRequest(name="micro", tasks=3), bundled_seeds())
    settings = RunSettings(root=str(tmp_path), shard_size=2)
    shards = plan_round(plan, [], settings, {})
    on_dask = settings.model_copy(update={"task_runner": "dask:tcp://10.0.0.1:8786", "shard_workers": 3})
    assert plan_round(plan, [], on_dask, {}) == shards
    with pytest.raises(RequestError, match="code version"):
        build_shard(shards[0], settings, {"answers": b"other expectations"})
