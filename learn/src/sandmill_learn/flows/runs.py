"""What both flows share: retries, and progress in the UI."""

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, cast
from uuid import UUID

from prefect.artifacts import create_progress_artifact, update_progress_artifact
from prefect.cache_policies import NO_CACHE
from prefect.exceptions import CancelledRun
from prefect.settings import PREFECT_API_URL

from sandmill.errors import InputError, IntegrityError, SandboxUnavailable
from sandmill.pipeline.workers import end_with_this_process

SECONDS_BETWEEN_UPDATES = 2.0
"""Each update of a progress artifact is a call to the server."""
PLAIN: dict[str, Any] = {"cache_policy": NO_CACHE}
"""For long work that resumes from its own files: there are no retries."""
_VERDICTS = (InputError, IntegrityError, SandboxUnavailable)
"""Errors that equal input raises every time."""


def end_server_with_this_process() -> None:
    """Make the temporary server of Prefect end with this process, even if this process is killed.

    With the address of a server in `PREFECT_API_URL`, Prefect starts none.
    """
    if PREFECT_API_URL.value() or sys.platform != "linux":
        return
    from prefect.server.api.server import SubprocessASGIServer

    start = SubprocessASGIServer._run_uvicorn_command

    def start_guarded(server: SubprocessASGIServer) -> "subprocess.Popen[Any]":
        process = start(server)
        end_with_this_process(process.pid)
        return process

    SubprocessASGIServer._run_uvicorn_command = start_guarded  # type: ignore[assignment, method-assign]


def _is_worth_retrying(task: Any, run: Any, state: Any) -> bool:
    return not isinstance(state.result(raise_on_failure=False), _VERDICTS)


STORED: dict[str, Any] = {
    "cache_policy": NO_CACHE,
    "retries": 2,
    "retry_delay_seconds": [2, 10],
    "retry_condition_fn": _is_worth_retrying,
}
"""For tasks that read releases or write artifacts: a dropped connection is tried again."""


@contextmanager
def progress_artifact(key: str, description: str) -> Iterator[Callable[[float], None]]:
    """Show a share in percent, at most every two seconds.

    The artifact ends at 100. If the block fails, it keeps its share and its description says how the work ended.
    """
    artifact = cast("UUID", create_progress_artifact(0.0, key=key, description=description))
    share, last_update = 0.0, time.monotonic()

    def show(percent: float) -> None:
        nonlocal share, last_update
        share = percent
        if time.monotonic() - last_update >= SECONDS_BETWEEN_UPDATES:
            last_update = time.monotonic()
            update_progress_artifact(artifact, progress=share)

    try:
        yield show
    except BaseException as error:
        ending = "cancelled" if _is_cancelled(error) else f"crashed, {type(error).__name__}"
        # The server may end before this process. What is raised is the error that ended the work.
        with suppress(Exception):
            update_progress_artifact(artifact, progress=share, description=f"{description}: {ending}")
        raise
    update_progress_artifact(artifact, progress=100.0)


def _is_cancelled(error: BaseException) -> bool:
    """Return whether somebody ended the work, by Prefect or by a signal."""
    return isinstance(error, CancelledRun) or not isinstance(error, Exception)
