"""A sandbox on other machines: the interface of `Sandbox`, with servers that `sandmill serve` started."""

import logging
import ssl
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, sleep
from typing import Self

from sandmill.errors import InputError, Problem, SandboxUnavailable
from sandmill.models.remote import RunBatch, RunReply, RunRequest, ServerInfo, is_token, limits_above, smallest
from sandmill.models.reports import Outcome
from sandmill.models.run import Isolation, RunLimits, RunResult
from sandmill.sandbox.carried import MOST_NAME_BYTES, apply_changes, read_scratch, skipped_note
from sandmill.sandbox.public_folder import check_names, digest_of, read_folder
from sandmill.sandbox.remote_server import (
    RemoteServer,
    RunLost,
    RunTerms,
    ServerBusy,
    ServerDown,
    Stopped,
    UnknownPublic,
    WrongToken,
    address_problem,
    base64_bytes,
)
from sandmill.sandbox.sandbox import check_run, refuse_code
from sandmill.sandbox.wire import json_pieces

LOSS_PAUSE_S, FAULT_PAUSE_S = 2.0, 30.0
"""Seconds for which a server is left out after a run that failed on it or was lost, which the code of an agent could
cause, and after a fault of its own."""
MOST_LOSSES = 2
"""Losses of a run after its start until it counts as a failure of the agent."""
_MOST_UPLOADS = 2
_WAIT_S = 0.1
"""Seconds between two attempts while all servers are busy."""
_MOST_STARTS = 16
"""Servers that are contacted at a time."""
_GRACE_S = 60.0
"""Time of a run beyond its time-out and its wait in the queue of a server: set-up, copies, transfer."""
_SLACK_BYTES = MOST_NAME_BYTES + (8 << 20)
"""Room in a request for the names of files, the code and other fields."""
_MB = 1 << 20
_LOG = logging.getLogger(__name__)


@dataclass(eq=False)
class _Member:
    """A server and its state, which the lock of the sandbox protects."""

    server: RemoteServer
    in_flight: int = 0
    out_until: float = 0.0
    busy_until: float = 0.0
    """Time until which the server has asked for no more requests."""


