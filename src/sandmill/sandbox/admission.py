"""What concurrent runs share of this process: descriptors, for which they queue, and processors, which are dealt out.

The limits are those of the whole process, so all sandboxes of a process share one queue.
"""

import os
import resource
import select
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

RUN_DESCRIPTORS = 16
"""Descriptors that one run may have open here at a time. Six while its code runs, most while it starts or is copied."""
_CALLERS_SHARE = 4
"""Runs leave this part of the process's descriptors, a quarter, to everything else that it does."""
_CANCEL_CHECK_S = 0.1


class Cancelled(Exception):
    """The caller gave up a run that was still waiting for its turn."""


class Admission:
    """Lets as many runs in at a time as there are descriptors for, and hands out processors."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Start from nothing, as a forked copy of us does: it has none of our runs."""
        self._changed = threading.Condition()
        self._running = 0
        self._users: Counter[int] = Counter()

    @contextmanager
    def admit(self, cores: int | None, cancel: int = -1) -> Iterator[tuple[int, ...]]:
        """Wait for a turn, and hold it.

        Args:
            cores: processors that the run may use; none: all.
            cancel: descriptor that becomes readable when the run is no longer wanted; negative: there is none.

        Yields:
            Numbers of the processors, those with the fewest runs; empty if it may use all.

        Raises:
            Cancelled: if the run was cancelled before its turn came.
        """
        with self._changed:
            while self._running >= most_runs():
                if _is_readable(cancel):
                    raise Cancelled
                self._changed.wait(_CANCEL_CHECK_S)
            self._running += 1
            processors = self._choose(cores)
            self._users.update(processors)
        try:
            yield processors
        finally:
            with self._changed:
                self._running -= 1
                self._users.subtract(processors)
                self._changed.notify()

    def _choose(self, cores: int | None) -> tuple[int, ...]:
        allowed = sorted(os.sched_getaffinity(0))
        if cores is None or cores >= len(allowed):
            return ()
        # Among equals, processes of one machine start at different places.
        first = os.getpid() % len(allowed)
        turned = allowed[first:] + allowed[:first]
        return tuple(sorted(turned, key=lambda processor: self._users[processor])[:cores])


def most_runs() -> int:
    """How many runs there can be at a time under this process's limit of descriptors."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY:
        return 1 << 16
    return max(1, (soft - soft // _CALLERS_SHARE) // RUN_DESCRIPTORS)


def _is_readable(descriptor: int) -> bool:
    if descriptor < 0:
        return False
    poller = select.poll()
    poller.register(descriptor, select.POLLIN)
    return bool(poller.poll(0))


ADMISSION = Admission()
"""The queue of this process."""
os.register_at_fork(after_in_child=ADMISSION.forget)
