"""Episodes of several steps, also for callers without coroutines."""

import asyncio
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from pydantic import ValidationError

import sandmill
from sandmill.errors import InputError, SandboxUnavailable
from sandmill.models.reports import Check, Outcome
from sandmill.models.rollout import Act, Ending, FeedbackStatus, Marker
from sandmill.play.env import run_sync
from sandmill.store.files import Store
from tests.docs_commands import texts
from tests.publishing import publish_splits
from tests.unit.play.runner import SAMPLE, PreparedRunner, result_of, sample_of, truth_of

INFRA = result_of(Outcome.INFRA_ERROR, detail="no descriptor")


def play(task, results, acts, **settings):
    """Do actions until the episode ends. Gives what every step returned, and the environment."""

    async def do():
        runner = PreparedRunner(results)
        async with sandmill.MLEnv(sandmill.open_task(task, sandbox=runner), **settings) as env:
            await env.reset()
            seen = []
            for act in acts:
                seen.append(await env.step(act))
                if seen[-1][2] or seen[-1][3]:
                    break
            return seen, env, runner

    return asyncio.run(do())


def test_the_last_valid_submission_is_graded_once_at_the_end(task):
    results = [result_of(submission=sample_of(task)), result_of(submission=truth_of(task)), result_of(submission=b"x")]
    seen, env, _ = play(task, results, [Act.run("1"), Act.run("2"), Act.run("3"), Act.finish()])
    assert [step[1:4] for step in seen[:-1]] == [(0.0, False, False)] * 3
    assert seen[-1][1:4] == (1.0, True, False)
    rollout = env.rollout
    assert (rollout.chosen, rollout.grade.medal, rollout.ending) == (2, "gold", Ending.FINISHED)
    assert [step.outcome for step in rollout.steps] == [Outcome.OK, Outcome.OK, Outcome.INVALID_SUBMISSION, None]
    assert (rollout.reward.total, rollout.terminated, rollout.truncated, rollout.mask) == (1.0, True, False, False)
    assert rollout.checks == tuple(Check)[:5]


def test_an_agent_may_name_the_step_that_counts(task):
    results = [result_of(submission=sample_of(task)), result_of(submission=truth_of(task))]
    _, env, _ = play(task, results, [Act.run("1"), Act.run("2"), Act.finish(1)])
    assert (env.rollout.chosen, env.rollout.grade.medal, env.rollout.reward.total) == (1, None, 0.0)


def test_only_steps_with_a_valid_submission_can_be_named(task):
    with pytest.raises(InputError, match="step: saw 1; expected a step with a valid submission: none yet"):
        play(task, [result_of(submission=b"x")], [Act.run("1"), Act.finish(1)])


def test_feedback_is_limited_and_of_the_latest_run(task):
    results = [result_of(submission=truth_of(task)), result_of(submission=sample_of(task))]
    acts = [Act.submit(), Act.run("1"), Act.submit(), Act.run("2"), Act.submit(), Act.submit()]
    seen, _, _ = play(task, results, acts, max_submissions=2)
    assert "run a script that writes submission.csv first" in seen[0][0]
    answers = [seen[number][4]["step"].feedback for number in (2, 4, 5)]
    assert [answer.status for answer in answers] == [
        FeedbackStatus.SCORED,
        FeedbackStatus.BELOW_BASELINE,
        FeedbackStatus.EXHAUSTED,
    ]
    assert "Position 1 among" in seen[2][0]


def test_nothing_of_the_final_part_is_in_an_observation(task):
    results = [result_of(submission=truth_of(task))]
    seen, env, _ = play(task, results, [Act.run("1"), Act.submit(), Act.finish()])
    assert seen[-1][0] == "The episode has ended."
    score = str(env.rollout.grade.score)
    thresholds = [str(value) for value in env.rollout.grade.thresholds.model_dump().values()]
    assert not any(number in text for text, *_ in seen for number in [score, *thresholds] if len(number) > 4)
    for text, *_, info in seen[:-1]:
        assert "rollout" not in info
        assert "gap" not in text


@pytest.mark.parametrize(
    ("results", "acts", "ending", "settings"),
    [
        (2, [Act.run("1")] * 2, Ending.STEPS, {"max_steps": 2}),
        (1, [Act.run("1")] * 2, Ending.TIME, {"time_budget": 5.0}),
    ],
)
def test_limits_truncate_an_episode_and_what_is_there_counts(task, results, acts, ending, settings):
    prepared = [result_of(submission=truth_of(task), duration_s=6.0)] * results
    seen, env, _ = play(task, prepared, acts, **settings)
    assert len(seen) == results
    assert seen[-1][1:4] == (1.0, False, True)
    assert (env.rollout.ending, env.rollout.truncated) == (ending, True)


