"""Sessions of the Open Reward Standard: each is one episode, over the queue that all clients of a server share."""

import asyncio
import threading
import time
from functools import partial
from pathlib import Path
from typing import Any
from uuid import uuid4

from fastapi import HTTPException

from sandmill.errors import SandmillError
from sandmill.models.reports import Outcome
from sandmill.models.rollout import EpisodeLimits
from sandmill.models.run import RunLimits, RunResult
from sandmill.play.actions import read_call
from sandmill.play.env import MLEnv
from sandmill.play.task import EpisodeTask
from sandmill.play.turns import OVER, TOOLS, Turns
from sandmill.sandbox import Sandbox
from sandmill.serve.queue import QueueFull, RunQueue
from sandmill.serve.settings import SessionSettings

_MOST_CALLS = 100
"""Calls of a session. All results are kept, for clients that have lost the connection and ask again."""
_QUEUE_FULL_S = 0.5
"""Seconds until a run asks again for a place in a full queue."""
RETRY_S = "2"
"""Seconds after which a client may ask again."""


class EpisodeFailed(SandmillError):
    """Something outside of the agent failed, so the episode has no reward. Another session may succeed."""


class QueuedBox:
    """Runs code in the order of the server's queue. A full queue is waited for, since only the wall clock ends it."""

    def __init__(self, box: Sandbox, queue: RunQueue) -> None:
        self.box, self._queue = box, queue

    @property
    def limits(self) -> RunLimits:
        """Limits of each run."""
        return self.box.limits

    async def run(
        self, code: str, *, public: Path | str, scratch: Path | str | None = None, timeout: float = 30.0
    ) -> RunResult:
        """Run code; see `Sandbox.run`. Cancelling the call ends the run."""
        call = partial(self.box.run, code, public=public, scratch=scratch, timeout=timeout)

        def job(cancel: threading.Event) -> RunResult:
            # The server may have cancelled the run, which then looks like one that its own code has ended.
            result = None if cancel.is_set() else call(cancel=cancel)
            if result and not cancel.is_set():
                return result
            return RunResult(outcome=Outcome.INFRA_ERROR, isolation=self.box.isolation, detail="cancelled")

        while True:
            try:
                (ticket,) = self._queue.submit([job])
                break
            except QueueFull:
                await asyncio.sleep(_QUEUE_FULL_S)
        try:
            return await asyncio.shield(asyncio.wrap_future(ticket.future))
        finally:
            ticket.drop()


class Session:
    """One episode of a client."""

    def __init__(self, env: MLEnv) -> None:
        self._turns, self._turn, self._is_told = Turns(env), asyncio.Lock(), False
        self.env = env
        self.begun = self.seen = time.monotonic()
        """When it was created, and when its client was last heard of."""
        self.ready = asyncio.create_task(env.reset())
        self.calls: dict[str, asyncio.Task[dict[str, Any]]] = {}
        self.timer: asyncio.TimerHandle | None = None
        self.ending: asyncio.Future[None] | None = None

    def call(self, name: str, arguments: dict[str, Any]) -> str:
        """Start a call of a tool, and return its id in `calls`. Raises `HTTPException` after too many."""
        if len(self.calls) >= _MOST_CALLS:
            raise HTTPException(400, "the session has had all its calls")
        call_id = uuid4().hex
        self.calls[call_id] = asyncio.create_task(self._act(name, arguments))
        return call_id

    async def _act(self, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """Do an action, and return a `ToolOutput` or the reason why there is none. The last one has the reward.

        Raises `EpisodeFailed` if the rollout is masked. Other exceptions are faults of this server.
        """
        act = read_call(name, arguments, "run_code") if name in TOOLS else f"there is no tool {name!r}"
        async with self._turn:
            if self._is_told:
                return {"ok": False, "error": OVER, "reason": "episode_finished"}
            text, rollout = OVER, self.env.rollout
            if rollout is None or not rollout.mask:
                step = self._turns.reject(act) if isinstance(act, str) else self._turns.act(act)
                text, rollout = (await step)[0] or OVER, self.env.rollout
            if rollout is None and isinstance(act, str):
                reason = "input_validation" if name in TOOLS else "not_found"
                return {"ok": False, "error": text, "reason": reason}
            output: dict[str, Any] = {"blocks": [text_block(text)], "metadata": None, "reward": None, "finished": False}
            if rollout is not None:
                if rollout.mask or rollout.reward is None:
                    detail = rollout.steps[-1].detail if rollout.steps else ""
                    raise EpisodeFailed(f"the sandbox failed, so the episode has no reward. Play it again. {detail}")
                shown = {"task_id", "release", "ending", "duration_s"}
                metadata = rollout.model_dump(mode="json", include=shown) | {"reward_parts": rollout.reward.parts}
                output |= {"metadata": metadata, "reward": rollout.reward.total, "finished": True}
                self._is_told = True
            return {"ok": True, "output": output}

    async def close(self) -> None:
        """End all calls and their runs, and remove the files."""
        if self.timer is not None:
            self.timer.cancel()
        for task in (self.ready, *self.calls.values()):
            task.cancel()
        await self.env.close()


class Sessions:
    """All sessions of a server. A session ends when its client is silent, and in any case after its wall clock."""

    def __init__(self, box: Sandbox, queue: RunQueue, settings: SessionSettings, timeout_s: float) -> None:
        self._box, self._settings = QueuedBox(box, queue), settings
        limits = EpisodeLimits(wall_clock=settings.wall_clock_s)
        self._limits = limits.model_copy(update={"timeout": min(limits.timeout, timeout_s)})
        self._open: dict[str, Session] = {}

    def begin(self, session_id: str, task: EpisodeTask) -> None:
        """Begin an episode. Raises `HTTPException` if there are too many, or the id is in use."""
        if session_id in self._open:
            raise HTTPException(400, "the session exists already")
        if len(self._open) >= self._settings.most:
            raise HTTPException(429, f"the server has {len(self._open)} sessions, its most", {"retry-after": RETRY_S})
        env = MLEnv(task, reward=self._settings.reward, limits=self._limits, sandbox=self._box)
        self._open[session_id] = Session(env)
        self._watch(session_id)

    def find(self, session_id: str) -> Session:
        """Return a session, whose client has just been heard of. Raises `HTTPException` if there is none."""
        if session_id not in self._open:
            raise HTTPException(410, "there is no such session: it has ended, or was never created")
        session = self._open[session_id]
        session.seen = time.monotonic()
        return session

    async def end(self, session_id: str) -> None:
        """End a session and everything that it runs. Nothing happens if there is none."""
        if session := self._open.pop(session_id, None):
            await session.close()

    def _watch(self, session_id: str) -> None:
        """End a session that is over, or look again when it can be."""
        session, idle_s = self._open[session_id], self._settings.idle_s
        left_s = min(session.seen, session.begun + self._limits.longest_s) + idle_s - time.monotonic()
        if left_s > 0:
            session.timer = asyncio.get_running_loop().call_later(left_s, self._watch, session_id)
        else:
            session.ending = asyncio.ensure_future(self.end(session_id))


def text_block(text: str) -> dict[str, Any]:
    """Return a text as a block of the standard."""
    return {"type": "text", "text": text, "detail": None}
