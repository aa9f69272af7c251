"""Asynchronous version of the sandbox: the same methods, as coroutines that do not block the event loop."""

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Self

from sandmill.models.run import RunLimits, RunResult
from sandmill.sandbox.admission import most_runs
from sandmill.sandbox.backends import BackendName
from sandmill.sandbox.sandbox import Sandbox


class AsyncSandbox:
    """A `Sandbox` with coroutine methods. Cancelling the asyncio task of a run kills the run."""

    def __init__(
        self,
        backend: BackendName = "auto",
        *,
        limits: RunLimits | None = None,
        agent_env: Path | None = None,
        concurrency: int = 8,
    ) -> None:
        """Choose a backend as `Sandbox` does.

        At most `concurrency` runs go on at a time, fewer if this process may not open enough files. Further runs wait,
        and their time-outs start when they start.
        """
        self.box = Sandbox(backend, limits=limits, agent_env=agent_env)
        """The same sandbox for code without coroutines."""
        self.backend, self.limits, self.agent_env = self.box.backend, self.box.limits, self.box.agent_env
        self.isolation = self.box.isolation
        self._threads = ThreadPoolExecutor(min(concurrency, most_runs()), thread_name_prefix="sandmill-run")

    async def start(self) -> None:
        """Start the warm interpreter, so that the first run does not wait for it."""
        await asyncio.get_running_loop().run_in_executor(self._threads, self.box.start)

    async def run(
        self, code: str, *, public: Path | str, scratch: Path | str | None = None, timeout: float = 30.0
    ) -> RunResult:
        """Run code; see `Sandbox.run`."""
        cancel = threading.Event()
        call = partial(self.box.run, code, public=public, scratch=scratch, timeout=timeout, cancel=cancel)
        future = asyncio.get_running_loop().run_in_executor(self._threads, call)
        try:
            return await asyncio.shield(future)
        except asyncio.CancelledError:
            cancel.set()
            future.cancel()
            raise

    async def close(self) -> None:
        """End all runs and release all resources."""
        await asyncio.get_running_loop().run_in_executor(None, self.box.close)
        self._threads.shutdown(wait=False)

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.close()
