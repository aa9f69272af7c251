"""The servers of a remote sandbox: choose one for each run, repeat runs after failures, and wait while all are busy."""

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from time import monotonic

from sandmill.models.remote import RunReply
from sandmill.models.reports import Outcome
from sandmill.models.run import Isolation
from sandmill.sandbox.frames import Frame
from sandmill.sandbox.remote_server import (
    RemoteServer,
    ReplyLimits,
    RunLost,
    ServerBusy,
    ServerDown,
    Stopped,
    Times,
    UnknownPublic,
    WrongToken,
)

_FIRST_PAUSE_S = 2.0
"""Seconds for which a server is left out after its first failure. Each further failure in a row doubles them."""
_LONGEST_PAUSE_S = 60.0
AT_ONCE_S = 5.0
"""Losses of runs of several tasks within this time, in seconds, are a fault of the server."""
MOST_SHARED = 0.01
"""Share of the runs above which shared losses are a warning in the log."""
_WARNING_PAUSE_S = 60.0
_KEPT_LOSSES = 10_000
_LOG = logging.getLogger(__name__)
_MOST_UPLOADS = 2
"""Uploads of one public folder to one server for one run. A server removes folders when its room is full."""
_MOST_LOSSES = 2
"""Servers that may lose a run after its start, until the run counts as a failure of the agent."""
_VERDICT_S = 2.0
"""Seconds within which all runs of a server see the same fault. They are waited for before an agent is blamed."""
_WAIT_CHECK_S = 0.2
"""Seconds between two checks of a waiting run: has it been cancelled?"""


@dataclass(frozen=True)
class Losses:
    """What a remote sandbox has lost so far."""

    runs: int = 0
    """Runs so far."""
    lost: int = 0
    """Times that a server fell silent or sent no usable reply after a run had started on it."""
    shared: int = 0
    """Those of the lost at which the server lost runs of several tasks at once. They are faults of the server."""
    failed: int = 0
    """Runs that counted as failures of the agent, since two servers had lost them."""


@dataclass(frozen=True)
class Loss:
    """A run that a server did not bring to its end."""

    number: int
    """Number of the server."""
    task: str
    """Digest of the public folder."""
    fault: str
    at: float


@dataclass
class FleetServer:
    """A server and its state. The lock of the fleet protects it."""

    server: RemoteServer
    in_flight: int = 0
    failures: int = 0
    out_until: float = 0.0
    """Time until which the server is left out after a failure."""
    busy_until: float = 0.0
    """Time until which the server has asked for no more requests."""
    fault: str = ""
    """Last failure."""


class Fleet:
    """The servers behind one remote sandbox. Thread-safe."""

    def __init__(self, servers: Sequence[RemoteServer], clock: Callable[[], float] = monotonic) -> None:
        self.members = tuple(FleetServer(server) for server in servers)
        self._clock = clock
        self._lock = threading.Lock()
        self._turn = 0
        self._recent: deque[Loss] = deque(maxlen=_KEPT_LOSSES)
        self._warned_at = -_WARNING_PAUSE_S
        self.losses = Losses()

    @contextmanager
    def lend(self, failed: Collection[int], avoided: Collection[int] = ()) -> Iterator[int | None]:
        """Yield the number of the server for the next attempt, or None if all that are left are busy.

        A server that is left out after failures is used only if no other one is left, so a restarted server is found
        again at once when it is needed.

        Args:
            failed: numbers of the servers that have failed this request already.
            avoided: numbers of servers that are used only if no other one is left.
        """
        with self._lock:
            number = self._choose(failed, avoided)
            if number is not None:
                self.members[number].in_flight += 1
        try:
            yield number
        finally:
            if number is not None:
                with self._lock:
                    self.members[number].in_flight -= 1

    def seconds_until_free(self, failed: Collection[int]) -> float:
        """Return the time until the first busy server may be asked again."""
        now = self._clock()
        with self._lock:
            times = [member.busy_until - now for number, member in enumerate(self.members) if number not in failed]
        return max(0.0, min(times, default=0.0))

    def worked(self, number: int) -> None:
        """Record an answer."""
        with self._lock:
            member = self.members[number]
            member.failures, member.out_until, member.fault = 0, 0.0, ""

    def failed(self, number: int, fault: str) -> None:
        """Record a failure. The server is left out for a while."""
        with self._lock:
            member = self.members[number]
            pause = min(_LONGEST_PAUSE_S, _FIRST_PAUSE_S * 2**member.failures)
            # Requests that were under way together fail together, and count once.
            if self._clock() >= member.out_until:
                member.failures += 1
                member.out_until = self._clock() + pause
            member.fault = fault

    def lost(self, number: int, task: str, fault: str) -> Loss:
        """Record that a server lost a run. It is left out only after losses of several tasks at once.

        The code of one task could cause every loss of its runs, and must not take the server away from others.
        """
        loss = Loss(number, task, fault, self._clock())
        with self._lock:
            self._recent.append(loss)
        if self.is_shared(loss):
            self.failed(number, fault)
        return loss

    def is_shared(self, loss: Loss) -> bool:
        """Return whether the server lost runs of other tasks at the same time, as far as is known now."""
        with self._lock:
            return any(
                one.number == loss.number and one.task != loss.task and abs(one.at - loss.at) <= AT_ONCE_S
                for one in self._recent
            )

    def count(self, **more: int) -> None:
        """Add to the published counts, by the names of `Losses`, and warn if the share of shared losses is high."""
        with self._lock:
            sums = {name: getattr(self.losses, name) + number for name, number in more.items()}
            self.losses = new = replace(self.losses, **sums)
            is_high = more.get("shared") and new.shared > MOST_SHARED * new.runs
            if not is_high or self._clock() - self._warned_at < _WARNING_PAUSE_S:
                return
            self._warned_at = self._clock()
        _LOG.warning(
            "Servers lost %d of %d runs together with runs of other tasks, more than %g %%. If no server was stopped, "
            "scripts may be the cause: such runs can be masked.",
            new.shared,
            new.runs,
            100 * MOST_SHARED,
        )

    def is_busy(self, number: int, seconds: float) -> None:
        """Record that the queue of a server is full."""
        with self._lock:
            self.members[number].busy_until = self._clock() + seconds

    def _choose(self, failed: Collection[int], avoided: Collection[int]) -> int | None:
        now = self._clock()
        left = [number for number in range(len(self.members)) if number not in failed]
        left = [number for number in left if number not in avoided] or left
        working = [number for number in left if self.members[number].out_until <= now] or left
        free = [number for number in working if self.members[number].busy_until <= now]
        if not free:
            return None
        self._turn += 1
        turned = sorted(free, key=lambda number: (number - self._turn) % len(self.members))
        return min(turned, key=lambda number: self.members[number].in_flight)


