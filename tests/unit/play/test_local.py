"""The backend `local`: a plain process of the interpreter that runs, for samples, and never for trainers."""

import asyncio
import sys

import pytest

import sandmill
from sandmill.errors import InputError
from sandmill.models.reports import Outcome
from sandmill.models.rollout import Rollout
from sandmill.models.run import Isolation
from sandmill.play import task as play_task
from sandmill.rewards import get_reward
from sandmill.sandbox import AsyncSandbox, Sandbox, agent_env
from sandmill.sandbox import sandbox as sandbox_module
from sandmill.trainers.episode import SyncEpisode, score_script
from tests.unit.play.runner import PreparedRunner, result_of

COPY = "import shutil; shutil.copy('public/sample_submission.csv', 'submission.csv')"


@pytest.fixture(autouse=True)
def no_agent_env(monkeypatch, tmp_path):
    """A machine on which nothing was set up."""
    monkeypatch.setenv("SANDMILL_AGENT_ENV", str(tmp_path / "none"))
    play_task.shared_sandbox.cache_clear()
    yield
    play_task.shared_sandbox.cache_clear()


@pytest.fixture
def unsafe():
    with Sandbox("local", allow_unsafe=True) as box:
        yield box


def test_code_runs_by_the_interpreter_of_this_process_without_an_agent_environment(unsafe, task):
    result = unsafe.run(f"import sys; print(sys.executable); {COPY}", public=task / "public")
    assert (result.outcome, result.isolation) == (Outcome.OK, Isolation.NONE), result
    assert result.stdout.strip() == sys.executable


def test_it_is_refused_for_any_code_unless_that_is_said(task):
    with pytest.raises(InputError, match="allow_unsafe=True"):
        Sandbox("local")
    with pytest.raises(InputError, match="allow_unsafe=True"):
        AsyncSandbox("local")


def test_rollouts_say_how_their_scripts_were_isolated(unsafe, task):
    with sandmill.SyncMLEnv(sandmill.open_task(task), sandbox=AsyncSandbox.over(unsafe)) as env:
        env.reset()
        env.step(sandmill.Act.run(COPY))
        env.step(sandmill.Act.finish())
    assert env.rollout.isolation is Isolation.NONE
    assert Rollout.model_validate_json(env.rollout.model_dump_json()).isolation is Isolation.NONE
    for isolation in (Isolation.WARM, None):
        runner = PreparedRunner([result_of().model_copy(update={"isolation": isolation})] if isolation else [])
        with sandmill.SyncMLEnv(sandmill.open_task(task), sandbox=runner) as env:
            env.reset()
            if isolation:
                env.step(sandmill.Act.run(COPY))
            env.step(sandmill.Act.finish())
        assert env.rollout.isolation is isolation


def test_no_trainer_adapter_accepts_it(unsafe, task):
    given = AsyncSandbox.over(unsafe)
    opened = sandmill.open_task(task, sandbox=given)

    class Tasks:
        def task(self, task_id):
            return opened

    for env in (sandmill.MLEnv(opened), sandmill.MLEnv(sandmill.open_task(task), sandbox=given)):
        with pytest.raises(InputError, match="isolation: saw none"):
            SyncEpisode(env)
    with pytest.raises(InputError, match="isolation: saw none"):
        asyncio.run(score_script(Tasks(), opened.id, COPY, reward=get_reward("ladder"), timeout=5))


def test_the_agent_environment_is_made_at_first_use_and_says_so_first(monkeypatch, capsys):
    made = []
    monkeypatch.setattr(sandbox_module, "missing_for", lambda _: ())
    monkeypatch.setattr(agent_env, "_make", lambda draft, has_torch: made.append(capsys.readouterr().err))
    with pytest.raises(FileNotFoundError):
        play_task.shared_sandbox()
    assert "about 1 GB" in made[0]


def test_a_long_installation_says_how_far_it_is(monkeypatch, tmp_path):
    monkeypatch.setattr(agent_env, "_TELL_S", 0.01)
    (tmp_path / "library").write_bytes(bytes(3_000_000))
    told = []
    with agent_env._growth(tmp_path, 2, told.append):
        while not told:
            pass
    assert told[0].startswith("  3 MB of about 2000")
