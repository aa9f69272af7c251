"""What every request passes first: token, limits of size and time, and the refusal of work while the server stops."""

import asyncio
import json
from base64 import b64decode
from binascii import Error as Base64Error
from collections.abc import Awaitable, Callable, MutableMapping
from hmac import compare_digest
from typing import Any

from fastapi import HTTPException

from sandmill.serve.connections import admitted

AsgiMessage = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[AsgiMessage]]
Send = Callable[[AsgiMessage], Awaitable[None]]
App = Callable[[AsgiMessage, Receive, Send], Awaitable[None]]

OPEN_PATHS = frozenset({"/health"})
"""Paths that need no token. A reply to a request without it ends the connection."""
_BODY_S = 300.0
"""Longest time for sending a request, in seconds: the largest one at 7 Mbit/s."""
_CLOSE = (b"connection", b"close")
_RETRY_STOPPED_S = 30
"""Seconds after which a client may ask a stopping server again, for example after a restart."""


class RequestGate:
    """ASGI middleware. It answers refused requests itself, before their body is read."""

    def __init__(self, app: App, *, token: str, most_bytes: int, is_stopping: Callable[[], bool]) -> None:
        self._app, self._token, self._most_bytes = app, token.encode(), most_bytes
        self._is_stopping = is_stopping

    async def __call__(self, scope: AsgiMessage, receive: Receive, send: Send) -> None:
        """Handle one connection or request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = {name.lower(): value for name, value in scope["headers"]}
        announced = headers.get(b"content-length", b"")
        if scope["path"] in OPEN_PATHS:
            await self._limited(scope, receive, _closing(send), announced)
        elif not self._is_authorized(headers.get(b"authorization", b"")):
            await _refuse(send, 401, "the token is missing or wrong", {"www-authenticate": "Bearer"})
        elif self._is_stopping():
            await _refuse(send, 503, "the server is stopping", {"retry-after": str(_RETRY_STOPPED_S)})
        else:
            with admitted(scope):
                await self._limited(scope, receive, send, announced)

    def _is_authorized(self, header: bytes) -> bool:
        """Accept a bearer token, and basic authentication with the token as password.

        Clients that know only an address can put the token into it: `http://any:TOKEN@host:port`.
        """
        scheme, _, value = header.partition(b" ")
        if scheme.lower() == b"basic":
            try:
                value = b64decode(value, validate=True).partition(b":")[2]
            except (Base64Error, ValueError):
                return False
        elif scheme.lower() != b"bearer":
            return False
        return compare_digest(value.strip(), self._token)

    async def _limited(self, scope: AsgiMessage, receive: Receive, send: Send, announced: bytes) -> None:
        detail = f"the request is larger than {self._most_bytes} bytes"
        if announced.isdigit() and int(announced) > self._most_bytes:
            await _refuse(send, 413, detail)
            return
        seen = 0
        deadline: float | None = asyncio.get_running_loop().time() + _BODY_S

        async def counted() -> AsgiMessage:
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
            if seen > self._most_bytes:
                raise HTTPException(413, detail)
            return message

        await self._app(scope, counted, send)


def _closing(send: Send) -> Send:
    async def closed(message: AsgiMessage) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = [*message["headers"], _CLOSE]
        await send(message)

    return closed


async def _refuse(send: Send, status: int, detail: str, headers: dict[str, str] | None = None) -> None:
    body = json.dumps({"detail": detail, "problems": []}).encode()
    listed = {"content-type": "application/json", "content-length": str(len(body)), "connection": "close"}
    pairs = [(name.encode(), value.encode()) for name, value in {**listed, **(headers or {})}.items()]
    await send({"type": "http.response.start", "status": status, "headers": pairs})
    await send({"type": "http.response.body", "body": body})
