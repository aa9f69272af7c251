"""A sandbox on other machines: the interface of `Sandbox`, with servers that `sandmill serve` started."""

import logging
import ssl
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from sandmill.errors import InputError, Problem, SandboxUnavailable
from sandmill.models.remote import RunBatch, RunRequest, ServerInfo, is_token, limits_above, smallest
from sandmill.models.run import Isolation, RunLimits, RunResult
from sandmill.sandbox.carried import MOST_NAME_BYTES, apply_changes, read_scratch, skipped_note
from sandmill.sandbox.fleet import Dispatch, Fleet, Losses, dispatch
from sandmill.sandbox.frames import Frame
from sandmill.sandbox.public_folder import check_names, digest_of, read_folder, stamp_of
from sandmill.sandbox.remote_server import (
    Address,
    RemoteServer,
    ReplyLimits,
    ServerDown,
    Times,
    WrongToken,
    wrong_token,
)
from sandmill.sandbox.sandbox import check_run, refuse_code

_KEPT_DIGESTS = 4096
_MOST_STARTS = 16
"""Servers that are contacted at a time."""
_GRACE_S = 60.0
"""Time of a run beyond its time-out and its wait in the queue of a server: set-up, copies, transfer."""
_SLACK_BYTES = MOST_NAME_BYTES + (8 << 20)
"""Room in a request for the names of files, the code and other fields."""
_MB = 1 << 20
_LOG = logging.getLogger(__name__)


@dataclass(frozen=True)
class _Known:
    """What the servers have said at the start."""

    limits: RunLimits
    isolation: Isolation
    timeout_s: float
    request_bytes: int


