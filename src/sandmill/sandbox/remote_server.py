"""One server of a remote sandbox: send requests, and turn each kind of failure into an exception."""

import http.client
import ssl
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from operator import gt
from typing import TypeVar
from urllib.parse import urlsplit

from pydantic import BaseModel, ValidationError

from sandmill.errors import Problem, count, shorten
from sandmill.models import remote
from sandmill.models.run import RunLimits
from sandmill.sandbox.carried import MOST_NAME_BYTES
from sandmill.sandbox.wire import json_pieces

CONNECT_S = 5.0
SILENCE_S = 20.0
"""Longest silence of a server while it works on a request, in seconds. It sends a space twice a second."""
_PIECE_BYTES = 1 << 16
_BEATS = remote.QUEUED_BEAT + remote.STARTED_BEAT
_MOST_ERROR_BYTES = 1 << 16
_LONGEST_RETRY_S = 60.0
_SLOWEST_BYTES_S = 1 << 20
"""Bytes that a server sends in a second at least, once it has begun to send a reply."""
_MOST_DETAIL_CHARS = 2000
_JSON_GROWTH = 6
"""Most bytes of JSON for one byte of output, as in `\\u0000`."""
_SLACK_BYTES = 1 << 20
_MB = 1 << 20

Model = TypeVar("Model", bound=BaseModel)


class ServerDown(Exception):
    """The server does not answer, fails, or answers nonsense. Other servers may work."""


class RunLost(ServerDown):
    """The run had started on the server, which then fell silent or sent no usable reply. The agent can be the cause."""


class ServerBusy(Exception):
    """The queue of the server is full. The argument is the number of seconds after which it may be asked again."""


class WrongToken(Exception):
    """The server refuses the token."""


class UnknownPublic(Exception):
    """The server does not have the public folder yet."""


class Stopped(Exception):
    """The caller no longer wants the answer."""


@dataclass(frozen=True)
class RunTerms:
    """What a client accepts for one run. A server may be hostile, so its own limits are not enough."""

    limits: RunLimits
    scratch_bytes: int
    """Most bytes of a scratch folder; 0 if none travels."""
    queued_s: float
    """Longest time until the run starts, in seconds."""
    running_s: float
    """Longest time from the start of the run until its result, in seconds."""
    is_stopped: Callable[[], bool]

    @property
    def most_bytes(self) -> int:
        """Bytes of the largest reply. The paths of removed files have the limit of the paths that were sent."""
        names = 2 * MOST_NAME_BYTES if self.scratch_bytes else 0
        contents = base64_bytes(self.limits.submission_mb * _MB + self.scratch_bytes)
        return contents + names + 2 * self.limits.output_kb * 1024 * _JSON_GROWTH + _SLACK_BYTES

    def cut(self, reply: remote.RunReply) -> remote.RunReply:
        """Return the reply with its texts cut to the limits and its detail escaped.

        Raises `ServerDown` if something else exceeds the limits.
        """
        written = reply.scratch.written if reply.scratch else ()
        sizes = len(reply.submission or b""), sum(len(one.content or b"") for one in written), len(written)
        if any(map(gt, sizes, (self.limits.submission_mb * _MB, self.scratch_bytes, self.limits.inodes))):
            raise ServerDown("its answer exceeds the limits of the run")
        kept = self.limits.output_kb * 1024
        return reply.model_copy(
            update={
                "stdout": reply.stdout[-kept:],
                "stderr": reply.stderr[-kept:],
                "detail": shorten(reply.detail, _MOST_DETAIL_CHARS),
                "duration_s": min(reply.duration_s, self.running_s),
            }
        )


