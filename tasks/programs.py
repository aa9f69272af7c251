"""Flows as programs: arguments from models, and a temporary server that ends with its build."""

import subprocess
import sys
from collections.abc import Callable
from typing import Any

from prefect.exceptions import CancelledRun
from prefect.settings import PREFECT_API_URL
from pydantic import BaseModel

from sandmill.cli.arguments import run_program
from sandmill.pipeline.workers import end_with_this_process


def run_flow(
    flow: Any,
    prog: str,
    examples: str,
    *models: type[BaseModel],
    work: Callable[..., None] | None = None,
) -> int:
    """Run a flow on the models that the command line gives, or other work, and return the exit code.

    Without other work, the message of the flow's final state is printed.
    """

    def run(*given: Any) -> None:
        end_server_with_this_process()
        if work:
            work(*given)
            return
        state = flow(*given, return_state=True)
        state.result()
        sys.stdout.write(f"{state.message}\n")

    return run_program(run, prog, flow.__doc__ or "", examples, *models, stops=(CancelledRun,))


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
