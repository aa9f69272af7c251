"""Choose a server for each request: the least loaded of those that work and are not busy."""

import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from time import monotonic

from sandmill.sandbox.remote_server import RemoteServer

_FIRST_PAUSE_S = 2.0
"""Seconds for which a server is left out after its first failure. Each further failure in a row doubles them."""
_LONGEST_PAUSE_S = 60.0


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

    @contextmanager
    def lend(self, failed: Collection[int]) -> Iterator[int | None]:
        """Yield the number of the server for the next attempt, or None if all that are left are busy.

        A server that is left out after failures is used only if no other one is left, so a restarted server is found
        again at once when it is needed.

        Args:
            failed: numbers of the servers that have failed this request already.
        """
        with self._lock:
            number = self._choose(failed)
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

    def is_busy(self, number: int, seconds: float) -> None:
        """Record that the queue of a server is full."""
        with self._lock:
            self.members[number].busy_until = self._clock() + seconds

    def _choose(self, failed: Collection[int]) -> int | None:
        now = self._clock()
        left = [number for number in range(len(self.members)) if number not in failed]
        working = [number for number in left if self.members[number].out_until <= now] or left
        free = [number for number in working if self.members[number].busy_until <= now]
        if not free:
            return None
        self._turn += 1
        turned = sorted(free, key=lambda number: (number - self._turn) % len(self.members))
        return min(turned, key=lambda number: self.members[number].in_flight)
