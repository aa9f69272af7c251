"""Play episodes over OpenEnv's HTTP and WebSocket. Usage: check_openenv.py RELEASE AGENT_ENV. Prints JSON."""

import json
import threading
from collections.abc import Callable
from typing import Any

from agent import SEARCH, break_sandbox, documented, leaks, reference, release
from fastapi.testclient import TestClient

from sandmill.trainers.openenv import build_app

messages: list[bytes] = []


def session(client: TestClient, play: Callable[[Callable[..., Any]], None]) -> None:
    """Open a session, and pass a function that sends one message and returns the answer."""
    with client.websocket_connect("/ws") as socket:

        def say(kind: str, data: dict[str, Any] | None = None) -> Any:
            socket.send_text(json.dumps({"type": kind} if data is None else {"type": kind, "data": data}))
            text = socket.receive_text()
            messages.append(text.encode())
            return json.loads(text)

        play(say)


def solve(client: TestClient, task_id: str, meet: threading.Barrier, seen: dict[str, Any]) -> None:
    """Play one whole episode, while the other sessions play theirs."""

    def play(say: Callable[..., Any]) -> None:
        prompt = say("reset", {"task_id": task_id, "episode_id": f"episode-{task_id}"})["data"]
        answers = [say("step", {"kind": "run", "code": SEARCH})["data"]]
        meet.wait(120)
        answers.append(say("step", {"kind": "run", "code": reference(task_id)})["data"])
        answers += [say("step", act)["data"] for act in ({"kind": "submit"}, {"kind": "finish", "step": 9})]
        state = say("state")["data"]
        meet.wait(120)
        wrong = say("step", {"kind": "jump"})["data"]
        last = say("step", {"kind": "finish"})["data"]
        after = say("step", {"kind": "submit"})
        seen[task_id] = {
            "prompt": prompt["observation"]["text"],
            "begun": [prompt["reward"], prompt["done"]],
            "before": [[answer["reward"], answer["done"]] for answer in answers],
            "texts": [answer["observation"]["text"] for answer in answers],
            "state": state,
            "wrong": wrong["code"],
            "last": [last["reward"], last["done"], last["metadata"]],
            "after": [after["type"], after["data"].get("message", "")],
        }

    session(client, play)


def play_all() -> dict[str, Any]:
    app = build_app(release.ref, sessions=2)
    played: dict[str, Any] = {}
    with TestClient(app) as client:
        ids = list(release.task_ids)[:2]
        meet = threading.Barrier(len(ids))
        threads = [threading.Thread(target=solve, args=(client, task_id, meet, played)) for task_id in ids]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        split = client.get("/sandmill/splits").json()[0]["name"]
        http = client.post("/reset", json={"index": 1}).json()
        messages.append(json.dumps(http).encode())
        return {
            "played": played,
            "tasks": client.post("/sandmill/num_tasks", json={"split": split}).json()["num_tasks"],
            "task": client.post("/sandmill/task", json={"split": split, "index": 1}).json()["task"],
            "http": http["metadata"],
            "schema": sorted(client.get("/schema").json()["action"]["properties"]),
            "timeout": timeout_of(app),
        }


def timeout_of(app: Any) -> float:
    """Return the idle time-out that the server enforces."""
    found = [
        cell.cell_contents
        for handler in app.router.on_startup
        for cell in handler.__closure__ or ()
        if hasattr(cell.cell_contents, "_session_idle_timeout_s")
    ]
    return float(found[0]._session_idle_timeout_s)


def repeat_mistakes() -> dict[str, Any]:
    """Name a step without a submission until the episode ends."""
    answers: list[Any] = []

    def play(say: Callable[..., Any]) -> None:
        say("reset", {})
        while not answers or not answers[-1]["done"]:
            answers.append(say("step", {"kind": "finish", "step": 7})["data"])

    with TestClient(build_app(release.ref)) as client:
        session(client, play)
    return {"number": len(answers), "last": [answers[-1]["reward"], answers[-1]["metadata"]]}


def play_masked() -> dict[str, Any]:
    answers: list[Any] = []

    def play(say: Callable[..., Any]) -> None:
        say("reset", {"seed": 3})
        answers.append(say("step", {"kind": "run", "code": "print(1)"})["data"])
        answers.append(say("reset", {"seed": 3})["data"])

    with TestClient(build_app(release.ref)) as client:
        session(client, play)
    return {"step": [answers[0]["reward"], answers[0]["done"], answers[0]["metadata"]], "again": answers[1]["done"]}


def try_documentation() -> bool:
    """Run the example of the documentation, for all splits: a small release has not got each."""
    names: dict[str, Any] = {}
    exec(documented("python").replace('split="train", ', ""), names)
    with TestClient(names["app"]) as client:
        return bool(client.get("/health").json() == {"status": "healthy"})


def main() -> None:
    seen = play_all() | {"mistakes": repeat_mistakes(), "documented": try_documentation()}
    break_sandbox()
    seen["masked"] = play_masked()
    seen["leaks"] = leaks(messages)
    print(json.dumps(seen))


main()