class RemoteSandbox:
    """Runs untrusted code on servers that `sandmill serve` started. It has the interface of `Sandbox`.

    Each run goes to the server with the fewest runs of this client. A server that fails is left out for a while, and
    its runs are repeated on the others. This is safe, since a run changes nothing but its scratch folder, and that
    travels with the run and comes back with the result. If all servers fail, the result is an `infra_error`. A run that
    is lost twice after its start is a `runtime_error`, since its code may be the cause. Each loss is logged.

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
        listed = [addresses] if isinstance(addresses, str) else list(addresses)
        _check_servers(listed, token)
        self._members = [_Member(RemoteServer(address, token, tls)) for address in listed]
        self._wanted, self._scratch_bytes, self._max_wait = limits, scratch_mb * _MB, max_wait
        self._known: ServerInfo | None = None
        self._starting, self._lock = threading.Lock(), threading.Lock()
        self._closed = threading.Event()
        self._turn = 0

    @property
    def limits(self) -> RunLimits:
        """Limits of each run."""
        return self._wanted or self._facts().limits

    @property
    def isolation(self) -> Isolation:
        """Isolation on the servers; `none` if one of them does not isolate."""
        return self._facts().isolation

    def start(self) -> None:
        """Contact all servers. Those that do not answer are left out for a while.

        Raises:
            InputError: if a server refuses the token, or allows less than the requested limits.
            SandboxUnavailable: if no server answers.
        """
        with self._starting, ThreadPoolExecutor(min(len(self._members), _MOST_STARTS)) as threads:
            infos, problems = {}, []
            for member, found in zip(self._members, threads.map(self._contact, self._members), strict=True):
                address = member.server.address
                if isinstance(found, ServerInfo):
                    infos[address] = found
                else:
                    _LOG.warning("%s is left out: %s", address, found)
                    problems.append(Problem(address, found, "a server", "Is sandmill serve running there?"))
            if not infos:
                raise SandboxUnavailable("remote sandbox", problems)
            self._known = _combine(infos, self._wanted, self._scratch_bytes)

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
        known, longest_s = self._facts(), timeout + _GRACE_S
        if timeout > known.timeout:
            expected = f"at most {known.timeout:g} s"
            problem = Problem("timeout", f"{timeout:g}", expected, "See sandmill serve --timeout")
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
        closed, batch = self._closed, list(json_pieces(RunBatch(runs=(request,))))
        terms = RunTerms(
            limits=self.limits,
            scratch_bytes=0 if carried is None else self._scratch_bytes,
            queued_s=_GRACE_S + self._max_wait,
            running_s=longest_s,
            is_stopped=lambda: closed.is_set() or bool(cancel and cancel.is_set()),
        )

        def ask(server: RemoteServer) -> RunReply:
            for uploads in range(_MOST_UPLOADS + 1):
                try:
                    return server.run(batch, terms)
                except UnknownPublic:
                    if uploads < _MOST_UPLOADS and server.upload(read_folder(Path(public))) != request.public:
                        raise ServerDown("it stored the public folder under another digest") from None
            raise ServerDown("it does not keep the public folder")

        reply = self._dispatch(ask, terms.is_stopped)
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

    def _contact(self, member: _Member) -> ServerInfo | str:
        """Return the facts of a server, or the reason why it cannot be used."""
        try:
            info = member.server.info()
        except WrongToken as error:
            saw = f"{member.server.address} refuses it: {error}"
            problem = Problem("token", saw, "the token of the server's --token-file")
            raise InputError("remote sandbox", [problem], "Nothing was run.") from None
        except ServerDown as error:
            self._leave_out(member, FAULT_PAUSE_S)
            return str(error)
        return info

    def _dispatch(self, ask: Callable[[RemoteServer], RunReply], is_stopped: Callable[[], bool]) -> RunReply:
        """Return the reply of the first server that gives one. Each server gets the run at most once after a failure.

        The reply is an `infra_error` if the run is cancelled, all servers fail, or all are busy for too long. A run
        that is lost twice after its start is a failure of the agent instead.
        """
        give_up = monotonic() + self._max_wait
        failed: dict[_Member, str] = {}
        lost: list[tuple[_Member, str]] = []
        while left := [member for member in self._members if member not in failed]:
            if is_stopped():
                return self._failure("cancelled")
            member = self._choose(left, [loser for loser, _ in lost])
            if member is None:
                if monotonic() > give_up:
                    return self._failure(f"the queues of all servers were full for {self._max_wait:g} s")
                sleep(_WAIT_S)
                continue
            try:
                reply = ask(member.server)
                if reply.outcome is not Outcome.INFRA_ERROR:
                    return reply
                # A fault of the server and not of the agent's code, so the run is repeated on another server.
                failed[member] = reply.detail
                self._leave_out(member, LOSS_PAUSE_S)
                if len(failed) == len(self._members):
                    return reply
            except ServerBusy as busy:
                member.busy_until = monotonic() + busy.args[0]
            except Stopped:
                return self._failure("cancelled")
            except RunLost as error:
                _LOG.warning("%s lost a run that had started: %s", member.server.address, error)
                self._leave_out(member, LOSS_PAUSE_S)
                lost.append((member, str(error)))
                if len(lost) >= MOST_LOSSES:
                    faults = "; ".join(fault for _, fault in lost)
                    detail = f"had started on a server and was lost, {len(lost)} times ({faults})"
                    return self._failure(f"the script counts as failed: it {detail}", Outcome.RUNTIME_ERROR)
            except (ServerDown, WrongToken) as error:
                failed[member] = str(error)
                self._leave_out(member, FAULT_PAUSE_S)
            finally:
                with self._lock:
                    member.in_flight -= 1
        faults = "; ".join(f"{member.server.address}: {failed[member]}" for member in self._members)
        return self._failure(f"all servers failed: {faults}")

    def _choose(self, left: Sequence[_Member], avoided: Sequence[_Member]) -> _Member | None:
        """Return the server for the next attempt, with one more run in flight; None if all that are left are busy.

        A server that is left out or avoided is used only if no other one is left. So leaving one out fails no run, and
        a restarted server is found again at once when it is needed.
        """
        with self._lock:
            now = monotonic()
            left = [member for member in left if member not in avoided] or left
            left = [member for member in left if member.out_until <= now] or left
            if not (free := [member for member in left if member.busy_until <= now]):
                return None
            self._turn += 1
            turn = self._turn % len(free)
            chosen = min(free[turn:] + free[:turn], key=lambda member: member.in_flight)
            chosen.in_flight += 1
            return chosen

    def _leave_out(self, member: _Member, seconds: float) -> None:
        with self._lock:
            member.out_until = max(member.out_until, monotonic() + seconds)

    def _failure(self, detail: str, outcome: Outcome = Outcome.INFRA_ERROR) -> RunReply:
        return RunReply(outcome=outcome, isolation=self.isolation, detail=detail)

    def _facts(self) -> ServerInfo:
        if self._known is None:
            self.start()
        assert self._known is not None
        return self._known

    def _digest(self, public: Path) -> str:
        """Return the digest of a public folder, which may have changed since the last run."""
        files = read_folder(public)
        check_names(files)
        size = sum(map(len, files.values()))
        most = (self._facts().max_request_bytes - _SLACK_BYTES) * 3 // 4
        if size > most:
            saw, expected = f"{public}, {size} bytes", f"at most {most} bytes (sandmill serve --max-request-mb)"
            raise InputError("run", [Problem("public", saw, expected)], "Nothing was run.")
        return digest_of(files)


def _check_servers(addresses: Sequence[object], token: object) -> None:
    problems = [problem for address in addresses if (problem := address_problem(address))]
    if not addresses:
        problems.append(Problem("addresses", "none", "at least one address such as http://host:8700"))
    texts = [text.rstrip("/") for text in addresses if isinstance(text, str)]
    twice = {text for text in texts if texts.count(text) > 1}
    problems += [Problem("addresses", f"{text} twice", "each server once") for text in twice]
    if not isinstance(token, str) or not is_token(token):
        problems.append(Problem("token", "a value that no server accepts", "the content of the server's --token-file"))
    if problems:
        raise InputError("remote sandbox", problems, "Nothing was run.")


def _combine(infos: dict[str, ServerInfo], wanted: RunLimits | None, scratch_bytes: int) -> ServerInfo:
    """Combine the facts of all servers, by address, so that every run is possible on each of them."""
    problems = [
        Problem("limits", f"{name} {getattr(wanted, name)}", f"at most {getattr(info.limits, name)} of {address}")
        for address, info in infos.items()
        if wanted
        for name in limits_above(wanted, info.limits)
    ]
    needed = base64_bytes(scratch_bytes) + _SLACK_BYTES
    problems += [
        Problem("scratch_mb", f"requests of {needed} bytes", f"at most {info.max_request_bytes} of {address}")
        for address, info in infos.items()
        if needed > info.max_request_bytes
    ]
    if problems:
        raise InputError("remote sandbox", problems, "Nothing was run.")
    first, *_ = listed = list(infos.values())
    facts = {
        "limits": smallest([info.limits for info in listed]),
        "isolation": next((info.isolation for info in listed if info.isolation is Isolation.NONE), first.isolation),
        "timeout": min(info.timeout for info in listed),
        "max_request_bytes": min(info.max_request_bytes for info in listed),
    }
    return first.model_copy(update=facts)
