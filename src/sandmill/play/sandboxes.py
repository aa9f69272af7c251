"""The sandbox that tasks and episodes of one process share."""

import atexit
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from threading import Event, Thread
from typing import Protocol

from sandmill.errors import SandboxUnavailable
from sandmill.models.run import RunLimits, RunResult
from sandmill.sandbox.aio import AsyncSandbox


class CodeRunner(Protocol):
    """Runs untrusted code: `Sandbox`, or a sandbox on other machines with the same interface."""

    @property
    def limits(self) -> RunLimits:
        """Limits of each run."""
        ...

    def run(
        self,
        code: str,
        *,
        public: Path | str,
        scratch: Path | str | None = None,
        timeout: float = 30.0,
        cancel: Event | None = None,
    ) -> RunResult:
        """Run code; see `Sandbox.run`."""
        ...


class AsyncCodeRunner(Protocol):
    """Runs untrusted code from coroutines, as `AsyncSandbox` does."""

    @property
    def limits(self) -> RunLimits:
        """Limits of each run."""
        ...

    @property
    def box(self) -> CodeRunner:
        """The same sandbox for code without coroutines."""
        ...

    async def run(
        self, code: str, *, public: Path | str, scratch: Path | str | None = None, timeout: float = 30.0
    ) -> RunResult:
        """Run code; see `Sandbox.run`."""
        ...


@lru_cache(maxsize=1)
def shared_sandbox() -> AsyncSandbox:
    """Return one sandbox for the whole process. It starts in a thread and is closed when the process ends.

    Raises:
        SandboxUnavailable: if this machine cannot isolate runs or the agent environment is missing.
    """
    box = AsyncSandbox()
    atexit.register(box.box.close)
    Thread(target=_start, args=(box,), name="sandmill-start", daemon=True).start()
    return box


def _start(box: AsyncSandbox) -> None:
    # Runs wait for the start, and report its error.
    with suppress(SandboxUnavailable, OSError):
        box.box.start()
