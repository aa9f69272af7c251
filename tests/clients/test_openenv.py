"""OpenEnv's server with real episodes: two sessions at once, one final reward, masked rollouts, nothing private."""

from collections.abc import Callable
from typing import Any

import pytest

from sandmill.sandbox.agent_env import create_agent_env
from sandmill.store.release import load


@pytest.fixture(scope="module")
def seen(run_client: Callable[..., Any], small_release: str) -> dict[str, Any]:
    return run_client("openenv", "check_openenv.py", small_release, create_agent_env().path)


def test_two_sessions_at_once_play_their_own_tasks(seen, small_release):
    release = load(small_release)
    assert sorted(seen["played"]) == sorted(release.task_ids)
    for task_id, episode in seen["played"].items():
        assert release.prompt(task_id).strip() in episode["prompt"]
        assert episode["state"] == {"episode_id": f"episode-{task_id}", "step_count": 4, "task_id": task_id}
        assert "Valid submission. Score:" in episode["texts"][2]


def test_the_single_reward_comes_at_the_end(seen):
    for task_id, episode in seen["played"].items():
        assert episode["begun"] == [None, False]
        assert episode["before"] == 4 * [[None, False]]
        reward, done, metadata = episode["last"]
        assert done
        assert (metadata["task_id"], metadata["mask"], metadata["truncated"]) == (task_id, False, False)
        assert sum(value for name, value in metadata.items() if name.startswith("reward/")) == pytest.approx(reward)
        assert 0.3 < reward <= 1


def test_wrong_actions_are_answered_and_cost_no_step(seen):
    for episode in seen["played"].values():
        assert "expected a step with a valid submission: 2" in episode["texts"][3]
        assert episode["wrong"] == "VALIDATION_ERROR"
        assert episode["after"][0] == "error"
        assert "a step after the end" in episode["after"][1]


def test_mistakes_without_end_end_the_episode(seen):
    reward, metadata = seen["mistakes"]["last"]
    assert (seen["mistakes"]["number"], reward, metadata["truncated"]) == (12, 0.0, True)


def test_a_masked_rollout_has_no_reward_and_the_session_goes_on(seen):
    reward, done, metadata = seen["masked"]["step"]
    assert (reward, done, metadata["mask"]) == (None, True, True)
    assert seen["masked"]["again"] is False


def test_tasks_can_be_listed_and_chosen_by_index(seen, small_release):
    ids = load(small_release).task_ids
    assert (seen["tasks"], seen["task"]) == (2, {"id": ids[1], "index": 1})
    assert seen["http"] == {"task_id": ids[1]}
    assert {"kind", "code", "step"} <= set(seen["schema"])


def test_idle_sessions_are_closed(seen):
    assert seen["timeout"] == 1800


def test_no_message_holds_anything_private(seen):
    assert seen["leaks"] == []


def test_the_example_of_the_documentation_runs(seen):
    assert seen["documented"] is True