def test_runs_share_the_time_budget(task):
    results = [result_of(Outcome.TIMEOUT, duration_s=7.0), result_of(submission=truth_of(task), duration_s=2.5)]
    _, env, runner = play(task, results, [Act.run("1"), Act.run("2"), Act.finish()], time_budget=10.0, timeout=7.0)
    assert [call[3] for call in runner.calls] == [7.0, 3.0]
    assert env.rollout.reward.total == 1.0


class HangingRunner(PreparedRunner):
    """Answers prepared results, then never again. Remembers whether the hanging run was cancelled."""

    is_cancelled = False

    async def run(self, code, **settings):
        if code != "hang":
            return await super().run(code, **settings)
        self.calls.append((code, None, None, settings["timeout"]))
        try:
            await asyncio.Event().wait()
        finally:
            self.is_cancelled = True


async def begun(task, runner_of=PreparedRunner, **settings):
    """Give an environment in which a first run has submitted the truth, and its runner."""
    runner = runner_of([result_of(submission=truth_of(task))])
    env = sandmill.MLEnv(sandmill.open_task(task, sandbox=runner), **settings)
    await env.reset()
    await env.step(Act.run("1"))
    return env, runner


def test_a_sandbox_that_hangs_masks_the_rollout_at_the_wall_clock(task):
    async def do():
        env, runner = await begun(task, HangingRunner, wall_clock=1.0)
        return await asyncio.wait_for(env.step(Act.run("hang")), 60), env, runner

    (_, reward, terminated, truncated, info), env, runner = asyncio.run(do())
    assert (reward, terminated, truncated, info["mask"]) == (0.0, False, True, True)
    assert (env.rollout.ending, env.rollout.mask, runner.is_cancelled) == (Ending.INFRA, True, True)
    assert len(runner.calls) == 2
    assert runner.calls[1][3] < 0.9


def test_an_agent_that_never_comes_back_is_graded_on_what_is_there(task):
    async def do():
        env, runner = await begun(task, wall_clock=1.0)
        while env.rollout is None:
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.01)
        late = [await env.step(act) for act in (Act.run("2"), Act.finish())]
        return env, runner, late

    env, runner, late = asyncio.run(asyncio.wait_for(do(), 60))
    assert (env.rollout.ending, env.rollout.reward.total, len(runner.calls)) == (Ending.TIME, 1.0, 1)
    for text, reward, terminated, truncated, info in late:
        assert text == "The episode has ended, because its 1 seconds of wall time are over."
        assert (reward, terminated, truncated) == (1.0, False, True)
        assert info["rollout"] is env.rollout


def test_without_a_wall_clock_runs_keep_their_time_and_the_episode_has_an_hour_more(task):
    _, env, runner = play(task, [result_of()], [Act.run("1")], time_budget=90000.0, timeout=80000.0)
    assert (env.limits.longest_s, env.limits.closing_s, runner.calls[0][3]) == (93600.0, 10.0, 80000.0)


def test_a_trainer_can_stop_an_episode(task):
    async def do():
        env, _ = await begun(task)
        first = await env.stop()
        return first, await env.stop(), env

    first, second, env = asyncio.run(do())
    assert first is second is env.rollout
    assert (first.ending, first.reward.total) == (Ending.STOPPED, 1.0)


@pytest.mark.parametrize("fault", [INFRA, SandboxUnavailable("sandbox", []), OSError(24, "too many open files")])
def test_a_fault_of_the_sandbox_masks_the_rollout_and_raises_nothing(task, fault):
    seen, env, runner = play(task, [result_of(submission=truth_of(task)), fault, fault, fault], [Act.run("1")] * 2)
    assert len(runner.calls) == 4
    assert seen[-1][1:4] == (0.0, False, True)
    assert (env.rollout.mask, env.rollout.ending, env.rollout.grade) == (True, Ending.INFRA, None)
    assert env.rollout.reward.mask
    assert env.rollout.reward.parts == {}


def test_a_fault_that_passes_is_not_seen(task):
    seen, env, _ = play(
        task, [INFRA, OSError(24, "x"), result_of(submission=truth_of(task))], [Act.run("1"), Act.finish()]
    )
    assert (seen[-1][1], env.rollout.mask, len(env.rollout.steps)) == (1.0, False, 2)


