"""vf-eval and vf-validate with a scripted model: rewards, masked rollouts, limits, and nothing private in traces."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from sandmill.sandbox.agent_env import create_agent_env
from sandmill.store.release import load


@pytest.fixture(scope="module")
def seen(run_client: Callable[..., Any], small_release: str) -> dict[str, Any]:
    return run_client("verifiers", "check_verifiers.py", small_release, create_agent_env().path)


def test_each_rollout_has_the_reward_of_its_final_submission(seen, small_release):
    earned = _earned(small_release)
    assert sorted(trace["task"] for trace in seen["played"]) == sorted(2 * list(earned))
    for trace in seen["played"]:
        assert (trace["ok"], trace["errors"], trace["stop"]) == (True, [], "agent_completed")
        reward, gap = earned[trace["task"]]
        assert trace["rewards"] == {"reward": pytest.approx(reward, abs=1e-3)}
        measured = {"gap_closed": pytest.approx(gap, abs=1e-3), "valid_submission": 1.0}
        parts = {"reward/ladder": pytest.approx(reward, abs=1e-3), "reward/gap": 0.0}
        assert trace["metrics"] == measured | parts
        assert trace["info"].items() >= {"task_id": trace["task"], "release": load(small_release).ref}.items()
    assert len({trace["info"]["episode_id"] for trace in seen["played"]}) == len(seen["played"])


def test_the_model_gets_three_tools_and_no_machine(seen):
    (trace, *_) = seen["played"]
    assert trace["tools"] == ["finish", "run_code", "submit"]
    assert trace["runtime"] == "subprocess"
    assert seen["needs_container"] is False


def test_a_row_holds_the_task_the_release_and_the_prompt(seen):
    assert {tuple(trace["row"]) for trace in seen["played"]} == {("prompt", "release", "task_id")}


def test_a_rollout_that_a_limit_cuts_short_is_graded(seen):
    (trace,) = seen["cut"]
    assert (trace["ok"], trace["errors"], trace["stop"]) == (True, [], "max_turns")
    assert trace["rewards"]["reward"] > 0.3


def test_an_agent_that_does_nothing_earns_nothing(seen):
    (trace,) = seen["talked"]
    assert (trace["ok"], trace["rewards"], trace["metrics"]["valid_submission"]) == (True, {"reward": 0.0}, 0.0)


def test_a_masked_rollout_is_tried_again_and_then_fails_without_a_reward(seen):
    (trace,) = seen["masked"]
    assert (trace["ok"], trace["errors"], trace["rewards"]) == (False, 2 * ["SandboxError"], {})


def test_the_reference_beats_the_sample_and_an_untouched_task_earns_nothing(seen):
    summary = seen["validated"]
    assert (summary["total"], summary["outcomes"]["valid"], summary["valid_rate"]) == (2, 2, 1.0)


def test_a_task_that_another_harness_played_is_not_scored(seen):
    assert "another harness" in seen["refused"]


def test_the_command_of_the_documentation_is_understood(seen):
    assert seen["documented"] == {"split": ["train"], "runtime": "subprocess", "rollouts": 8}


def test_nothing_private_is_in_traces_or_logs_and_the_agent_sees_nothing_of_it(seen):
    assert seen["searched"]
    assert seen["leaks"] == []


def _earned(reference: str) -> dict[str, tuple[float, float]]:
    """Return the reward `ladder` of the reference solution of each task and the share of the gap that it closes.

    Both follow from the score that calibration measured.
    """
    release, earned = load(reference), {}
    for task_id in release.task_ids:
        found = release.record(task_id).calibration
        (final,) = [script.final for script in found.scripts if script.file == "solution.py"]
        medals = found.thresholds.bronze, found.thresholds.silver, found.thresholds.gold
        gaps = (np.array([final, *medals]) - found.trivial) / (found.oracle - found.trivial)
        reward = np.interp(gaps[0], [0.0, *gaps[1:], 1.0], [0.0, 0.2, 0.4, 0.8, 1.0])
        earned[task_id] = float(reward), float(gaps[0])
    return earned
