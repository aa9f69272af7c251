"""The Open Reward Standard: lists, sessions and their ends, over a box that obeys words instead of running Python."""

import json
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI

import sandmill
from sandmill.errors import InputError
from sandmill.models.names import split_fresh_id
from sandmill.serve.ors import add_routes
from sandmill.serve.settings import SessionSettings
from sandmill.serve.tasks import ServedTasks
from sandmill.store.release import load
from tests.processes import wait_until
from tests.publishing import published
from tests.servers import TOKEN, Site
from tests.unit.serve.test_scores import right_answers

SESSION = {"X-Session-ID": "session-1"}


@pytest.fixture(scope="module")
def answers(release, tmp_path_factory) -> str:
    """A line that submits what is valid for the first task."""
    folder = load(release).pull(tmp_path_factory.mktemp("pulled"))[0]
    return "submit " + right_answers(folder).replace("\n", "\\n")


@pytest.fixture
def site(open_site, release) -> Site:
    return open_site(release, sessions=SessionSettings(most=2))


def listen_to(site: Site, path: str, body: Any, headers: dict[str, str]) -> list[tuple[str, str]]:
    """Post, and return the events of the reply."""
    response = site.begin("POST", path, body, {"Authorization": "", "X-API-Key": TOKEN} | headers).getresponse()
    text = response.read().decode()
    assert response.status == 200, text
    assert response.headers["content-type"].startswith("text/event-stream")
    events = [part.split("\n") for part in text.split("\n\n") if part.startswith("event: ")]
    return [(first.removeprefix("event: "), second.removeprefix("data: ")) for first, second in events]


def call(site: Site, name: str, session: dict[str, str] = SESSION, **arguments: Any) -> Any:
    """Call a tool, and return its result; a text if the call failed."""
    first, *events = listen_to(site, "/call", {"name": name, "input": arguments}, session)
    assert first[0] == "task_id"
    if events[-1][0] == "error":
        return events[-1][1]
    return json.loads("".join(data for _, data in events))


def create(site: Site, session: dict[str, str] = SESSION, index: int = 0) -> tuple[int, Any]:
    return site.ask("POST", "/create", {"split": "train", "index": index}, session)[:2]


def test_environments_splits_and_tasks_are_listed_by_public_names(site, release):
    opened = load(release)
    assert site.ask("GET", "/list_environments")[1] == ["micro"]
    splits = site.ask("GET", "/micro/splits")[1]
    assert splits == site.ask("GET", "/splits", headers={"X-Deployment": "someone/micro"})[1]
    assert {"name": "train-endless", "type": "train"} in splits
    train = opened.select(split="train")
    assert site.ask("POST", "/MICRO/num_tasks", {"split": "train"})[1] == {"num_tasks": len(train)}
    status, body, _ = site.ask("POST", "/tasks", {"split": "train"})
    expected = [
        {"task_id": task_id, "split": "train", "index": place, "release": opened.ref}
        for place, task_id in enumerate(train)
    ]
    assert (status, body) == (200, {"tasks": expected, "env_name": "micro"})
    assert site.ask("POST", "/task_range", {"split": "train", "start": -1})[1]["tasks"] == expected[-1:]
    assert site.ask("POST", "/task", {"split": "train", "index": -1})[1]["task"] == expected[-1]
    for path, body in (("/task", {"split": "train", "index": 99}), ("/tasks", {"split": "x"}), ("/x/tasks", {})):
        assert site.ask("POST", path, body)[0] in (400, 404, 422)


def test_the_endless_split_gives_fresh_tasks_of_train_by_index(site, release):
    number = site.ask("POST", "/num_tasks", {"split": "train-endless"})[1]["num_tasks"]
    train = load(release).select(split="train")
    assert number == 2**31 - 1
    ask = {"split": "train-endless", "start": 0, "stop": 2 * len(train)}
    listed = [task["task_id"] for task in site.ask("POST", "/task_range", ask)[1]["tasks"]]
    assert len(set(listed)) == len(listed) == 2 * len(train)
    assert sorted(split_fresh_id(name)[0] for name in listed) == sorted(2 * train)
    assert listed == [task.id for _, task in zip(listed, sandmill.load(release).endless(), strict=False)]
    last = site.ask("POST", "/task", {"split": "train-endless", "index": number - 1})
    assert last[0] == 200
    assert site.ask("POST", "/tasks", {"split": "train-endless"})[0] == 400


