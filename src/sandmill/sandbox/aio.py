"""Asynchronous version of the sandbox: the same methods, as coroutines that do not block the event loop."""

import asyncio
import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Self

from sandmill.models.run import Isolation, RunLimits, RunResult
from sandmill.sandbox.admission import most_runs
from sandmill.sandbox.agent_env import AgentEnv
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

        Args:
            backend: as for `Sandbox`.
            limits: as for `Sandbox`.
            agent_env: as for `Sandbox`.
            concurrency: largest number of runs at a time. It is lower if this process may not open enough files.
                Further runs wait, and their time-outs start when they start.
        """
        self._box = Sandbox(backend, limits=limits, agent_env=agent_env)
        self._threads = ThreadPoolExecutor(min(concurrency, most_runs()), thread_name_prefix="sandmill-run")

    @property
    def backend(self) -> str:
        """Name of the backend in use."""
        return self._box.backend

    @property
    def isolation(self) -> Isolation:
        """How the agent's code is isolated from the machine."""
        return self._box.isolation

    @property
    def limits(self) -> RunLimits:
        """Limits of each run."""
        return self._box.limits

    @property
    def agent_env(self) -> AgentEnv:
        """The environment with the agent's interpreter."""
        return self._box.agent_env

    async def start(self) -> None:
        """Start the warm interpreter, so that the first run does not wait for it."""
        await asyncio.get_running_loop().run_in_executor(self._threads, self._box.start)

    async def run(
        self, code: str, *, public: Path | str, scratch: Path | str | None = None, timeout: float = 30.0
    ) -> RunResult:
        """Run code; see `Sandbox.run`."""
        cancellation = _Cancellation()
        call = partial(self._box.run, code, public=public, scratch=scratch, timeout=timeout)
        future = asyncio.get_running_loop().run_in_executor(self._threads, cancellation.run_cancellable, call)
        try:
            return await asyncio.shield(future)
        except asyncio.CancelledError:
            cancellation.set()
            future.cancel()
            raise

    async def close(self) -> None:
        """End all runs and release all resources."""
        await asyncio.get_running_loop().run_in_executor(None, self._box.close)
        self._threads.shutdown(wait=False)

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()


class _Cancellation:
    """Cancels one run through a descriptor. The descriptor exists only while the run has a thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._descriptor = -1
        self._is_set = False

    def set(self) -> None:
        """Cancel the run, also if it has not started yet."""
        with self._lock:
            self._is_set = True
            if self._descriptor >= 0:
                os.eventfd_write(self._descriptor, 1)

    def run_cancellable(self, call: Callable[..., RunResult]) -> RunResult:
        """Call `Sandbox.run` with a descriptor that becomes readable when the run is cancelled."""
        with self._lock:
            self._descriptor = os.eventfd(int(self._is_set), os.EFD_CLOEXEC)
        try:
            return call(cancel=self._descriptor)
        finally:
            with self._lock:
                os.close(self._descriptor)
                self._descriptor = -1
