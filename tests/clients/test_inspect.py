"""Inspect with its mock model: scores, masked rollouts, limits, and nothing private in its logs."""

from collections.abc import Callable
from typing import Any

import pytest

from sandmill.sandbox.agent_env import create_agent_env
from sandmill.store.release import load


@pytest.fixture(scope="module")
def seen(run_client: Callable[..., Any], small_release: str) -> dict[str, Any]:
    return run_client("inspect", "check_inspect.py", small_release, create_agent_env().path)


def test_each_sample_has_the_reward_of_its_episode_as_score(seen, small_release):
    samples = seen["played"]["samples"]
    assert sorted(sample["task"] for sample in samples) == sorted(2 * list(load(small_release).task_ids))
    for sample in samples:
        assert sample["facts"]["ending"] == "finished"
        assert sample["score"] == pytest.approx(
            sum(value for name, value in sample["facts"].items() if name.startswith("reward/"))
        )
        assert 0.3 < sample["score"] <= 1
    # Four samples are two after the reduction over epochs.
    assert seen["played"]["scored"] == [2, 0]
    assert seen["played"]["mean"] == pytest.approx(sum(sample["score"] for sample in samples) / 4)


def test_the_agent_reads_limited_feedback_and_the_reasons_of_its_mistakes(seen):
    for sample in seen["played"]["samples"]:
        _, run, feedback, wrong_step, wrong_tool, end = sample["texts"]
        assert "valid" in run
        assert "Score:" in feedback
        assert "expected a step with a valid submission: 2" in wrong_step
        assert wrong_tool == "" or "no_such_tool" in wrong_tool
        assert end == "The episode has ended."


def test_a_model_that_repeats_a_wrong_call_does_not_run_for_ever(seen):
    (sample,) = seen["repeated"]["samples"]
    assert (sample["score"], sample["facts"]["ending"], sample["messages"]) == (0.0, "stopped", 25)


def test_an_agent_that_does_nothing_earns_nothing(seen):
    (sample,) = seen["talked"]["samples"]
    assert (sample["score"], sample["facts"]["outcome"]) == (0.0, "no_submission")


def test_a_sample_that_a_limit_of_inspect_cuts_short_is_graded(seen):
    (sample,) = seen["cut"]["samples"]
    assert sample["facts"]["ending"] == "stopped"
    assert sample["score"] > 0.3


def test_masked_rollouts_have_no_score_and_are_in_no_metric(seen):
    masked = seen["masked"]
    assert {(sample["score"], sample["reason"]) for sample in masked["samples"]} == {(None, "sandbox_failed")}
    assert (masked["scored"], masked["mean"]) == ([0, 2], None)


def test_nothing_private_is_in_the_logs_and_the_agent_sees_nothing_of_it(seen):
    assert seen["searched"]
    assert seen["leaks"] == []
    assert {tuple(sorted(sample["metadata"])) for sample in seen["played"]["samples"]} == {("release", "task_id")}


def test_another_solver_gets_the_same_tools(seen):
    (sample,) = seen["other_solver"]["samples"]
    assert sample["facts"]["ending"] == "finished"
    assert sample["score"] > 0.3


def test_the_example_of_the_documentation_runs(seen):
    assert seen["documented"] == 2 * 8
