"""Episodes and other coroutines for code without coroutines, on one event loop in a background thread."""

import asyncio
import os
from collections.abc import Coroutine
from threading import Lock, Thread
from typing import Any, Self, TypeVar

from sandmill.models.rollout import Act, Rollout
from sandmill.play.env import MLEnv, StepResult
from sandmill.play.task import EpisodeTask

_Result = TypeVar("_Result")


class BackgroundLoop:
    """An event loop in a thread of its own, started at first use."""

    def __init__(self) -> None:
        self._reset()
        # A fork copies the loop without the thread that runs it.
        os.register_at_fork(after_in_child=self._reset)

    def _reset(self) -> None:
        self._lock = Lock()
        self._loop: asyncio.AbstractEventLoop | None = None

    def run(self, coroutine: Coroutine[Any, Any, _Result]) -> _Result:
        """Run a coroutine to its end, and return its result. It is cancelled if the wait is interrupted."""
        future = asyncio.run_coroutine_threadsafe(coroutine, self._start())
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise

    def _start(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                Thread(target=self._loop.run_forever, name="sandmill-coroutines", daemon=True).start()
            return self._loop


_background = BackgroundLoop()


def run_sync(coroutine: Coroutine[Any, Any, _Result]) -> _Result:
    """Run a coroutine on the loop that all callers in this process share.

    Calls from several threads run at the same time. The caller may have an event loop of its own; this call blocks it.
    """
    return _background.run(coroutine)


class SyncMLEnv:
    """`MLEnv` without coroutines: the same arguments and methods.

    Example:
        >>> with SyncMLEnv(task) as env:  # doctest: +SKIP
        ...     prompt, _ = env.reset()
        ...     text, reward, terminated, truncated, info = env.step(Act.run(code))
    """

    def __init__(self, task: EpisodeTask, **settings: Any) -> None:
        """Prepare an episode; see `MLEnv`."""
        self._env = MLEnv(task, **settings)

    @property
    def rollout(self) -> Rollout | None:
        """The finished episode; None before its end."""
        return self._env.rollout

    def reset(self) -> tuple[str, dict[str, Any]]:
        """Begin an episode, and return the prompt; see `MLEnv.reset`."""
        return run_sync(self._env.reset())

    def step(self, act: Act) -> StepResult:
        """Do one action; see `MLEnv.step`."""
        return run_sync(self._env.step(act))

    def stop(self, *, is_fault: bool = False) -> Rollout:
        """End the episode for the trainer; see `MLEnv.stop`."""
        return run_sync(self._env.stop(is_fault=is_fault))

    def close(self) -> None:
        """Remove the scratch folder."""
        run_sync(self._env.close())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()
