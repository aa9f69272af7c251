"""The TRL environment class and reward function, without TRL: what the model, the trainer and the log see."""

import inspect
import typing
from concurrent.futures import ThreadPoolExecutor

import pytest
from pydantic import ValidationError

import sandmill
from sandmill.errors import InputError, ReleaseNotFound, SandboxUnavailable, StoreError
from sandmill.models.rollout import Action, Ending
from sandmill.play.prompt import HOW_TO_ANSWER
from sandmill.play.turns import OVER
from sandmill.trainers.episode import FAULT as FAULT_TEXT
from sandmill.trainers.trl import code_reward, environment, train_rows
from tests.unit.export.tiny import BROKEN, FAULT, PERFECT, SAMPLE, fenced, obey, publish_tiny


@pytest.fixture(scope="module")
def ref(tmp_path_factory):
    return publish_tiny(tmp_path_factory.mktemp("release"))


@pytest.fixture(scope="module")
def task_id(ref):
    return sandmill.load(ref).select(split="train")[0]


@pytest.fixture
def env(ref, task_id):
    opened = environment(ref, sandbox=obey(), max_steps=6)()
    opened.reset(task_id=task_id, prompt=[], other="column")
    return opened


@pytest.fixture(autouse=True)
def sandbox(monkeypatch):
    monkeypatch.setattr("sandmill.play.task.shared_sandbox", obey)


def tools_of(cls):
    """The public methods that TRL takes for tools, by its rule."""
    names = [name for name, _ in inspect.getmembers(cls, predicate=inspect.isfunction)]
    return [name for name in names if name not in ("reset", "get_reward") and not name.startswith("_")]


def test_the_tools_are_the_three_actions_with_types_and_described_arguments(ref):
    cls = environment(ref)
    assert tools_of(cls) == ["finish", "run_code", "submit"]
    for name in tools_of(cls):
        method = getattr(cls, name)
        hints = typing.get_type_hints(method)
        arguments = [argument for argument in inspect.signature(method).parameters if argument != "self"]
        assert hints.keys() == {*arguments, "return"}
        assert all(f"{argument}: " in method.__doc__ for argument in arguments)
        assert ("Args:" in method.__doc__) == bool(arguments)


def test_an_episode_pays_once_and_the_prompt_states_its_limits(ref, task_id):
    env = environment(ref, sandbox=obey(), max_submissions=3)()
    assert "At most 3 submissions" in env.reset(task_id=task_id)
    assert "valid" in env.run_code(PERFECT)
    assert "Submissions left: 2" in env.submit()
    assert "ended" in env.finish()
    assert env.get_reward() == env.get_reward() == 1
    assert env.rollout.ending is Ending.FINISHED
    assert env.run_code(SAMPLE) == OVER


def test_an_episode_without_finish_is_graded_when_trl_asks_for_its_reward(env):
    env.run_code(PERFECT)
    assert env.get_reward() == 1
    assert env.rollout.ending is Ending.STOPPED


def test_mistakes_of_the_model_are_texts_and_use_no_step(env):
    env.run_code(PERFECT)
    assert "expected a step with a valid submission: 1" in env.finish(step=5)
    assert "code: Input should be a valid string" in env.run_code(3)
    assert "step" in env.finish(step="two")
    env.finish(step=1)
    assert [step.action for step in env.rollout.steps] == [Action.RUN, Action.FINISH]


def test_a_fault_of_the_sandbox_is_no_reward_and_the_object_can_be_used_again(env, task_id):
    env.run_code(PERFECT)
    assert env.run_code(FAULT) == FAULT_TEXT
    assert env.submit() == FAULT_TEXT
    assert env.get_reward() is None
    assert env.rollout.mask
    env.reset(task_id=task_id)
    env.run_code(SAMPLE)
    assert env.get_reward() == 0


def test_an_unexpected_error_masks_the_rollout_and_is_logged(env, monkeypatch, caplog):
    async def fail(*arguments):
        raise RuntimeError("bug in the grader")

    env.run_code(PERFECT)
    monkeypatch.setattr("sandmill.play.task.EpisodeTask.agrade", fail)
    assert env.finish() == FAULT_TEXT
    assert env.get_reward() is None
    assert "bug in the grader" in caplog.text


def test_a_store_that_fails_at_reset_masks_the_rollout(ref, task_id, monkeypatch):
    def fail(task):
        raise StoreError("connection reset")

    monkeypatch.setattr("sandmill.play.task.EpisodeTask.public", property(fail))
    env = environment(ref, sandbox=obey())()
    assert env.reset(task_id=task_id) == FAULT_TEXT
    assert env.run_code(PERFECT) == FAULT_TEXT
    assert env.get_reward() is None


def test_mistakes_of_the_configuration_are_errors(ref, tmp_path):
    with pytest.raises(ReleaseNotFound):
        environment(tmp_path / "nothing")
    with pytest.raises(ValidationError):
        environment(ref, max_steps=0)
    env = environment(ref)()
    with pytest.raises(ReleaseNotFound, match="unknown"):
        env.reset(task_id="unknown")
    with pytest.raises(InputError, match="train_rows makes such rows"):
        env.reset(prompt=[])


def test_a_machine_that_cannot_run_code_is_told_before_training(ref, monkeypatch):
    def refuse():
        raise SandboxUnavailable("backend warm", [])

    monkeypatch.setattr("sandmill.play.task.shared_sandbox", refuse)
    for make in (environment, code_reward):
        with pytest.raises(SandboxUnavailable):
            make(ref)
        make(ref, sandbox=obey())


def test_rewards_of_completions_are_in_order_and_none_for_faults(ref, task_id):
    logged, table = {}, {}
    scripts = [PERFECT, SAMPLE, BROKEN, FAULT, PERFECT]
    answers = [[{"role": "assistant", "content": fenced(script)}] for script in scripts]
    reward = code_reward(ref, sandbox=obey())
    given = {"log_metric": logged.__setitem__, "log_extra": table.__setitem__, "other": [1] * 6}
    found = reward([None] * 6, [*answers, "no code"], [task_id] * 6, **given)
    assert found == [1, 0, 0, None, 1, 0]
    rates = {"sandmill/valid_rate": 3 / 6, "sandmill/masked_rate": 1 / 6}
    assert logged == rates | {"reward/ladder": pytest.approx(2 / 6), "reward/gap": 0}
    assert table["task_id"] == [task_id] * 6
    assert table["release"] == [sandmill.load(ref).ref] * 6
    assert len(set(table["episode_id"])) == 6
    assert (table["reward/ladder"], table["reward/gap"]) == ([1, 0, 0, 0, 1, 0], [0] * 6)


def test_completions_run_at_the_same_time(ref, task_id):
    runner = obey()
    reward = code_reward(ref, sandbox=runner)
    with ThreadPoolExecutor(4) as pool:
        calls = [pool.submit(reward, [None] * 16, [fenced(PERFECT)] * 16, [task_id] * 16) for _ in range(4)]
        assert all(call.result() == [1] * 16 for call in calls)
    assert len(runner.calls) == 64


def test_rows_have_the_prompt_that_their_use_needs(ref):
    rows = train_rows(ref, split="train")
    assert [row["task_id"] for row in rows] == list(sandmill.load(ref).select(split="train"))
    (message,) = rows[0]["prompt"]
    assert message["content"].endswith(HOW_TO_ANSWER)
    assert "Predict `late`" in message["content"]
    (short,) = train_rows(ref, tools=True, split="validation")[0]["prompt"]
    assert "Predict `late`" not in short["content"]
    assert all(name in short["content"] for name in tools_of(environment(ref)))
