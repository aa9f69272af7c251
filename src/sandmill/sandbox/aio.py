"""The sandbox for an event loop: the same names, runs awaited, the loop never blocked."""

import asyncio
import os
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Self

from sandmill.models.run import Isolation, RunLimits, RunResult
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
            concurrency: runs at a time; further ones wait their turn, and their time-outs wait with them.
        """
        self._box = Sandbox(backend, limits=limits, agent_env=agent_env)
        self._threads = ThreadPoolExecutor(concurrency, thread_name_prefix="sandmill-run")

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

    async def run(self, code: str, *, public: Path, scratch: Path | None = None, timeout: float = 30.0) -> RunResult:
        """Run code; see `Sandbox.run`."""
        cancel = os.eventfd(0, os.EFD_CLOEXEC)
        call = partial(self._box.run, code, public=public, scratch=scratch, timeout=timeout, cancel=cancel)
        working = asyncio.get_running_loop().run_in_executor(self._threads, call)
        working.add_done_callback(lambda _: os.close(cancel))
        try:
            return await asyncio.shield(working)
        except asyncio.CancelledError:
            if not working.done():
                os.eventfd_write(cancel, 1)
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