def test_an_episode_is_played_to_its_single_reward(site, release, answers):
    assert create(site) == (200, {"sid": "session-1"})
    assert create(site)[0] == 400
    (prompt,) = site.ask("GET", "/micro/prompt", headers=SESSION)[1]
    assert prompt["type"] == "text"
    task_id = load(release).select(split="train")[0]
    assert load(release).prompt(task_id).strip() in prompt["text"]
    tools = site.ask("GET", "/micro/tools")[1]
    assert [tool["name"] for tool in tools["tools"]] == ["run_code", "submit", "finish"]

    first = call(site, "run_code", code="print hello   there\n" + answers)
    assert (first["ok"], first["output"]["reward"], first["output"]["finished"]) == (True, None, False)
    assert "hello   there" in first["output"]["blocks"][0]["text"]
    assert call(site, "jump")["reason"] == "not_found"
    assert call(site, "run_code", script="x")["reason"] == "input_validation"
    assert "Valid submission" in call(site, "submit")["output"]["blocks"][0]["text"]
    last = call(site, "finish")["output"]
    assert last["finished"] is True
    assert sum(last["metadata"]["reward_parts"].values()) == pytest.approx(last["reward"])
    assert (last["metadata"]["task_id"], last["metadata"]["ending"]) == (task_id, "finished")
    assert call(site, "submit") == {"ok": False, "error": "The episode has ended.", "reason": "episode_finished"}
    assert site.ask("POST", "/delete", headers=SESSION)[0] == 200
    assert site.ask("POST", "/ping", headers=SESSION)[0] == 410


def test_long_results_arrive_in_pieces_with_all_spaces(site):
    create(site)
    text = "".join(f"{number}{' ' * (number % 5)}" for number in range(1500))
    shown = call(site, "run_code", code=f"print {text}")["output"]["blocks"][0]["text"]
    assert text[-2000:].rstrip() in shown


def test_a_call_whose_client_went_away_can_be_asked_for_again(site):
    create(site)
    body = {"name": "run_code", "input": {"code": "sleep 1\nprint late"}}
    connection = site.begin("POST", "/call", body, SESSION)
    response = connection.getresponse()
    assert response.readline() == b"event: task_id\n"
    call_id = response.readline().decode().removeprefix("data: ").strip()
    connection.close()
    events = listen_to(site, "/call", body | {"task_id": call_id}, SESSION)
    assert "late" in events[-1][1]
    assert len(site.box.runs) == 1
    assert listen_to(site, "/call", body | {"task_id": "other"}, SESSION) == [("error", "unknown task_id")]


def test_calls_of_a_session_are_counted(site, monkeypatch):
    monkeypatch.setattr("sandmill.serve.sessions._MOST_CALLS", 2)
    create(site)
    assert [call(site, "submit")["ok"] for _ in range(2)] == [True, True]
    assert site.ask("POST", "/call", {"name": "submit"}, SESSION)[0] == 400


def test_a_failing_sandbox_is_an_error_of_the_call_and_never_a_reward(site):
    create(site)
    site.box.run = broken
    said = call(site, "run_code", code="print 1")
    assert "the sandbox failed, so the episode has no reward" in said
    assert "no space" in call(site, "finish")


def broken(*_: Any, **__: Any) -> Any:
    raise OSError(28, "no space")


def test_sessions_of_a_token_are_capped_and_a_slot_is_free_after_delete(site):
    others = [{"X-Session-ID": f"session-{number}"} for number in (2, 3)]
    assert [create(site, one)[0] for one in (SESSION, *others)] == [200, 200, 429]
    assert site.ask("POST", "/create", {"split": "train", "index": 0}, others[1])[2]["retry-after"] == "2"
    site.ask("POST", "/delete_session", headers=SESSION)
    assert create(site, others[1])[0] == 200


