"""The routes of the Open Reward Standard: environments, splits and tasks of releases, and sessions that play them.

Each release is an environment. A client makes a session with a task, reads its prompt, and calls tools until a result
is the last one. Results of calls are server-sent events, with comments in between while a run goes on.
"""

import asyncio
import json
import logging
import time
from collections.abc import AsyncIterator, Callable
from functools import partial
from typing import Annotated, Any
from uuid import uuid4

from fastapi import APIRouter, Depends, FastAPI, Header, HTTPException, Request, Response
from fastapi.responses import StreamingResponse
from pydantic import Field

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
_EVENTS = "text/event-stream"
_READY_S = 25.0
"""Longest time for which a request waits for the start of an episode, in seconds."""
_LOG = logging.getLogger(__name__)


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

    def tasks(self, split: str, start: int | None = None, stop: int | None = None) -> list[dict[str, Any]]:
        """Return the public names of a range of tasks."""
        places = self.places(split)[start:stop]
        if len(places) > _MOST_LISTED:
            raise HTTPException(400, f"{len(places)} tasks in one list; ask for ranges of at most {_MOST_LISTED}")
        return [self.task(split, place) for place in places]

    def task(self, split: str, index: int) -> dict[str, Any]:
        """Return the public name of one task. A negative index counts from the end."""
        places = self.places(split)
        try:
            place = places[index]
        except IndexError:
            raise HTTPException(400, f"index {index} of split {split}, which has {len(places)} tasks") from None
        return {"task_id": self._splits[split][1](place), "split": split, "index": place, "release": self._ref}

    def task_id(self, spec: dict[str, Any]) -> str:
        """Return the id of a task that a client names. Fresh tasks of held-out splits are none."""
        named = spec.get("task_id")
        task_id, group = split_fresh_id(named) if isinstance(named, str) else ("", None)
        if task_id not in self._split_of or (group is not None and self._split_of[task_id] != "train"):
            raise HTTPException(400, f"the task is not one that {self.name} lists")
        return str(named)

    def places(self, split: str) -> range:
        """Return the indices of a split. Raises `HTTPException` if there is no such split."""
        if split not in self._splits:
            raise HTTPException(400, f"unknown split; expected {', '.join(self._splits)}")
        return self._splits[split][0]


def _choose(request: Request, env_name: str = "", x_deployment: Annotated[str, Header()] = "") -> Environment:
    """Return the named environment; without a name that of the deployment, or the first."""
    environments: dict[str, Environment] = request.app.state.environments
    deployment = x_deployment.rpartition("/")[2].lower()
    name = env_name.lower() or (deployment if deployment in environments else next(iter(environments)))
    if name not in environments:
        raise HTTPException(404, f"unknown environment; expected {', '.join(environments)}")
    return environments[name]


def _find(request: Request, x_session_id: Annotated[str, Header()]) -> Session:
    """Return the session of a request."""
    sessions: Sessions = request.app.state.sessions
    return sessions.find(x_session_id)


Chosen = Annotated[Environment, Depends(_choose)]
Current = Annotated[Session, Depends(_find)]
_server, _of_environment = APIRouter(), APIRouter()


def add_routes(app: FastAPI, tasks: ServedTasks, sessions: Sessions) -> None:
    """Add the routes to a server. Paths without the name of an environment are for the default.

    Raises `InputError` if there is no release, or two have one name, and `AccessDenied` if a release cannot be graded.
    """
    environments = {one.name: one for one in map(Environment, tasks.releases)}
    if not environments or len(environments) < len(tasks.releases):
        saw = ", ".join(release.ref for release in tasks.releases) or "none"
        problem = Problem("releases", saw, "one release or more, each of another dataset")
        raise InputError("sandmill serve --ors", [problem], "Nothing was started.")
    app.state.environments, app.state.tasks, app.state.sessions = environments, tasks, sessions
    app.include_router(_server)
    app.include_router(_of_environment)
    app.include_router(_of_environment, prefix="/{env_name}")


