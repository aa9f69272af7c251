"""Run coroutines from code without coroutines, on one event loop in a background thread."""

import asyncio
import os
from collections.abc import Coroutine
from threading import Lock, Thread
from typing import Any, TypeVar

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
                Thread(target=self._loop.run_forever, name="sandmill-adapters", daemon=True).start()
            return self._loop


_background = BackgroundLoop()


def run_sync(coroutine: Coroutine[Any, Any, _Result]) -> _Result:
    """Run a coroutine on the loop that all adapters of this process share.

    Calls from several threads run at the same time. The caller may have an event loop of its own; this call blocks it.
    """
    return _background.run(coroutine)
