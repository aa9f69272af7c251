"""Counted and cached executions, with a sandbox that does what the words of a script say."""

import asyncio

import pytest

from sandmill.errors import InputError
from sandmill.models.reports import Outcome
from sandmill.trainers.trl import code_reward
from sandmill_learn.executions import CACHE_FILE, Executor
from sandmill_learn.task_sets import from_release
from tests.unit.export.tiny import BROKEN, FAULT, PERFECT, SAMPLE, fenced, obey, publish_tiny


@pytest.fixture(scope="module")
def tasks(tmp_path_factory):
    folder = tmp_path_factory.mktemp("release")
    return from_release(publish_tiny(folder), cache=folder / "cache")


@pytest.fixture
def sandbox():
    return obey()


def test_equal_pairs_run_once_and_results_are_in_order(tasks, sandbox):
    executor = Executor(tasks, sandbox=sandbox)
    one, other = tasks.ids[:2]
    asked = [(one, PERFECT), (one, SAMPLE), (other, PERFECT), (one, PERFECT), (one, BROKEN)]
    found = executor.rollouts([(task_id, fenced(script)) for task_id, script in asked])
    assert [rollout.task_id for rollout in found] == [task_id for task_id, _ in asked]
    assert [rollout.grade.gap_closed for rollout in found] == [
        found[0].grade.gap_closed,
        0,
        found[2].grade.gap_closed,
        found[0].grade.gap_closed,
        None,
    ]
    assert found[0].grade.gap_closed >= 1
    assert found[4].grade.outcome is Outcome.RUNTIME_ERROR
    assert (executor.requested, executor.executed, len(sandbox.calls)) == (5, 4, 4)
    # Another text around the same script is the same script.
    assert executor.rollouts([(one, f"Hm.\n{fenced(PERFECT)}")]) == found[:1]
    assert (executor.requested, executor.executed, len(sandbox.calls)) == (6, 4, 4)


def test_a_later_process_finds_the_same_rollouts_on_disk(tasks, sandbox, tmp_path):
    pairs = [(task_id, fenced(script)) for task_id in tasks.ids for script in (PERFECT, SAMPLE, BROKEN)]
    first = Executor(tasks, cache=tmp_path, sandbox=sandbox).rollouts(pairs)
    content = (tmp_path / CACHE_FILE).read_bytes()
    # The last of nine lines is torn, as by a kill.
    (tmp_path / CACHE_FILE).write_bytes(content[:-20])
    again = Executor(tasks, cache=tmp_path, sandbox=sandbox)
    found = again.rollouts(pairs)
    assert again.executed == 1
    assert [rollout.grade for rollout in found] == [rollout.grade for rollout in first]
    assert [rollout.steps for rollout in found] == [rollout.steps for rollout in first]
    assert found[0].steps[0].code.strip() == PERFECT
    assert Executor(tasks, cache=tmp_path, sandbox=sandbox).rollouts(pairs) == found
    # Another time limit is another run.
    other = Executor(tasks, cache=tmp_path, timeout=5, sandbox=sandbox)
    other.rollouts(pairs[:1])
    assert other.executed == 1


def test_a_fault_of_the_sandbox_is_masked_and_tried_again_next_time(tasks, sandbox, tmp_path):
    executor, pair = Executor(tasks, cache=tmp_path, sandbox=sandbox), (tasks.ids[0], fenced(FAULT))
    for times in (1, 2):
        assert executor.rollouts([pair, pair])[1].mask
        assert (executor.executed, executor.masked, executor.requested) == (0, times, 2 * times)
    assert not (tmp_path / CACHE_FILE).exists()


def test_an_answer_without_code_is_no_execution(tasks, sandbox):
    executor = Executor(tasks, sandbox=sandbox)
    (found,) = executor.rollouts([(tasks.ids[0], "I do not know.")])
    assert found.grade.outcome is Outcome.NO_CODE
    assert (executor.requested, executor.executed, found.mask) == (1, 0, False)


def test_an_unknown_task_is_an_error_before_anything_runs(tasks, sandbox):
    executor = Executor(tasks, sandbox=sandbox)
    with pytest.raises(InputError, match="expected a task of this set"):
        executor.rollouts([(tasks.ids[0], fenced(PERFECT)), ("unknown", fenced(PERFECT))])
    assert not sandbox.calls


def test_progress_counts_distinct_answers_and_coroutines_give_the_same(tasks, sandbox):
    seen = []
    executor = Executor(tasks, sandbox=sandbox, on_progress=lambda *numbers: seen.append(numbers))
    pairs = [(tasks.ids[0], fenced(PERFECT)), (tasks.ids[0], fenced(SAMPLE)), (tasks.ids[0], fenced(PERFECT))]
    found = asyncio.run(executor.arollouts(pairs))
    assert seen == [(1, 2), (2, 2)]
    assert executor.rollouts(pairs) == found


@pytest.mark.parametrize("is_counted", [True, False])
def test_the_reward_function_of_trl_takes_an_executor_or_a_set_of_tasks(tasks, sandbox, is_counted):
    executor = Executor(tasks, sandbox=sandbox)
    logged = {}
    reward = (
        code_reward(executor, reward="partial-credit-grpo")
        if is_counted
        else code_reward(tasks, sandbox=sandbox, reward="partial-credit-grpo")
    )
    answers = [[{"role": "assistant", "content": fenced(script)}] for script in (PERFECT, FAULT, SAMPLE, PERFECT)]
    found = reward([None] * 5, [*answers, "no code"], [tasks.ids[0]] * 5, log_metric=logged.__setitem__)
    assert found == [1, None, 0, 1, -0.5]
    assert logged.items() >= {"sandmill/valid_rate": 3 / 5, "sandmill/masked_rate": 1 / 5}.items()
    assert executor.executed == (2 if is_counted else 0)
