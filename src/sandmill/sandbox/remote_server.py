"""One server of a remote sandbox: send requests, and turn each kind of failure into an exception."""

import http.client
import ssl
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TypeVar
from urllib.parse import urlsplit

from pydantic import BaseModel, ValidationError

from sandmill.errors import InputError, Problem, count, shorten
from sandmill.models.remote import (
    API,
    QUEUED_BEAT,
    STARTED_BEAT,
    PublicReply,
    PublicUpload,
    Refusal,
    RunReplies,
    RunReply,
    ServerInfo,
)

CONNECT_S = 5.0
"""Longest time for a connection, in seconds."""
SILENCE_S = 20.0
"""Longest silence of a server while it works on a request, in seconds. It sends a space twice a second."""
_PIECE_BYTES = 1 << 16
_BEATS = QUEUED_BEAT + STARTED_BEAT
_MOST_ERROR_BYTES = 1 << 16
_LONGEST_RETRY_S = 60.0

Model = TypeVar("Model", bound=BaseModel)


class ServerDown(Exception):
    """The server does not answer, fails, or answers nonsense. Other servers may work."""


class ServerBusy(Exception):
    """The queue of the server is full."""

    def __init__(self, retry_after_s: float) -> None:
        super().__init__("the queue is full")
        self.retry_after_s = retry_after_s


class WrongToken(Exception):
    """The server refuses the token."""


class UnknownPublic(Exception):
    """The server does not have the public folder yet."""


class Stopped(Exception):
    """The caller no longer wants the answer."""


@dataclass(frozen=True)
class Times:
    """Longest times of one attempt on one server, in seconds."""

    queued_s: float
    """Until the run starts."""
    running_s: float
    """From the start of the run until its result."""


@dataclass(frozen=True)
class Address:
    """Where a server listens."""

    text: str
    scheme: str
    host: str
    port: int
    prefix: str

    @classmethod
    def parse(cls, text: object) -> "Address | Problem":
        """Split an address such as `http://host:8700`. A path before the endpoints is kept."""
        expected = "an address such as http://host:8700 or https://host/path"
        if not isinstance(text, str):
            return Problem("addresses", f"an object of type {type(text).__name__}", expected)
        try:
            parts = urlsplit(text)
            port = parts.port or (443 if parts.scheme == "https" else 80)
        except ValueError as error:
            return Problem("addresses", f"{shorten(text)!r}, {error}", expected)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
            return Problem("addresses", repr(shorten(text)), expected)
        if parts.username or parts.password:
            # The address is shown in messages.
            return Problem("addresses", "an address with a user or password", expected, "Pass the token as token=")
        return cls(text.rstrip("/"), parts.scheme, parts.hostname, port, parts.path.rstrip("/"))


