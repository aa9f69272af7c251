"""Bring one run to its end on a fleet: repeat it on other servers after failures, and wait while all are busy."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from sandmill.models.remote import RunReply
from sandmill.models.reports import Outcome
from sandmill.models.run import Isolation
from sandmill.sandbox.fleet import Fleet, Loss
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

_MOST_UPLOADS = 2
"""Uploads of one public folder to one server for one run. A server removes folders when its room is full."""
_MOST_LOSSES = 2
"""Servers that may lose a run after its start, until the run counts as a failure of the agent."""
_VERDICT_S = 2.0
"""Seconds within which all runs of a server see the same fault. They are waited for before an agent is blamed."""
_WAIT_CHECK_S = 0.2
"""Seconds between two checks of a waiting run: has it been cancelled?"""


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
