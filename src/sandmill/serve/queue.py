"""The queue of runs: a fixed number goes on at a time, a bounded number waits, more are refused."""

import math
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from time import monotonic
from typing import Generic, TypeVar

_LONGEST_RETRY_S = 30
"""Longest wait that a client is asked for before it tries again, in seconds."""
_RETRY_SHARE = 0.25
_SMOOTHING = 0.2
"""Weight of the latest run in the mean duration of runs."""

Result = TypeVar("Result")


class QueueFull(Exception):
    """The queue has no room for these runs now."""

    def __init__(self, retry_after_s: int) -> None:
        super().__init__("the queue is full")
        self.retry_after_s = retry_after_s


class BatchTooLarge(Exception):
    """The request has more runs than the queue can ever hold."""


@dataclass
class Ticket(Generic[Result]):
    """One accepted run."""

    cancel: threading.Event = field(default_factory=threading.Event)
    """Set it to end the run."""
    future: "Future[Result]" = field(default_factory=Future)
    has_started: bool = False


class RunQueue:
    """Runs jobs in threads, in the order of their arrival. A job gets its cancel event, and must not raise."""

    def __init__(self, concurrency: int, waiting: int) -> None:
        self.concurrency, self.waiting = concurrency, waiting
        self._threads = ThreadPoolExecutor(concurrency, thread_name_prefix="sandmill-serve")
        self._lock = threading.Lock()
        self._cancels: dict[int, threading.Event] = {}
        self._running = 0
        self._mean_s = 1.0
        self._next = 0

    @property
    def running(self) -> int:
        """Number of runs that go on now."""
        return self._running

    @property
    def queued(self) -> int:
        """Number of runs that wait."""
        return max(0, len(self._cancels) - self._running)

    @property
    def is_idle(self) -> bool:
        """Whether no run goes on or waits."""
        return not self._cancels

    def submit(self, jobs: Sequence[Callable[[threading.Event], Result]]) -> list[Ticket[Result]]:
        """Accept all jobs or none.

        Raises:
            QueueFull: if there is no room now.
            BatchTooLarge: if there can never be room.
        """
        room = self.concurrency + self.waiting
        if len(jobs) > room:
            raise BatchTooLarge(f"{len(jobs)} runs in one request; this server takes at most {room} at a time")
        with self._lock:
            if len(self._cancels) + len(jobs) > room:
                raise QueueFull(self._retry_after_s())
            tickets: list[Ticket[Result]] = [Ticket() for _ in jobs]
            numbers = range(self._next, self._next + len(jobs))
            self._next += len(jobs)
            self._cancels |= {number: ticket.cancel for number, ticket in zip(numbers, tickets, strict=True)}
        for number, job, ticket in zip(numbers, jobs, tickets, strict=True):
            self._threads.submit(self._work, number, job, ticket)
        return tickets

    def cancel_all(self) -> None:
        """Cancel all runs."""
        with self._lock:
            cancels = list(self._cancels.values())
        for cancel in cancels:
            cancel.set()

    def close(self) -> None:
        """Cancel all runs and end the threads."""
        self.cancel_all()
        self._threads.shutdown(wait=True)

    def _retry_after_s(self) -> int:
        """Return a share of the time in which the queue empties, so that it never runs dry while clients wait."""
        seconds_to_empty = self._mean_s * len(self._cancels) / self.concurrency
        return min(_LONGEST_RETRY_S, max(1, math.ceil(_RETRY_SHARE * seconds_to_empty)))

    def _work(self, number: int, job: Callable[[threading.Event], Result], ticket: Ticket[Result]) -> None:
        started = monotonic()
        ticket.has_started = True
        with self._lock:
            self._running += 1
        try:
            ticket.future.set_result(job(ticket.cancel))
        except BaseException as error:  # noqa: BLE001 - whoever waits for the future must get an answer
            ticket.future.set_exception(error)
        finally:
            with self._lock:
                self._running -= 1
                del self._cancels[number]
                self._mean_s += _SMOOTHING * (monotonic() - started - self._mean_s)
