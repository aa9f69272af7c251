"""The routes of the Open Reward Standard: environments, splits and tasks of releases, and sessions that play them.

Each release is an environment. A client makes a session with a task, reads its prompt, and calls tools until a result
is the last one. Results of calls are server-sent events, with comments in between while a run goes on.
"""

import asyncio
import json
import logging
import re
import time
from collections.abc import AsyncIterator, Callable, Sequence
from functools import partial
from typing import Annotated, Any
from uuid import uuid4

from fastapi import FastAPI, Header, HTTPException
from fastapi.responses import StreamingResponse
from pydantic import Field

from sandmill import __version__
from sandmill.errors import InputError, Problem, visible
from sandmill.models.base import Frozen
from sandmill.models.names import split_fresh_id
from sandmill.play.release import Release, endless_id
from sandmill.play.turns import TOOLS
from sandmill.serve.sessions import RETRY_S, EpisodeFailed, Session, Sessions, text_block
from sandmill.serve.tasks import ServedTasks

ENDLESS = "train-endless"
"""Name of the split of fresh tasks."""
_MOST_INDEX = 2**31 - 1
"""Number of tasks that an endless split reports: the largest that all clients can count to."""
_MOST_LISTED = 10_000
_BEAT_S = 5.0
"""Interval of comments in a stream, in seconds. Clients take a stream as broken after 30 s of silence."""
_CHUNK = 4096
_READY_S = 25.0
"""Longest time for which a request waits for the start of an episode, in seconds."""
_SESSION_ID = re.compile(r"[A-Za-z0-9_.-]{8,128}")
_LOG = logging.getLogger(__name__)

SessionId = Annotated[str, Header(alias="X-Session-ID")]
Deployment = Annotated[str, Header(alias="X-Deployment")]


class TaskQuery(Frozen):
    """Request for a split, for one task of it, or for a range."""

    split: str
    index: int = 0
    start: int | None = None
    stop: int | None = None


class Create(Frozen):
    """Request for an episode, of a task that was listed or at an index of a split."""

    env_name: str = ""
    task_spec: dict[str, Any] | None = None
    split: str | None = None
    index: int | None = None
    toolset_name: str | None = None


class Call(Frozen):
    """A tool call, or with `task_id` the request for the result of an earlier one."""

    name: str
    input: dict[str, Any] = Field(default_factory=dict)
    task_id: str | None = None


class Environment:
    """The tasks of one release by split and index."""

    def __init__(self, release: Release) -> None:
        self.name, self._ref = release.manifest.dataset, release.ref
        release.require_private()
        self._split_of: dict[str, str] = dict(release.facts.select("task_id", "split").sort("task_id").iter_rows())
        listed: dict[str, list[str]] = {}
        for task_id, split in self._split_of.items():
            listed.setdefault(split, []).append(task_id)
        self._splits: dict[str, tuple[range, Callable[[int], str]]] = {
            split: (range(len(ids)), ids.__getitem__) for split, ids in sorted(listed.items())
        }
        if train := listed.get("train"):
            self._splits[ENDLESS] = range(_MOST_INDEX), partial(endless_id, train)

    def splits(self) -> list[dict[str, str]]:
        """Return names and types of the splits. The standard knows three types."""
        types = {"train": "train", ENDLESS: "train", "validation": "validation"}
        return [{"name": name, "type": types.get(name, "test")} for name in self._splits]

    def count(self, split: str) -> int:
        """Return the number of tasks of a split."""
        return len(self._places(split))

    def tasks(self, split: str, start: int | None = None, stop: int | None = None) -> list[dict[str, Any]]:
        """Return the public names of a range of tasks."""
        places = self._places(split)[start:stop]
        if len(places) > _MOST_LISTED:
            raise HTTPException(400, f"{len(places)} tasks in one list; ask for ranges of at most {_MOST_LISTED}")
        return [self.task(split, place) for place in places]

    def task(self, split: str, index: int) -> dict[str, Any]:
        """Return the public name of one task. A negative index counts from the end."""
        places = self._places(split)
        if not -len(places) <= index < len(places):
            raise HTTPException(400, f"index {index} of split {split}, which has {len(places)} tasks")
        place = places[index]
        return {"task_id": self._splits[split][1](place), "split": split, "index": place, "release": self._ref}

    def task_id(self, spec: dict[str, Any]) -> str:
        """Return the id of a task that a client names. Fresh tasks of held-out splits are none."""
        named = spec.get("task_id")
        task_id, group = split_fresh_id(named) if isinstance(named, str) else ("", None)
        if task_id not in self._split_of or (group is not None and self._split_of[task_id] != "train"):
            raise HTTPException(400, f"the task is not one that {self.name} lists")
        return str(named)

    def _places(self, split: str) -> range:
        if split not in self._splits:
            raise HTTPException(400, f"unknown split; expected {', '.join(self._splits)}")
        return self._splits[split][0]