class RemoteServer:
    """Requests to one server. Each uses a new connection, so that a dead one never breaks a later request."""

    def __init__(self, address: Address, token: str, tls: ssl.SSLContext | None) -> None:
        self.address, self._tls = address, tls
        self._headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}

    def info(self) -> ServerInfo:
        """Return the facts of the server.

        Raises:
            ServerDown, WrongToken: if it cannot be used.
        """
        with self._request("GET", "/v1/info", None) as response:
            info = _parse(ServerInfo, _read(response, _MOST_ERROR_BYTES, lambda _: False))
        if info.api != API:
            raise ServerDown(f"it speaks version {info.api} of the protocol, this client version {API}")
        return info

    def upload(self, files: dict[str, bytes]) -> str:
        """Upload a public folder. Returns its digest."""
        body = PublicUpload(files=files).model_dump_json().encode()
        with self._request("POST", "/v1/public", body) as response:
            return _parse(PublicReply, _read(response, _MOST_ERROR_BYTES, lambda _: False)).public

    def run(self, batch: bytes, most_bytes: int, times: "Times", is_stopped: Callable[[], bool]) -> RunReply:
        """Send a batch of one run and wait for its reply of at most `most_bytes`.

        Raises:
            Stopped: if `is_stopped` returns True before the reply is there. The server then cancels the run.
            ServerDown, ServerBusy, WrongToken, UnknownPublic: if there is no reply.
        """
        queued_until = time.monotonic() + times.queued_s
        ended_until: float | None = None

        def check(beats: bytes) -> bool:
            nonlocal ended_until
            now = time.monotonic()
            if ended_until is None and STARTED_BEAT in beats:
                ended_until = now + times.running_s
            if now > (queued_until if ended_until is None else ended_until):
                raise ServerDown("no result in time")
            return is_stopped()

        with self._request("POST", "/v1/runs", batch) as response:
            replies = _parse(RunReplies, _read(response, most_bytes, check)).results
        if len(replies) != 1:
            raise ServerDown(f"it sent {len(replies)} results for one run")
        return replies[0]

    @contextmanager
    def _request(self, method: str, path: str, body: bytes | None) -> Iterator[http.client.HTTPResponse]:
        """Send a request and yield a response whose status is a success."""
        connection = self._connection()
        try:
            connection.connect()
            connection.sock.settimeout(SILENCE_S)
            # A server that refuses a request may close before it has read all of it. Its answer can be there.
            with suppress(BrokenPipeError, ConnectionResetError):
                connection.request(method, self.address.prefix + path, body, self._headers)
            response = connection.getresponse()
            if response.status != http.HTTPStatus.OK:
                raise _failure(response)
            yield response
        except (OSError, http.client.HTTPException) as error:
            raise ServerDown(_reason(error)) from error
        finally:
            connection.close()

    def _connection(self) -> http.client.HTTPConnection:
        host, port = self.address.host, self.address.port
        if self.address.scheme == "https":
            return http.client.HTTPSConnection(host, port, timeout=CONNECT_S, context=self._tls)
        return http.client.HTTPConnection(host, port, timeout=CONNECT_S)


def _failure(response: http.client.HTTPResponse) -> Exception:
    """Return the exception of a response that is an error."""
    body = response.read(_MOST_ERROR_BYTES)
    try:
        detail = Refusal.model_validate_json(body).detail
    except ValidationError:
        detail = response.reason
    detail = shorten(detail, 300)
    match response.status:
        case 401 | 403:
            return WrongToken(detail)
        case 404 if "public" in detail:
            return UnknownPublic(detail)
        case 429:
            return ServerBusy(_retry_after(response))
    return ServerDown(f"HTTP {response.status}: {detail}")


def _retry_after(response: http.client.HTTPResponse) -> float:
    value = response.headers.get("retry-after", "")
    return min(_LONGEST_RETRY_S, max(0.1, float(value))) if value.isdigit() else 1.0


def _read(response: http.client.HTTPResponse, most_bytes: int, is_stopped: Callable[[bytes], bool]) -> bytes:
    """Read a body. The white space that the server sends while it works goes to `is_stopped`."""
    body = bytearray()
    while piece := response.read1(_PIECE_BYTES):
        content = piece if body else piece.lstrip(_BEATS)
        if is_stopped(piece[: len(piece) - len(content)]):
            raise Stopped
        body += content
        if len(body) > most_bytes:
            raise ServerDown(f"it sent more than {most_bytes} bytes")
    return bytes(body)


def _parse(model: type[Model], body: bytes) -> Model:
    try:
        return model.model_validate_json(body)
    except ValidationError as error:
        raise ServerDown(f"its answer has {count(error.error_count(), 'fault')}") from error


def _reason(error: Exception) -> str:
    if isinstance(error, TimeoutError):
        return f"no answer for {SILENCE_S:g} s"
    return shorten(getattr(error, "strerror", None) or str(error) or type(error).__name__, 200)


def wrong_token(address: Address, detail: str) -> InputError:
    """Return the error to raise if a server does not accept the token."""
    problem = Problem("token", f"{address.text} refuses it: {detail}", "the token of the server's --token-file")
    return InputError("remote sandbox", [problem], "Nothing was run.")
