"""Asynchronous version of the sandbox: the same methods, as coroutines that do not block the event loop."""

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Self

from sandmill.models.run import Isolation, RunLimits, RunResult
from sandmill.sandbox.agent_env import AgentEnv
from sandmill.sandbox.remote import RemoteSandbox
from sandmill.sandbox.sandbox import BackendName, Sandbox, most_runs


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
        box = Sandbox(backend, limits=limits, agent_env=agent_env)
        self.agent_env: AgentEnv | None = box.agent_env
        self._wrap(box, min(concurrency, most_runs()))

    @classmethod
    def over(cls, box: Sandbox | RemoteSandbox, *, concurrency: int = 8) -> Self:
        """Return coroutines for a sandbox, also for a remote one. Closing them closes the sandbox."""
        made = cls.__new__(cls)
        made.agent_env = getattr(box, "agent_env", None)
        made._wrap(box, concurrency)
        return made

    def _wrap(self, box: Sandbox | RemoteSandbox, concurrency: int) -> None:
        self.box = box
        """The same sandbox for code without coroutines."""
        self._threads = ThreadPoolExecutor(concurrency, thread_name_prefix="sandmill-run")

    @property
    def backend(self) -> str:
        """Name of the backend."""
        return self.box.backend

    @property
    def limits(self) -> RunLimits:
        """Limits of each run."""
        return self.box.limits

    @property
    def isolation(self) -> Isolation:
        """Isolation of the agent's code."""
        return self.box.isolation

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