def base64_bytes(size: int) -> int:
    """Return the bytes that contents of this size take in JSON."""
    return -(-size // 3) * 4


def address_problem(text: object) -> Problem | None:
    """Return what is wrong with an address such as `http://host:8700` or `https://host/path`; None if it is right."""
    expected = "an address such as http://host:8700 or https://host/path"
    if not isinstance(text, str):
        return Problem("addresses", f"an object of type {type(text).__name__}", expected)
    try:
        parts = urlsplit(text)
        _ = parts.port
    except ValueError as error:
        return Problem("addresses", f"{shorten(text)!r}, {error}", expected)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
        return Problem("addresses", repr(shorten(text)), expected)
    if parts.username or parts.password:
        # The address is shown in messages.
        return Problem("addresses", "an address with a user or password", expected, "Pass the token as token=")
    return None


class RemoteServer:
    """Requests to one server. Each uses a new connection, so that a dead one never breaks a later request."""

    def __init__(self, address: str, token: str, tls: ssl.SSLContext | None) -> None:
        self.address, self._tls = address.rstrip("/"), tls
        self._headers = {"Authorization": f"Bearer {token}"}

    def info(self) -> remote.ServerInfo:
        """Return the facts of the server. Raises `ServerDown` or `WrongToken` if it cannot be used."""
        try:
            with self._request("GET", "/v1/info") as response:
                info = _read(response, remote.ServerInfo, _MOST_ERROR_BYTES)
        except (ServerBusy, UnknownPublic) as error:
            raise ServerDown(str(error)) from error
        if info.api != remote.API:
            hint = "install one version of sandmill on both sides"
            raise ServerDown(f"it speaks version {info.api} of the protocol, this client version {remote.API}: {hint}")
        return info

    def upload(self, files: dict[str, bytes]) -> str:
        """Upload a public folder. Returns its digest.

        Raises `ServerDown`, `ServerBusy` or `WrongToken` if it is not stored.
        """
        try:
            body = list(json_pieces(remote.PublicUpload(files=files)))
            with self._request("POST", "/v1/public", body) as response:
                return _read(response, remote.PublicReply, _MOST_ERROR_BYTES).public
        except UnknownPublic as error:
            raise ServerDown(str(error)) from error

    def run(self, batch: Sequence[bytes], terms: RunTerms) -> remote.RunReply:
        """Send a batch of one run, as pieces of JSON, and wait for its reply.

        Raises `Stopped` if the run is cancelled before the reply is there, which the server sees; `RunLost` if there is
        no usable reply although the run had started; else one of the other exceptions of this module.
        """
        watch = _Watch(terms)
        try:
            with self._request("POST", "/v1/runs", batch) as response:
                replies = _read(response, remote.RunReplies, terms.most_bytes, watch.check).results
            if len(replies) != 1:
                raise ServerDown(f"it sent {len(replies)} results for one run")
            return terms.cut(replies[0])
        except ServerDown as error:
            if watch.has_started:
                raise RunLost(str(error)) from error
            raise

    @contextmanager
    def _request(
        self, method: str, path: str, body: Sequence[bytes] | None = None
    ) -> Iterator[http.client.HTTPResponse]:
        """Send a request and yield a response whose status is a success."""
        headers = self._headers
        if body is not None:
            length = str(sum(map(len, body)))
            headers = {**headers, "Content-Type": "application/json", "Content-Length": length}
        parts = urlsplit(self.address)
        is_tls = parts.scheme == "https"
        connect = partial(http.client.HTTPSConnection, context=self._tls) if is_tls else http.client.HTTPConnection
        connection = connect(parts.hostname or "", parts.port or (443 if is_tls else 80), timeout=CONNECT_S)
        try:
            connection.connect()
            connection.sock.settimeout(SILENCE_S)
            # A server that refuses a request may close before it has read all of it. Its answer can be there.
            with suppress(BrokenPipeError, ConnectionResetError):
                connection.request(method, parts.path + path, body, headers)
            response = connection.getresponse()
            if response.status != http.HTTPStatus.OK:
                raise _failure(response)
            yield response
        except TimeoutError as error:
            raise ServerDown(f"no answer for {SILENCE_S:g} s") from error
        except (OSError, http.client.HTTPException) as error:
            reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
            raise ServerDown(shorten(reason, 200)) from error
        finally:
            connection.close()


def _failure(response: http.client.HTTPResponse) -> Exception:
    """Return the exception of a response that is an error."""
    body = response.read(_MOST_ERROR_BYTES)
    try:
        detail = remote.Refusal.model_validate_json(body).detail
    except ValidationError:
        detail = response.reason
    detail = shorten(detail, 300)
    match response.status:
        case 401 | 403:
            return WrongToken(detail)
        case 404 if "public" in detail:
            return UnknownPublic(detail)
        case 429:
            wait = response.headers.get("retry-after", "")
            is_number = wait.isascii() and wait.isdigit()
            return ServerBusy(min(_LONGEST_RETRY_S, max(0.1, float(wait))) if is_number else 1.0)
    return ServerDown(f"HTTP {response.status}: {detail}")


class _Watch:
    """Sees the beats of a server while a run goes on, and decides when to give up."""

    def __init__(self, terms: RunTerms) -> None:
        self.has_started = False
        self._terms = terms
        self._until = time.monotonic() + terms.queued_s
        self._is_sending = False

    def check(self, beats: bytes, has_content: bool) -> None:
        """Take the white space of a piece, and whether content has followed.

        Raises `Stopped` or `ServerDown` if the caller has cancelled, or the time is over.
        """
        now = time.monotonic()
        if not self.has_started and remote.STARTED_BEAT in beats:
            self.has_started, self._until = True, now + self._terms.running_s
        if has_content and not self._is_sending:
            transfer_s = self._terms.most_bytes / _SLOWEST_BYTES_S
            self._is_sending, self._until = True, max(now, self._until) + transfer_s
        if now > self._until:
            raise ServerDown("no result in time")
        if self._terms.is_stopped():
            raise Stopped


def _read(
    response: http.client.HTTPResponse,
    model: type[Model],
    most_bytes: int,
    check: Callable[[bytes, bool], None] = lambda _beats, _has_content: None,
) -> Model:
    """Read a message. The white space that the server sends while it works goes to `check`."""
    text = bytearray()
    while piece := response.read1(_PIECE_BYTES):
        content = piece if text else piece.lstrip(_BEATS)
        check(piece[: len(piece) - len(content)], bool(text or content))
        text += content
        if len(text) > most_bytes:
            raise ServerDown(f"its answer cannot be read: more than {most_bytes} bytes")
    try:
        return model.model_validate_json(bytes(text))
    except ValidationError as error:
        raise ServerDown(f"its answer has {count(error.error_count(), 'fault')}") from error
