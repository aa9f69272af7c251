"""The sandbox for an event loop: the same names, runs awaited, the loop never blocked."""

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
    """A `Sandbox` whose runs are awaited. A run whose task is cancelled is killed."""

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
            concurrency: runs at a time, fewer if this process may not open enough files; further ones wait their turn,
                and their time-outs wait with them.
        """
        self._box = Sandbox(backend, limits=limits, agent_env=agent_env)
        self._threads = ThreadPoolExecutor(min(concurrency, most_runs()), thread_name_prefix="sandmill-run")

    @property
    def backend(self) -> str:
        """Name of the backend in use."""
        return self._box.backend

    @property
    def isolation(self) -> Isolation:
        """What stands between the code and the machine."""
        return self._box.isolation

    @property
    def limits(self) -> RunLimits:
        """What a run may use."""
        return self._box.limits

    @property
    def agent_env(self) -> AgentEnv:
        """The agent's interpreter."""
        return self._box.agent_env

    async def start(self) -> None:
        """Have the warm interpreter ready."""
        await asyncio.get_running_loop().run_in_executor(self._threads, self._box.start)

    async def run(
        self, code: str, *, public: Path | str, scratch: Path | str | None = None, timeout: float = 30.0
    ) -> RunResult:
        """Run code; see `Sandbox.run`."""
        cancellation = _Cancellation()
        call = partial(self._box.run, code, public=public, scratch=scratch, timeout=timeout)
        working = asyncio.get_running_loop().run_in_executor(self._threads, cancellation.attached_to, call)
        try:
            return await asyncio.shield(working)
        except asyncio.CancelledError:
            cancellation.set()
            working.cancel()
            raise

    async def close(self) -> None:
        """End what runs and let go of everything."""
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
    """Tells a run that it is no longer wanted. A run that waits for a thread costs no descriptor."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._descriptor = -1
        self._is_set = False

    def set(self) -> None:
        """Cancel the run, whether it is running or still waiting to start."""
        with self._lock:
            self._is_set = True
            if self._descriptor >= 0:
                os.eventfd_write(self._descriptor, 1)

    def attached_to(self, call: Callable[..., RunResult]) -> RunResult:
        """Make a run with a descriptor that becomes readable when it is cancelled."""
        with self._lock:
            self._descriptor = os.eventfd(int(self._is_set), os.EFD_CLOEXEC)
        try:
            return call(cancel=self._descriptor)
        finally:
            with self._lock:
                os.close(self._descriptor)
                self._descriptor = -1
