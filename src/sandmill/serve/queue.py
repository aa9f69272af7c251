"""The queue of runs: a fixed number goes on at a time, a bounded number waits, more are refused."""

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from queue import SimpleQueue
from typing import Any, Generic, TypeVar

RUN_BYTES = 160 << 20
"""Room for requests, and as much for replies, for every run that goes on at a time. With the default limits a reply has
64 MB of submission, 64 MB of scratch folder, and less than 20 MB of names and output."""
_CANCEL_CHECK_S = 0.2

Result = TypeVar("Result")


class QueueFull(Exception):
    """The queue has no room for these runs now."""


class BatchTooLarge(Exception):
    """The request has more runs than the queue can ever hold."""


class Room:
    """Counts bytes in memory, so that messages wait or are refused before they fill it. Thread-safe.

    A message is admitted while any room is left, whatever its size, so that large ones have the chances of small ones:
    the agent chooses the size, and must not cause a refusal by it. The last message may exceed the room.
    """

    def __init__(self, size: int) -> None:
        self._size, self._held = size, 0
        self._freed = threading.Condition()

    def try_take(self, need: int) -> bool:
        """Take bytes if there is room."""
        with self._freed:
            has_room = self._held < self._size
            self._held += need if has_room else 0
            return has_room

    def take(self, need: int, cancel: threading.Event) -> bool:
        """Wait for room. Returns False if `cancel` was set before there was any."""
        while not self.try_take(need):
            if cancel.is_set():
                return False
            with self._freed:
                self._freed.wait(_CANCEL_CHECK_S)
        return True

    def give(self, need: int) -> None:
        """Return bytes."""
        with self._freed:
            self._held -= need
            self._freed.notify_all()


@dataclass
class Ticket(Generic[Result]):
    """One accepted run."""

    cancel: threading.Event = field(default_factory=threading.Event)
    future: "Future[Result]" = field(default_factory=Future)
    started: "Future[None]" = field(default_factory=Future)
    give_room: Callable[[], None] = lambda: None

    def drop(self) -> None:
        """End the run if it goes on. The room of its reply is free when it has ended. Call this once."""
        self.cancel.set()
        self.future.add_done_callback(lambda _: self.give_room())


class RunQueue:
    """Runs jobs in threads, in the order of their arrival. A job gets its cancel event, and must not raise."""

    def __init__(self, concurrency: int, waiting: int) -> None:
        self.concurrency, self.waiting = concurrency, waiting
        self.replies, self.requests = Room(concurrency * RUN_BYTES), Room(concurrency * RUN_BYTES)
        self._threads = ThreadPoolExecutor(concurrency, thread_name_prefix="sandmill-serve")
        self._lock, self._entering = threading.Lock(), threading.Lock()
        self._entries: SimpleQueue[tuple[Callable[[threading.Event], Any], Ticket[Any], int]] = SimpleQueue()
        self._cancels: set[threading.Event] = set()
        self.running = 0
        self.started = 0
        """Runs that have started so far."""
        self.abandoned = 0
        """Runs among them whose client went away before it had the whole reply."""

    @property
    def queued(self) -> int:
        """Number of runs that wait."""
        return max(0, len(self._cancels) - self.running)

    @property
    def is_idle(self) -> bool:
        """Whether no run goes on or waits."""
        return not self._cancels

    def submit(
        self, jobs: Sequence[Callable[[threading.Event], Result]], needs: Sequence[int] = ()
    ) -> list[Ticket[Result]]:
        """Accept all jobs or none. `QueueFull` says that there is no room now, `BatchTooLarge` that there never can be.

        `needs` is the room that each reply takes, in bytes, until its ticket is dropped. Empty if no reply is kept.
        """
        room = self.concurrency + self.waiting
        if len(jobs) > room:
            raise BatchTooLarge(f"{len(jobs)} runs in one request; this server takes at most {room} at a time")
        tickets: list[Ticket[Result]] = [Ticket() for _ in jobs]
        with self._lock:
            if len(self._cancels) + len(jobs) > room:
                raise QueueFull
            self._cancels.update(ticket.cancel for ticket in tickets)
        for entry in zip(jobs, tickets, needs or [0] * len(jobs), strict=True):
            self._entries.put(entry)
            self._threads.submit(self._work)
        return tickets

    def cancel_all(self) -> None:
        """Cancel all runs."""
        with self._lock:
            cancels = list(self._cancels)
        for cancel in cancels:
            cancel.set()

    def close(self) -> None:
        """Cancel all runs and end the threads."""
        self.cancel_all()
        self._threads.shutdown(wait=True)

    def _work(self) -> None:
        # A run must not wait for room that later runs of its request hold, since their replies are sent after its own.
        with self._entering:
            job, ticket, need = self._entries.get()
            if need and self.replies.take(need, ticket.cancel):
                ticket.give_room = lambda: self.replies.give(need)
        with self._lock:
            self.running += 1
            self.started += 1
        ticket.started.set_result(None)
        try:
            ticket.future.set_result(job(ticket.cancel))
        except BaseException as error:  # noqa: BLE001 - whoever waits for the future must get an answer
            ticket.future.set_exception(error)
        finally:
            with self._lock:
                self.running -= 1
                self._cancels.remove(ticket.cancel)