def find_environments(releases: Sequence[Release]) -> dict[str, Environment]:
    """Return the environments by name. Raises `InputError` if there are none, or two have one name."""
    found = {one.name: one for one in map(Environment, releases)}
    if not releases or len(found) < len(releases):
        saw = ", ".join(release.ref for release in releases) or "none"
        problem = Problem("releases", saw, "one release or more, each of another dataset")
        raise InputError("sandmill serve --ors", [problem], "Nothing was started.")
    return found


def _route(app: FastAPI, method: str, path: str) -> Callable[[Callable[..., Any]], None]:
    """Return a decorator that adds a route with the name of an environment before it, and without for the default."""

    def add(handler: Callable[..., Any]) -> None:
        for whole in (f"/{{env_name}}{path}", path):
            app.add_api_route(whole, handler, methods=[method], response_model=None)

    return add


def _choose(environments: dict[str, Environment], env_name: str, deployment: str = "") -> Environment:
    """Return the named environment; without a name that of the deployment, or the first."""
    named = deployment.rpartition("/")[2].lower()
    name = env_name.lower() or (named if named in environments else next(iter(environments)))
    if name not in environments:
        raise HTTPException(404, f"unknown environment; expected {', '.join(environments)}")
    return environments[name]


def add_lists(app: FastAPI, environments: dict[str, Environment]) -> None:
    """Add the routes that list environments, splits, tasks and tools."""

    @app.get("/list_environments")
    async def list_environments() -> list[str]:
        return list(environments)

    @app.get("/version")
    async def version() -> dict[str, str]:
        return {"version": __version__}

    @_route(app, "GET", "/tools")
    async def tools() -> dict[str, Any]:
        return _tools()

    @_route(app, "GET", "/splits")
    async def splits(env_name: str = "", deployment: Deployment = "") -> list[dict[str, str]]:
        return _choose(environments, env_name, deployment).splits()

    @_route(app, "POST", "/tasks")
    async def tasks(asked: TaskQuery, env_name: str = "", deployment: Deployment = "") -> dict[str, Any]:
        env = _choose(environments, env_name, deployment)
        return {"tasks": env.tasks(asked.split), "env_name": env.name}

    @_route(app, "POST", "/num_tasks")
    async def num_tasks(asked: TaskQuery, env_name: str = "", deployment: Deployment = "") -> dict[str, int]:
        return {"num_tasks": _choose(environments, env_name, deployment).count(asked.split)}

    @_route(app, "POST", "/task")
    async def task(asked: TaskQuery, env_name: str = "", deployment: Deployment = "") -> dict[str, Any]:
        env = _choose(environments, env_name, deployment)
        return {"task": env.task(asked.split, asked.index), "env_name": env.name}

    @_route(app, "POST", "/task_range")
    async def task_range(asked: TaskQuery, env_name: str = "", deployment: Deployment = "") -> dict[str, Any]:
        env = _choose(environments, env_name, deployment)
        return {"tasks": env.tasks(asked.split, asked.start, asked.stop), "env_name": env.name}