def test_silent_sessions_end_and_their_runs_are_killed(open_site, release):
    site = open_site(release, sessions=SessionSettings(most=1, idle_s=1.0))
    create(site)
    connection = site.begin("POST", "/call", {"name": "run_code", "input": {"code": "sleep 600"}}, SESSION)
    assert connection.getresponse().readline() == b"event: task_id\n"
    connection.close()
    assert wait_until(lambda: site.box.runs and site.service.queue.is_idle, 30)
    assert site.ask("POST", "/ping", headers=SESSION)[0] == 410
    assert create(site, {"X-Session-ID": "session-2"})[0] == 200


def test_the_wall_clock_ends_episodes_of_agents_that_never_come_back(open_site, release, answers):
    site = open_site(release, sessions=SessionSettings(wall_clock_s=2.0))
    create(site)
    call(site, "run_code", code=answers)
    time.sleep(2.0)
    late = call(site, "run_code", code=answers)["output"]
    assert (late["finished"], late["metadata"]["ending"], len(site.box.runs)) == (True, "time", 1)
    assert late["reward"] is not None


def test_episodes_wait_for_a_full_queue(open_site, release):
    site = open_site(release, concurrency=1, queue=0, sessions=SessionSettings())
    sessions = [{"X-Session-ID": f"session-{number}"} for number in range(3)]
    for one in sessions:
        create(site, one)
    with ThreadPoolExecutor(3) as pool:
        results = list(pool.map(lambda one: call(site, "run_code", one, code="sleep 0.3"), sessions))
    assert [result["ok"] for result in results] == 3 * [True]


def test_a_fresh_task_of_a_held_out_split_is_refused(site):
    spec = {"task_spec": {"task_id": "sm000000000000-fresh-1"}}
    assert site.ask("POST", "/create", spec, SESSION)[0] == 400
    assert site.ask("POST", "/create", {"task_spec": {}}, SESSION)[0] == 400


def test_without_a_token_only_this_machine_is_answered_and_no_batch(open_site, release):
    site = open_site(release, token=None, sessions=SessionSettings())
    assert site.ask("GET", "/list_environments", headers={"Authorization": ""})[0] == 200
    for host in ("evil.example", "127.evil.example", "localhost.evil.example:80"):
        assert site.ask("GET", "/list_environments", headers={"Host": host})[0] == 401
    assert site.ask("GET", "/v1/info")[0] == 401


def test_a_server_with_a_token_refuses_others(site):
    assert site.ask("GET", "/list_environments", headers={"Authorization": "", "X-API-Key": "wrong"})[0] == 401
    assert site.ask("GET", "/list_environments", headers={"Authorization": "", "X-API-Key": TOKEN})[0] == 200


def test_environments_need_releases_with_names_of_their_own(pulled, release, tmp_path):
    other = published(tmp_path / "other", range(10, 13))
    for sources, saw in ((pulled,), "saw none"), ((release, other.store.root), "each of another dataset"):
        with pytest.raises(InputError, match=saw):
            add_routes(FastAPI(), ServedTasks(list(map(str, sources))), Any)


def test_no_answer_holds_anything_private(site, release, answers, tmp_path):
    create(site)
    texts = [json.dumps(site.ask("GET", path, headers=SESSION)[1]) for path in ("/prompt", "/splits", "/tools")]
    texts.append(json.dumps(site.ask("POST", "/tasks", {"split": "train"})[1]))
    texts += [json.dumps(call(site, "run_code", code=answers)), json.dumps(call(site, "finish"))]
    folder = Path(load(release).pull(tmp_path / "pulled")[0])
    rows = (folder / "private" / "answers.csv").read_text().splitlines()[1:]
    assert [row for row in rows if any(row in text for text in texts)] == []
    assert not any(word in text for text in texts for word in ("thresholds", "oracle", "difficulty", "band"))
