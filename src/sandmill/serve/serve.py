"""Start a server, and stop it in order on SIGTERM and Ctrl-C."""

import asyncio
import logging
import socket
from collections.abc import Callable, Sequence
from functools import partial
from threading import Event
from time import monotonic
from types import FrameType
from typing import cast

import uvicorn
from starlette.types import ASGIApp

from sandmill.errors import InputError, Problem
from sandmill.sandbox import Sandbox
from sandmill.serve.app import make_app
from sandmill.serve.gate import ACCEPTED_AT_ONCE, Connection, Connections, most_connections
from sandmill.serve.queue import RunQueue
from sandmill.serve.runs import RunService
from sandmill.serve.settings import ServerSettings, state_folder
from sandmill.serve.tasks import ServedTasks

_SEND_S = 5.0
"""Time for sending the last replies after all runs have ended, in seconds."""
_BACKLOG = 2048


class _Server(uvicorn.Server):
    """A server that answers 503 to new work after a signal, and ends when its runs have ended."""

    def __init__(
        self, config: uvicorn.Config, service: RunService, stopping: Event, announce: Callable[[], None]
    ) -> None:
        super().__init__(config)
        self._service, self._stopping, self._announce = service, stopping, announce
        self._stopped_at = 0.0

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen, then tell the caller."""
        await super().startup(sockets)
        for listener in sockets or ():
            # asyncio has set the length of the kernel's queue to the number of connections that it accepts at once.
            listener.listen(_BACKLOG)
        self._announce()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Stop in order after the first signal, and at once after the second."""
        if self._stopping.is_set():
            self._service.queue.cancel_all()
            self.should_exit = True
        else:
            self._stopped_at = monotonic()
            self._stopping.set()

    async def on_tick(self, counter: int) -> bool:
        """Decide every 0.1 seconds whether to end."""
        queue, grace_s = self._service.queue, self._service.settings.grace_s
        if self._stopping.is_set():
            waited = monotonic() - self._stopped_at
            if waited > grace_s:
                queue.cancel_all()
            if queue.is_idle or waited > grace_s + _SEND_S:
                self.should_exit = True
        return await super().on_tick(counter)


def serve(
    listener: socket.socket,
    token: str | None,
    sources: Sequence[str],
    box: Sandbox,
    settings: ServerSettings,
    concurrency: int,
    queue: int,
    announce: Callable[[int], None],
) -> None:
    """Serve the tasks of folders and releases until a signal asks to stop. All runs are over when this returns.

    `concurrency` runs go on at a time, and `queue` runs may wait. The sandbox is started and closed here. `announce` is
    called with the number of tasks when the server listens.
    """
    with state_folder() as state:
        tasks, stopping = ServedTasks(sources), Event()
        service = RunService(box, tasks, RunQueue(concurrency, queue), settings, state)
        config = server_config(make_app(service, token, stopping.is_set), most_connections(concurrency))
        with box:
            logging.getLogger("uvicorn.error").setLevel(logging.WARNING)
            try:
                _Server(config, service, stopping, lambda: announce(len(tasks))).run(sockets=[listener])
            finally:
                service.queue.close()


def server_config(app: ASGIApp, most: int) -> uvicorn.Config:
    """Return the settings of the HTTP server, which holds at most this number of connections."""
    return uvicorn.Config(
        app,
        # Both are fixed, since uvicorn would choose other ones where they are installed.
        http=cast("type[asyncio.Protocol]", partial(Connection, Connections(most))),
        loop="asyncio",
        backlog=ACCEPTED_AT_ONCE,
        log_config=None,
        access_log=False,
        lifespan="off",
        ws="none",
        server_header=False,
        timeout_graceful_shutdown=int(_SEND_S),
    )


def listen(host: str, port: int) -> socket.socket:
    """Open the socket of a server. Raises `InputError` if the host is unknown or the port is in use."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listener = socket.socket(family, kind, protocol)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(_BACKLOG)
    except OSError as error:
        saw, expected = f"{host}:{port}, {error.strerror or error}", "an address of this machine with a free port"
        problem = Problem("--host and --port", saw, expected, "Choose another port, or --port 0 for any free one")
        raise InputError("sandmill serve", [problem], "Nothing was started.") from None
    return listener