def add_sessions(app: FastAPI, environments: dict[str, Environment], tasks: ServedTasks, sessions: Sessions) -> None:
    """Add the routes that play episodes."""

    @app.post("/create_session")
    async def create_session() -> StreamingResponse:
        return _events(_plain(("task_id", uuid4().hex), ("end", "")))

    @app.post("/create")
    async def create(asked: Create, session_id: SessionId, deployment: Deployment = "") -> dict[str, str]:
        env = _choose(environments, asked.env_name, deployment)
        spec = asked.task_spec
        if spec is None and asked.split is not None and asked.index is not None:
            spec = env.task(asked.split, asked.index)
        if spec is None or asked.toolset_name or not _SESSION_ID.fullmatch(session_id):
            raise HTTPException(400, "expected X-Session-ID, task_spec or split and index, and no toolset")
        sessions.begin(session_id, await asyncio.to_thread(tasks.open, env.task_id(spec)))
        return {"sid": session_id}

    @app.post("/ping")
    async def ping(session_id: SessionId) -> dict[str, str]:
        sessions.find(session_id)
        return {"status": "ok"}

    @app.post("/delete")
    @app.post("/delete_session")
    async def delete(session_id: SessionId) -> dict[str, str]:
        await sessions.end(session_id)
        return {"sid": session_id}

    @_route(app, "GET", "/task_tools")
    async def task_tools(session_id: SessionId) -> dict[str, Any]:
        sessions.find(session_id)
        return _tools()

    @_route(app, "GET", "/prompt")
    async def prompt(session_id: SessionId) -> list[dict[str, Any]]:
        return [text_block(await _begun(sessions.find(session_id)))]

    @_route(app, "GET", "/messages")
    async def messages(session_id: SessionId) -> list[dict[str, Any]]:
        block = text_block(await _begun(sessions.find(session_id)))
        return [{"role": "user", "blocks": [block], "detail": None}]

    @_route(app, "POST", "/call")
    async def call(asked: Call, session_id: SessionId) -> StreamingResponse:
        session = sessions.find(session_id)
        await _begun(session)
        call_id = asked.task_id or session.call(asked.name, asked.input)
        if call_id is None:
            raise HTTPException(429, "too many calls of this session go on", {"retry-after": RETRY_S})
        if call_id not in session.calls:
            return _events(_plain(("error", "unknown task_id")))
        return _events(_follow(session, call_id))


async def _begun(session: Session) -> str:
    """Return the prompt of an episode when it has begun."""
    await asyncio.wait({session.ready}, timeout=_READY_S)
    if not session.ready.done():
        # The client tries again for minutes after this answer.
        headers = {"x-backend-state": "starting", "retry-after": RETRY_S}
        raise HTTPException(503, "the episode is still starting", headers)
    return session.ready.result()[0]


async def _follow(session: Session, call_id: str) -> AsyncIterator[bytes]:
    """Send the result of a call when it is there. A client that goes away can ask for it again."""
    running = session.calls[call_id]
    yield _event("task_id", call_id)
    while not running.done():
        await asyncio.wait({running}, timeout=_BEAT_S)
        session.seen = time.monotonic()
        yield b": running\n\n"
    if running.cancelled():
        yield _event("error", "the session has ended")
    elif error := running.exception():
        if not isinstance(error, EpisodeFailed):
            _LOG.error("A tool call failed in the server. This is a bug. Please report it.", exc_info=error)
        yield _event("error", str(error) if isinstance(error, EpisodeFailed) else f"failed: {type(error).__name__}")
    else:
        text = json.dumps(running.result(), separators=(",", ":"))
        pieces = [text[place : place + _CHUNK] for place in range(0, len(text), _CHUNK)]
        for piece in pieces[:-1]:
            yield _event("chunk", piece)
        yield _event("end", pieces[-1])


async def _plain(*events: tuple[str, str]) -> AsyncIterator[bytes]:
    for name, data in events:
        yield _event(name, data)


def _event(name: str, data: str) -> bytes:
    # Clients remove spaces at the start, and a line break would end the data.
    start = "\\u0020" if name in ("chunk", "end") and data.startswith(" ") else data[:1]
    return f"event: {name}\ndata: {start}{visible(data[1:])}\n\n".encode()


def _events(body: AsyncIterator[bytes]) -> StreamingResponse:
    return StreamingResponse(body, media_type="text/event-stream", headers={"Cache-Control": "no-cache"})


def _tools() -> dict[str, Any]:
    tools = [{"name": name, **facts} for name, facts in TOOLS.items()]
    blocks = ["text"]
    return {"tools": tools, "terminal_tool": None, "supports_score_group": False, "message_block_types": blocks}
