"""What a connection and every request pass first: limits of number, time and size, and the token.

A connection waits for a request from its start, and again from the end of each reply. While a request with the token is
handled, it does not wait, and the limits of connections do not close it.
"""

import asyncio
import re
import resource
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from hmac import compare_digest
from typing import Any

from fastapi import HTTPException
from fastapi.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from sandmill.sandbox.sandbox import RUN_DESCRIPTORS

ACCEPTED_AT_ONCE = 16
"""Connections that asyncio accepts before it handles the first of them."""
_OWN_DESCRIPTORS = 128
"""Descriptors kept for files and the sandbox, and for connections that are accepted while others are still closed."""
_FEWEST = 16
_MOST_DESCRIPTORS = 1 << 16
_REQUEST_S = 10.0
"""Longest time in which a connection may wait for all headers of a request with the token, in seconds."""
_KEY = "sandmill.connection"
"""State of a request that lets its connection take its time: `Connections.admitted`."""
OPEN_PATHS = frozenset({"/health"})
"""Paths that need no token. A reply to a request without it ends the connection."""
_BODY_S = 300.0
"""Longest time for sending a request, in seconds: the largest one at 7 Mbit/s."""
_CLOSE = (b"connection", b"close")
_MOST_OTHER_BYTES = 4 << 20
"""Largest request to other routes than those of batches, which count their memory."""
_BATCHES = "/v1/"
_LOOPBACK = re.compile(r"(?:127(?:\.[0-9]{1,3}){3}|localhost|::1|\[::1\])(?::[0-9]+)?")
_RETRY_STOPPED_S = 30
"""Seconds after which a client may ask a stopping server again, for example after a restart."""


def is_loopback(host: str) -> bool:
    """Return whether a host, with or without a port, is this machine under a name that nobody else can take."""
    return _LOOPBACK.fullmatch(host) is not None


class Connections:
    """The connections of one server. At the limit, a new one replaces the one that has waited longest."""

    def __init__(self, most: int) -> None:
        self._most, self._open = most, 0
        self._waiting: dict[asyncio.Transport, asyncio.TimerHandle] = {}
        self._handled = Counter[asyncio.Transport]()

    def add(self, transport: asyncio.Transport) -> None:
        """Count a new connection. If all others have the token, it is the one that is closed."""
        self._open += 1
        self._wait(transport)
        if self._open > self._most:
            oldest = next(iter(self._waiting))
            self._forget(oldest)
            oldest.abort()

    def remove(self, transport: asyncio.Transport) -> None:
        """Forget a connection that is closed."""
        self._open -= 1
        self._forget(transport)

    @contextmanager
    def admitted(self, transport: asyncio.Transport) -> Iterator[None]:
        """Let a connection take its time until the block ends."""
        self._forget(transport)
        # The next request of a client can begin before the work on its last one has ended.
        self._handled[transport] += 1
        try:
            yield
        finally:
            self._handled[transport] -= 1
            if not self._handled[transport]:
                del self._handled[transport]
                if not transport.is_closing():
                    self._wait(transport)

    def _wait(self, transport: asyncio.Transport) -> None:
        self._waiting[transport] = asyncio.get_running_loop().call_later(_REQUEST_S, transport.abort)

    def _forget(self, transport: asyncio.Transport) -> None:
        if timer := self._waiting.pop(transport, None):
            timer.cancel()


class Connection(H11Protocol):
    """A connection that is counted."""

    def __init__(self, connections: Connections, **settings: Any) -> None:
        super().__init__(**settings)
        self._counted = connections

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Count the connection, and add it to the state of its requests."""
        super().connection_made(transport)
        self.app_state = {**self.app_state, _KEY: partial(self._counted.admitted, transport)}
        self._counted.add(transport)

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        super().connection_lost(exc)
        self._counted.remove(self.transport)


def raise_descriptor_limit() -> None:
    """Raise the soft limit of open descriptors to the hard one, at most to 65,536."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _MOST_DESCRIPTORS if hard == resource.RLIM_INFINITY else min(hard, _MOST_DESCRIPTORS)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def most_connections(runs: int) -> int:
    """Return how many connections leave enough descriptors for this number of runs at a time."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    limit = _MOST_DESCRIPTORS if soft == resource.RLIM_INFINITY else soft
    return max(_FEWEST, limit - runs * RUN_DESCRIPTORS - _OWN_DESCRIPTORS)


class RequestGate:
    """ASGI middleware. It answers refused requests itself, before their body is read."""

    def __init__(self, app: ASGIApp, *, token: str | None, most_bytes: int, is_stopping: Callable[[], bool]) -> None:
        self._app, self._token, self._most_bytes = app, token.encode() if token else None, most_bytes
        self._is_stopping = is_stopping

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one connection or request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = {name.lower(): value for name, value in scope["headers"]}
        announced = headers.get(b"content-length", b"")
        if scope["path"] in OPEN_PATHS:

            async def send_and_close(message: Message) -> None:
                if message["type"] == "http.response.start":
                    message["headers"] = [*message["headers"], _CLOSE]
                await send(message)

            await self._limited(scope, receive, send_and_close, announced)
        elif not self._is_authorized(headers, scope["path"]):
            await _refusal(401, "the token is missing or wrong", {"www-authenticate": "Bearer"})(scope, receive, send)
        elif self._is_stopping():
            await _refusal(503, "the server is stopping", {"retry-after": str(_RETRY_STOPPED_S)})(scope, receive, send)
        else:
            with scope["state"][_KEY]():
                await self._limited(scope, receive, send, announced)

    def _is_authorized(self, headers: Mapping[bytes, bytes], path: str) -> bool:
        if self._token is None:
            # A web page that a browser of this machine shows has another host, even if its name leads here.
            return is_loopback(headers.get(b"host", b"").decode("latin-1")) and not path.startswith(_BATCHES)
        scheme, _, value = headers.get(b"authorization", b"").partition(b" ")
        given = value if scheme.lower() == b"bearer" else headers.get(b"x-api-key", b"")
        return compare_digest(given.strip(), self._token)

    async def _limited(self, scope: Scope, receive: Receive, send: Send, announced: bytes) -> None:
        most = self._most_bytes if scope["path"].startswith(_BATCHES) else min(self._most_bytes, _MOST_OTHER_BYTES)
        detail = f"the request is larger than {most} bytes"
        if announced.isdigit() and int(announced) > most:
            await _refusal(413, detail)(scope, receive, send)
            return
        seen = 0
        deadline: float | None = asyncio.get_running_loop().time() + _BODY_S

        async def counted() -> Message:
            nonlocal seen, deadline
            try:
                async with asyncio.timeout_at(deadline):
                    message = await receive()
            except TimeoutError:
                raise HTTPException(408, f"the request did not arrive within {_BODY_S:g} s") from None
            if not message.get("more_body"):
                # The next message says that the client is gone.
                deadline = None
            seen += len(message.get("body", b""))
            if seen > most:
                raise HTTPException(413, detail)
            return message

        await self._app(scope, counted, send)


def _refusal(status: int, detail: str, headers: Mapping[str, str] | None = None) -> ASGIApp:
    return JSONResponse({"detail": detail, "problems": []}, status, {"connection": "close", **(headers or {})})