@_server.get("/list_environments")
async def _list_environments(request: Request) -> list[str]:
    return list(request.app.state.environments)


@_of_environment.get("/tools")
async def _tools() -> dict[str, Any]:
    tools = [{"name": name, **facts} for name, facts in TOOLS.items()]
    facts = {"terminal_tool": None, "supports_score_group": False, "message_block_types": ["text"]}
    return {"tools": tools, **facts}


@_of_environment.get("/splits")
async def _splits(env: Chosen) -> list[dict[str, str]]:
    return env.splits()


@_of_environment.post("/tasks")
@_of_environment.post("/task_range")
async def _tasks(asked: TaskQuery, env: Chosen) -> dict[str, Any]:
    return {"tasks": env.tasks(asked.split, asked.start, asked.stop), "env_name": env.name}


@_of_environment.post("/num_tasks")
async def _num_tasks(asked: TaskQuery, env: Chosen) -> dict[str, int]:
    return {"num_tasks": len(env.places(asked.split))}


@_of_environment.post("/task")
async def _task(asked: TaskQuery, env: Chosen) -> dict[str, Any]:
    return {"task": env.task(asked.split, asked.index), "env_name": env.name}


@_server.post("/create_session")
async def _create_session() -> Response:
    return _events(_event("task_id", uuid4().hex), _event("end", ""))


@_server.post("/create")
async def _create(
    request: Request,
    asked: Create,
    x_session_id: Annotated[str, Header(pattern=r"^[A-Za-z0-9_.-]{8,128}$")],
    x_deployment: Annotated[str, Header()] = "",
) -> dict[str, str]:
    env, spec = _choose(request, asked.env_name, x_deployment), asked.task_spec
    if spec is None and asked.split is not None and asked.index is not None:
        spec = env.task(asked.split, asked.index)
    if spec is None or asked.toolset_name:
        raise HTTPException(400, "expected task_spec, or split and index, and no toolset")
    task = await asyncio.to_thread(request.app.state.tasks.open, env.task_id(spec))
    request.app.state.sessions.begin(x_session_id, task)
    return {"sid": x_session_id}


@_server.post("/ping")
async def _ping(session: Current) -> dict[str, str]:
    return {"status": "ok"}


@_server.post("/delete")
@_server.post("/delete_session")
async def _delete(request: Request, x_session_id: Annotated[str, Header()]) -> dict[str, str]:
    await request.app.state.sessions.end(x_session_id)
    return {"sid": x_session_id}


@_of_environment.get("/prompt")
async def _prompt(session: Current) -> list[dict[str, Any]]:
    return [text_block(await _begun(session))]


@_of_environment.post("/call")
async def _call(asked: Call, session: Current) -> Response:
    await _begun(session)
    call_id = asked.task_id or session.call(asked.name, asked.input)
    if not (running := session.calls.get(call_id)):
        return _events(_event("error", "unknown task_id"))
    return StreamingResponse(_follow(session, call_id, running), media_type=_EVENTS)


async def _begun(session: Session) -> str:
    """Return the prompt of an episode when it has begun."""
    await asyncio.wait({session.ready}, timeout=_READY_S)
    if not session.ready.done():
        # The client tries again for minutes after this answer.
        headers = {"x-backend-state": "starting", "retry-after": RETRY_S}
        raise HTTPException(503, "the episode is still starting", headers)
    return session.ready.result()[0]


async def _follow(session: Session, call_id: str, running: asyncio.Task[dict[str, Any]]) -> AsyncIterator[bytes]:
    """Send the result of a call when it is there. A client that goes away can ask for it again."""
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


def _event(name: str, data: str) -> bytes:
    # Clients remove spaces at the start, and a line break would end the data.
    start = "\\u0020" if name in ("chunk", "end") and data.startswith(" ") else data[:1]
    return f"event: {name}\ndata: {start}{visible(data[1:])}\n\n".encode()


def _events(*events: bytes) -> Response:
    return Response(b"".join(events), media_type=_EVENTS)
