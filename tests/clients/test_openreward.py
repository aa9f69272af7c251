"""OpenReward's SDK as client of a real server: lists, whole episodes, fresh tasks, a server that stops in a run."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from sandmill.sandbox.agent_env import create_agent_env
from sandmill.store.release import StoredRelease, load
from tests.servers import TOKEN, Command


@pytest.fixture(scope="module")
def release(small_release: str) -> StoredRelease:
    return load(small_release)


@pytest.fixture(scope="module")
def seen(run_client: Callable[..., Any], release: StoredRelease, tmp_path_factory) -> Iterator[dict[str, Any]]:
    create_agent_env()
    folder: Path = tmp_path_factory.mktemp("openreward")
    solutions = {name: release.files("private", name)["solution.py"].decode() for name in release.task_ids}
    (folder / "solutions.json").write_text(json.dumps(solutions))
    server = Command(folder / "server", "--ors", "--grace", "0", release.ref).wait()
    try:
        pid = server.process.pid
        yield run_client("openreward", "check_openreward.py", server.address, TOKEN, folder / "solutions.json", pid)
    finally:
        server.end()


def test_all_tasks_are_listed_by_split(seen, release):
    numbers = {split: len(release.select(split=split)) for split in seen["splits"] if split != "train-endless"}
    assert seen["numbers"] == numbers | {"train-endless": 2**31 - 1}
    assert sorted(spec["task_id"] for spec in seen["specs"]) == sorted(release.task_ids)
    assert all(set(spec) == {"task_id", "split", "index", "release"} for spec in seen["specs"])
    assert seen["variant"] == seen["splits"]


def test_an_endless_split_gives_equal_tasks_for_equal_places(seen):
    assert seen["same"] is True
    assert len({spec["task_id"] for spec in seen["endless"]}) == 2


def test_sessions_at_once_play_to_a_single_reward(seen, release):
    for spec, episode in zip((*seen["specs"], seen["endless"][0]), seen["played"], strict=True):
        assert episode["messages"] == [{"role": "user", "content": episode["prompt"]}]
        assert episode["tools"] == seen["tools"] == ["run_code", "submit", "finish"]
        assert "hello   you" in episode["texts"][0]
        assert "Valid submission." in episode["texts"][2]
        assert episode["before"] == 3 * [[None, False]]
        reward, finished, metadata = episode["last"]
        assert (finished, metadata["task_id"], metadata["release"]) == (True, spec["task_id"], release.ref)
        assert sum(metadata["reward_parts"].values()) == pytest.approx(reward)
        assert 0.3 < reward <= 1
        assert episode["wrong"] == ["not_found", "input_validation", "episode_finished"]
    for spec, episode in zip(seen["specs"], seen["played"], strict=False):
        assert release.prompt(spec["task_id"]).strip() in episode["prompt"]


def test_the_sdk_knows_what_is_not_offered(seen):
    assert (seen["terminal"], seen["groups"]) == (None, False)


def test_a_server_that_stops_is_an_error_of_the_call_and_no_reward(seen):
    first, second = seen["stopped"]
    assert first.startswith("ToolFailed: ")
    assert "no reward" in first
    assert second.startswith("SessionTerminatedError: ")


def test_no_message_holds_anything_private(seen, release):
    text = json.dumps(seen)
    for task_id in release.task_ids:
        files = release.files("private", task_id)
        rows = [*files["answers.csv"].decode().splitlines()[1:], *files["leaderboard.csv"].decode().splitlines()]
        assert [row for row in rows if row in text] == []