class RemoteSandbox:
    """Runs untrusted code on servers that `sandmill serve` started. It has the interface of `Sandbox`.

    Each run goes to the server with the fewest runs of this client. A server that fails is left out for a while, and
    its runs are repeated on the others. This is safe, since a run changes nothing but its scratch folder, and that
    travels with the run and comes back with the result. If all servers fail, the result is an `infra_error`. A run that
    is lost after its start on two servers is a `runtime_error`, since its code may be the cause; see `losses`.

    A remote sandbox is thread-safe. `AsyncSandbox.over(box)` gives coroutines.
    """

    backend = "remote"

    def __init__(
        self,
        addresses: Sequence[str],
        *,
        token: str,
        limits: RunLimits | None = None,
        scratch_mb: int = 64,
        max_wait: float = 600.0,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        """Check the arguments. No server is contacted yet.

        Args:
            addresses: servers, such as `["http://10.0.0.1:8700", "http://10.0.0.2:8700"]`.
            token: content of their `--token-file`, the same for all.
            limits: limits of each run, at most those of every server. None means the smallest of all servers.
            scratch_mb: largest scratch folder, in MB. Further files are skipped, and `detail` reports it.
            max_wait: longest wait while the queues of all servers are full, in seconds.
            tls: settings for https addresses. None means the certificates that the system trusts.

        Raises:
            InputError: if an address or the token cannot be right.
        """
        parsed = _parse_addresses(addresses, token)
        self._fleet = Fleet([RemoteServer(address, token, tls) for address in parsed])
        self._wanted, self._scratch_bytes, self._max_wait = limits, scratch_mb * _MB, max_wait
        self._known: _Known | None = None
        self._starting = threading.Lock()
        self._closed = threading.Event()
        self._digests: dict[Path, tuple[object, str]] = {}

    @property
    def limits(self) -> RunLimits:
        """Limits of each run."""
        return self._wanted or self._facts().limits

    @property
    def isolation(self) -> Isolation:
        """Isolation on the servers; `none` if one of them does not isolate."""
        return self._facts().isolation

    @property
    def losses(self) -> Losses:
        """Runs so far, and how many of them servers have lost after their start."""
        return self._fleet.losses

    def start(self) -> None:
        """Contact all servers. Those that do not answer are left out for a while.

        Raises:
            InputError: if a server refuses the token, or allows less than the requested limits.
            SandboxUnavailable: if no server answers.
        """
        with self._starting, ThreadPoolExecutor(min(len(self._fleet.members), _MOST_STARTS)) as threads:
            infos, problems = [], []
            for address, found in threads.map(self._ask, range(len(self._fleet.members))):
                if isinstance(found, ServerInfo):
                    infos.append((address, found))
                else:
                    _LOG.warning("%s is left out: %s", address.text, found)
                    problems.append(Problem(address.text, found, "a server", "Is sandmill serve running there?"))
            if not infos:
                raise SandboxUnavailable("remote sandbox", problems)
            self._known = _combine(infos, self._wanted, self._scratch_bytes)

    def _ask(self, number: int) -> tuple[Address, ServerInfo | str]:
        """Return the address of a server and its facts, or the reason why it cannot be used."""
        server = self._fleet.members[number].server
        try:
            info = server.info()
        except WrongToken as error:
            raise wrong_token(server.address, str(error)) from None
        except ServerDown as error:
            self._fleet.failed(number, str(error))
            return server.address, str(error)
        self._fleet.worked(number)
        return server.address, info

    def run(
        self,
        code: str,
        *,
        public: Path | str,
        scratch: Path | str | None = None,
        timeout: float = 30.0,
        cancel: threading.Event | None = None,
    ) -> RunResult:
        """Run code on one of the servers; see `Sandbox.run`.

        Raises:
            InputError: if an argument has a wrong type or value, or `timeout` is above that of the servers.
            SandboxUnavailable: if no server has ever answered.
        """
        check_run(code, public, scratch, timeout)
        known = self._facts()
        if timeout > known.timeout_s:
            problem = Problem(
                "timeout", f"{timeout:g}", f"at most {known.timeout_s:g} s", "See sandmill serve --timeout"
            )
            raise InputError("run", [problem], "Nothing was run.")
        if refused := refuse_code(code):
            return RunResult(outcome=refused[0], isolation=known.isolation, detail=refused[1])
        folder = None if scratch is None else Path(scratch)
        carried = None if folder is None else read_scratch(folder, self._scratch_bytes, self.limits.inodes)
        request = RunRequest(
            code=code.encode("utf-8", "replace").decode(),
            public=self._digest(Path(public)),
            timeout=float(timeout),
            limits=self.limits,
            scratch=None if carried is None else tuple(carried.entries),
            scratch_bytes=self._scratch_bytes,
        )
        closed = self._closed
        longest_s = timeout + _GRACE_S
        work = Dispatch(
            Frame.of(RunBatch(runs=(request,))),
            public=request.public or "",
            public_files=lambda: read_folder(Path(public)),
            reply_limits=ReplyLimits(self.limits, 0 if carried is None else self._scratch_bytes, longest_s),
            times=Times(queued_s=_GRACE_S + self._max_wait, running_s=longest_s),
            max_wait_s=self._max_wait,
            isolation=known.isolation,
            is_stopped=lambda: closed.is_set() or bool(cancel and cancel.is_set()),
        )
        reply = dispatch(work, self._fleet)
        if folder is None or carried is None:
            return reply.result()
        note = skipped_note(carried.skipped, "sent")
        if reply.scratch is not None:
            sent = [entry.path for entry in carried.entries]
            note += skipped_note(apply_changes(folder, reply.scratch, sent), "written")
        return reply.result().model_copy(update={"detail": (reply.detail + note).removeprefix("; ")})

    def close(self) -> None:
        """Cancel all runs. The servers keep running."""
        self._closed.set()
        self._closed = threading.Event()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _facts(self) -> _Known:
        if self._known is None:
            self.start()
        assert self._known is not None
        return self._known

    def _digest(self, public: Path) -> str:
        """Return the digest of a public folder. The folder is read again only if a file has changed."""
        public, stamp = public.resolve(), stamp_of(public)
        kept = self._digests.get(public)
        if kept is None or kept[0] != stamp:
            files = read_folder(public)
            check_names(files)
            size, most = sum(map(len, files.values())), self._facts().request_bytes - _SLACK_BYTES
            if size > most:
                saw, expected = f"{public}, {size} bytes", f"at most {most} bytes (sandmill serve --max-request-mb)"
                raise InputError("run", [Problem("public", saw, expected)], "Nothing was run.")
            if len(self._digests) >= _KEPT_DIGESTS:
                self._digests.clear()
            kept = self._digests[public] = stamp, digest_of(files)
        return kept[1]


def _parse_addresses(addresses: Sequence[str], token: object) -> list[Address]:
    listed = [addresses] if isinstance(addresses, str) else list(addresses)
    parsed = [Address.parse(text) for text in listed]
    problems = [one for one in parsed if isinstance(one, Problem)]
    found = [one for one in parsed if isinstance(one, Address)]
    if not listed:
        problems.append(Problem("addresses", "none", "at least one address such as http://host:8700"))
    texts = [address.text for address in found]
    problems += [
        Problem("addresses", f"{text} twice", "each server once") for text in set(texts) if texts.count(text) > 1
    ]
    if not isinstance(token, str) or not is_token(token):
        problems.append(Problem("token", "a value that no server accepts", "the content of the server's --token-file"))
    if problems:
        raise InputError("remote sandbox", problems, "Nothing was run.")
    return found


def _combine(infos: Sequence[tuple[Address, ServerInfo]], wanted: RunLimits | None, scratch_bytes: int) -> _Known:
    """Combine the facts of all servers, so that every run is possible on each of them."""
    problems = [
        Problem("limits", f"{name} {getattr(wanted, name)}", f"at most {getattr(info.limits, name)} of {address.text}")
        for address, info in infos
        if wanted
        for name in limits_above(wanted, info.limits)
    ]
    needed = scratch_bytes + _SLACK_BYTES
    problems += [
        Problem("scratch_mb", f"requests of {needed} bytes", f"at most {info.max_request_bytes} of {address.text}")
        for address, info in infos
        if needed > info.max_request_bytes
    ]
    if problems:
        raise InputError("remote sandbox", problems, "Nothing was run.")
    kinds = [info.isolation for _, info in infos]
    return _Known(
        limits=smallest([info.limits for _, info in infos]),
        isolation=Isolation.NONE if Isolation.NONE in kinds else kinds[0],
        timeout_s=min(info.timeout for _, info in infos),
        request_bytes=min(info.max_request_bytes for _, info in infos),
    )
