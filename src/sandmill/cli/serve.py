"""sandmill serve: run and grade agents' code for trainers on other machines."""

import os
from pathlib import Path
from typing import Annotated

import typer

from sandmill.cli.screen import option, switch, write_text
from sandmill.errors import InputError, Problem, count, require_extra
from sandmill.models.run import MOST_SECONDS, RunLimits

_SOURCES = "Folders of pulled tasks, and releases. Without any, clients upload public folders."


def serve(
    port: Annotated[int, option("N", "Port; 0 chooses a free one.", min=0, max=65535)],
    sources: Annotated[list[str] | None, typer.Argument(metavar="RELEASE_OR_TASKS", help=_SOURCES)] = None,
    token_file: Annotated[
        Path | None, option("FILE", "File with the token that clients send; mode 600, 16 characters or more.")
    ] = None,
    host: Annotated[str, option("HOST", "Address to listen on.")] = "127.0.0.1",
    concurrency: Annotated[
        int | None, option("N", "Runs at a time. Default: number of processors.", min=1, max=1024)
    ] = None,
    queue: Annotated[int, option("N", "Runs that may wait.", min=0, max=100_000)] = 256,
    timeout: Annotated[
        float, option("S", "Longest wall time of a run, in seconds.", min=0.1, max=MOST_SECONDS)
    ] = 300.0,
    grace: Annotated[float, option("S", "Seconds in which runs may end after SIGTERM.", min=0, max=3600)] = 10.0,
    memory_mb: Annotated[int | None, option("MB", "Most memory of a run. Default: 2048.", min=128)] = None,
    cores: Annotated[int | None, option("N", "Most processors of a run. Default: all.", min=1)] = None,
    max_request_mb: Annotated[int, option("MB", "Largest request.", min=1, max=4096)] = 256,
    ors: Annotated[bool, switch("--ors", "Speak the Open Reward Standard too, for the releases.")] = False,
    sessions: Annotated[int, option("N", "With --ors: most sessions at a time.", min=1, max=10_000)] = 256,
    idle: Annotated[float, option("S", "With --ors: seconds after which a silent session ends.", min=1)] = 900.0,
    wall_clock: Annotated[
        float | None, option("S", "With --ors: longest time of an episode. Default: 70 minutes.", min=1)
    ] = None,
    reward: Annotated[str, option("NAME", "With --ors: reward of an episode.")] = "ladder",
) -> None:
    """Run and grade agents' code over HTTP, for trainers on other machines.

    Clients send the token as `Authorization: Bearer TOKEN` or `X-API-Key: TOKEN`. With --ors and without a token file,
    the server plays episodes for this machine alone. SIGTERM and Ctrl-C stop the server in order. It needs
    `pip install 'sandmill[serve]'`.
    """
    with require_extra("serve", "sandmill serve"):
        import fastapi  # noqa: F401
        import uvicorn  # noqa: F401
    from sandmill.rewards import get_reward
    from sandmill.serve.gate import is_loopback
    from sandmill.serve.settings import ServerSettings, SessionSettings, read_token

    if token_file is None and not (ors and is_loopback(host)):
        expected = "a file with a token; only --ors on 127.0.0.1 needs none"
        raise InputError("sandmill serve", [Problem("--token-file", "none", expected)], "Nothing was started.")
    token = read_token(token_file) if token_file else None
    get_reward(reward)
    from sandmill.sandbox import Sandbox
    from sandmill.sandbox.sandbox import most_runs
    from sandmill.serve.gate import raise_descriptor_limit
    from sandmill.serve.serve import listen
    from sandmill.serve.serve import serve as start

    given = {name: value for name, value in (("memory_mb", memory_mb), ("cores", cores)) if value is not None}
    box = Sandbox(limits=RunLimits.model_validate(given))
    settings = ServerSettings(
        timeout_s=timeout,
        max_request_bytes=max_request_mb << 20,
        grace_s=grace,
        sessions=SessionSettings(sessions, idle, wall_clock, reward) if ors else None,
    )
    raise_descriptor_limit()
    at_a_time = min(concurrency or os.cpu_count() or 1, most_runs())

    with listen(host, port) as listener:
        address = f"http://{host}:{listener.getsockname()[1]}"

        def announce(tasks: int) -> None:
            write_text(
                f"Serving {count(tasks, 'task')} on {address} ({box.isolation}, {at_a_time} at a time, "
                f"{queue} may wait). Stop with Ctrl-C.\nTry: curl {address}/health"
            )
            if not is_loopback(host):
                write_text(
                    "Traffic is not encrypted. On an open network put a proxy with TLS in front.", to_stderr=True
                )

        start(listener, token, sources or [], box, settings, at_a_time, queue, announce)