@dataclass(frozen=True)
class Dispatch:
    """One run to be done by any server."""

    body: Frame
    """Body of `POST /v1/runs`."""
    public: str
    """Digest of the public folder. It identifies the task."""
    public_files: Callable[[], dict[str, bytes]]
    """Reads the public folder, for a server that does not have it."""
    reply_limits: ReplyLimits
    times: Times
    max_wait_s: float
    """Longest wait while all servers are busy, in seconds."""
    isolation: Isolation
    is_stopped: Callable[[], bool]
    """Whether the caller has cancelled the run."""
    failed: dict[int, str] = field(default_factory=dict)
    """Last failure by number of the server."""
    losses: list[Loss] = field(default_factory=list)
    """Losses of this run after its start that no other task shared."""


def dispatch(run: Dispatch, fleet: Fleet) -> RunReply:
    """Return the reply of the first server that gives one. Each server gets the run at most once after a failure.

    The reply is an `infra_error` if the run is cancelled, all servers fail, or all are busy for too long. A run that
    two servers lose after its start is a failure of the agent instead, unless they lost runs of other tasks with it.
    """
    fleet.count(runs=1)
    reply = _dispatch(run, fleet)
    fleet.count(shared=sum(map(fleet.is_shared, run.losses)))
    return reply


def _dispatch(run: Dispatch, fleet: Fleet) -> RunReply:
    give_up = time.monotonic() + run.max_wait_s
    while len(run.failed) < len(fleet.members):
        if run.is_stopped():
            return _failure(run, "cancelled")
        with fleet.lend(run.failed, [loss.number for loss in run.losses]) as number:
            if number is not None:
                reply = _attempt(run, fleet, number)
                if reply is not None:
                    return reply
                continue
        if time.monotonic() > give_up:
            return _failure(run, f"the queues of all servers were full for {run.max_wait_s:g} s")
        time.sleep(min(_WAIT_CHECK_S, fleet.seconds_until_free(run.failed)))
    return _failure(run, "all servers failed: " + "; ".join(_faults(run, fleet)))


def _attempt(run: Dispatch, fleet: Fleet, number: int) -> RunReply | None:
    """Try one server. Returns None if the run must go to another one, or back to this one later."""
    try:
        reply = _ask(run, fleet.members[number].server)
    except ServerBusy as error:
        fleet.is_busy(number, error.retry_after_s)
        return None
    except Stopped:
        return _failure(run, "cancelled")
    except RunLost as error:
        return _lose(run, fleet, fleet.lost(number, run.public, str(error)))
    except (ServerDown, WrongToken) as error:
        run.failed[number] = str(error)
        fleet.failed(number, str(error))
        return None
    if reply.outcome is not Outcome.INFRA_ERROR:
        fleet.worked(number)
        return reply
    # An `infra_error` is a fault of the server and not of the agent's code, so the run is repeated on another server.
    fleet.lost(number, run.public, reply.detail)
    run.failed[number] = reply.detail
    return None if len(run.failed) < len(fleet.members) else reply


def _lose(run: Dispatch, fleet: Fleet, loss: Loss) -> RunReply | None:
    """Return the failure of the agent if this is the second loss that no other task shares, else None."""
    fleet.count(lost=1)
    run.losses.append(loss)
    if len(run.losses) >= _MOST_LOSSES:
        time.sleep(_VERDICT_S)
    for one in [one for one in run.losses if fleet.is_shared(one)]:
        run.losses.remove(one)
        run.failed[one.number] = one.fault
        fleet.count(shared=1)
    if len(run.losses) < _MOST_LOSSES:
        return None
    fleet.count(failed=1)
    faults = "; ".join(one.fault for one in run.losses)
    detail = f"the script counts as failed: it had started on a server and was lost, {len(run.losses)} times ({faults})"
    return RunReply(outcome=Outcome.RUNTIME_ERROR, isolation=run.isolation, detail=detail)


def _ask(run: Dispatch, server: RemoteServer) -> RunReply:
    for uploads in range(_MOST_UPLOADS + 1):
        try:
            return server.run(run.body, run.reply_limits, run.times, run.is_stopped)
        except UnknownPublic:
            if uploads < _MOST_UPLOADS and server.upload(run.public_files()) != run.public:
                raise ServerDown("it stored the public folder under another digest") from None
    raise ServerDown("it does not keep the public folder")


def _failure(run: Dispatch, detail: str) -> RunReply:
    return RunReply(outcome=Outcome.INFRA_ERROR, isolation=run.isolation, detail=detail)


def _faults(run: Dispatch, fleet: Fleet) -> list[str]:
    return [f"{fleet.members[number].server.address.text}: {fault}" for number, fault in sorted(run.failed.items())]
