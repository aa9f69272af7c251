"""Bring one run to its end on a fleet: repeat it on other servers after failures, and wait while all are busy."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from sandmill.models.remote import RunReply
from sandmill.models.reports import Outcome
from sandmill.models.run import Isolation
from sandmill.sandbox.fleet import Fleet
from sandmill.sandbox.remote_server import (
    RemoteServer,
    ServerBusy,
    ServerDown,
    Stopped,
    Times,
    UnknownPublic,
    WrongToken,
)

_MOST_UPLOADS = 3
"""Uploads of one public folder to one server for one run. A server removes folders when its room is full."""
_WAIT_CHECK_S = 0.2
"""Seconds between two checks of a waiting run: has it been cancelled?"""


@dataclass(frozen=True)
class Dispatch:
    """One run to be done by any server."""

    body: bytes
    """Body of `POST /v1/runs`."""
    public_files: Callable[[], dict[str, bytes]]
    """Reads the public folder, for a server that does not have it."""
    most_reply_bytes: int
    times: Times
    max_wait_s: float
    """Longest wait while all servers are busy, in seconds."""
    isolation: Isolation
    is_stopped: Callable[[], bool]
    """Whether the caller has cancelled the run."""
    failed: dict[int, str] = field(default_factory=dict)
    """Last failure by number of the server."""


def dispatch(run: Dispatch, fleet: Fleet) -> RunReply:
    """Return the reply of the first server that gives one. Each server gets the run at most once after a failure.

    The reply is an `infra_error` if the run is cancelled, all servers fail, or all are busy for too long.
    """
    give_up = time.monotonic() + run.max_wait_s
    while len(run.failed) < len(fleet.members):
        if run.is_stopped():
            return _failure(run, "cancelled")
        with fleet.lend(run.failed) as number:
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
    except (ServerDown, WrongToken) as error:
        run.failed[number] = str(error)
        fleet.failed(number, str(error))
        return None
    if reply.outcome is not Outcome.INFRA_ERROR:
        fleet.worked(number)
        return reply
    # An `infra_error` is a fault of the server and not of the agent's code, so the run is repeated on another server.
    fleet.failed(number, reply.detail)
    run.failed[number] = reply.detail
    return None if len(run.failed) < len(fleet.members) else reply


def _ask(run: Dispatch, server: RemoteServer) -> RunReply:
    for _ in range(_MOST_UPLOADS):
        try:
            return server.run(run.body, run.most_reply_bytes, run.times, run.is_stopped)
        except UnknownPublic:
            server.upload(run.public_files())
    raise ServerDown("it does not keep the public folder")


def _failure(run: Dispatch, detail: str) -> RunReply:
    return RunReply(outcome=Outcome.INFRA_ERROR, isolation=run.isolation, detail=detail)


def _faults(run: Dispatch, fleet: Fleet) -> list[str]:
    return [f"{fleet.members[number].server.address.text}: {fault}" for number, fault in sorted(run.failed.items())]