@pytest.mark.parametrize("outcome", [Outcome.TIMEOUT, Outcome.OOM, Outcome.RUNTIME_ERROR, Outcome.TAMPER])
def test_failures_of_the_agent_are_no_faults(task, outcome):
    _, env, _ = play(task, [result_of(outcome, submission=truth_of(task))], [Act.run("1"), Act.finish()])
    assert (env.rollout.mask, env.rollout.reward.total, env.rollout.grade.outcome) == (False, 0.0, outcome)


def test_the_scratch_folder_lives_as_long_as_the_episode(task):
    _, _, runner = play(task, [result_of(), result_of()], [Act.run("1"), Act.run("2"), Act.finish()])
    first, second = (call[2] for call in runner.calls)
    assert first == second
    assert not first.exists()


def test_steps_out_of_place_are_refused(task):
    async def before():
        await sandmill.MLEnv(sandmill.open_task(task)).step(Act.finish())

    async def after():
        env = sandmill.MLEnv(sandmill.open_task(task, sandbox=PreparedRunner([])))
        await env.reset()
        for _ in range(2):
            await env.step(Act.finish())

    with pytest.raises(InputError, match="a step before reset"):
        asyncio.run(before())
    with pytest.raises(InputError, match="a step after the end"):
        asyncio.run(after())


def test_bad_settings_are_refused(task):
    opened = sandmill.open_task(task)
    with pytest.raises(InputError, match="preset"):
        sandmill.MLEnv(opened, reward="best")
    with pytest.raises(ValidationError, match="max_steps"):
        sandmill.MLEnv(opened, max_steps=0)
    with pytest.raises(ValidationError, match="max_stps"):
        sandmill.MLEnv(opened, max_stps=3)


def test_the_prompt_states_the_limits_of_the_episode(task):
    async def do():
        opened = sandmill.open_task(task, sandbox=PreparedRunner([]))
        return await sandmill.MLEnv(opened, timeout=12, max_submissions=4).reset()

    prompt, info = asyncio.run(do())
    assert "| wall time | 12 s |" in prompt
    assert "At most 4 submissions" in prompt or "4 submissions are scored" in prompt
    assert info == {"task_id": task.name}


def test_long_outputs_are_shortened_in_the_middle(task):
    stderr = "first line\n" + "x" * 20_000 + "\nValueError: last line"
    seen, _, _ = play(task, [result_of(Outcome.RUNTIME_ERROR, stderr=stderr)], [Act.run("1")])
    assert len(seen[0][0]) < 5000
    assert "first line" in seen[0][0]
    assert "ValueError: last line" in seen[0][0]
    assert "characters left out]" in seen[0][0]


def printing(code, public):
    """Run the script in a process of its own, with what it prints as standard output."""
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return result_of(Outcome.NO_SUBMISSION, stdout=ran.stdout)


def test_markers_are_recorded_and_not_shown(task):
    code = "import json\nprint('mine')\n"
    seen, env, runner = play(task, printing, [Act.run(code), Act.finish()], instrument=True)
    assert runner.calls[0][0] != code
    step = env.rollout.steps[0]
    assert (step.code, step.stdout, step.markers) == (code, "mine\n", (Marker.IMPORTS,))
    assert "<" not in seen[0][0]


def test_calls_of_several_threads_run_at_the_same_time():
    met = threading.Barrier(3, timeout=10)

    async def meet():
        await asyncio.to_thread(met.wait)

    with ThreadPoolExecutor(2) as pool:
        others = pool.map(lambda _: run_sync(meet()), range(2))
        run_sync(meet())
    assert list(others) == [None, None]


def test_a_call_works_inside_the_event_loop_of_a_notebook():
    async def cell():
        return run_sync(asyncio.sleep(0, "done"))

    assert asyncio.run(cell()) == "done"


def test_the_episode_of_the_readme_runs_as_pasted(tmp_path, monkeypatch):
    """In a plain Python file, without an event loop."""
    publish_splits(Store(str(tmp_path / "releases/micro")), {0: "train"})
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SANDMILL_CACHE", str(tmp_path / "cache"))
    runner = PreparedRunner(lambda code, public: result_of(submission=(public / SAMPLE).read_bytes()))
    monkeypatch.setattr("sandmill.play.task.shared_sandbox", lambda: runner)
    (code,) = (text for text in texts("README.md", "python") if "SyncMLEnv" in text)
    found: dict[str, Any] = {}
    exec(code, found)
    assert len(runner.calls) == 1
    assert found["env"].rollout.terminated
    assert (found["terminated"], found["info"]["rollout"]) == (True, found["env"].rollout)
