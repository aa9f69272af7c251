"""Limit concurrent runs by the descriptors of this process, and assign processors to runs.

The limits apply to the whole process, so all sandboxes of a process share one queue.
"""

import os
import resource
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

RUN_DESCRIPTORS = 16
"""Largest number of descriptors that one run has open in this process. Six are open while its code runs; starting the
run and copying its files take more."""
_CALLERS_SHARE = 4
"""Divisor: one quarter of the descriptors is reserved for other work of this process."""
_CANCEL_CHECK_S = 0.1
"""Interval at which a waiting run checks whether it was cancelled, in seconds."""


class Cancelled(Exception):
    """A run was cancelled while it waited in the queue."""


class Admission:
    """Queue of runs. It admits as many at a time as descriptors allow, and assigns their processors."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Forget all running code. A forked child calls this, because the runs belong to its parent."""
        self._changed = threading.Condition()
        self._running = 0
        self._users: Counter[int] = Counter()

    @contextmanager
    def admit(self, cores: int | None, cancel: threading.Event | None = None) -> Iterator[tuple[int, ...]]:
        """Wait until the run is admitted, and count it until the block ends.

        Yields:
            Numbers of the `cores` processors with the fewest runs; empty if the run may use all.

        Raises:
            Cancelled: if `cancel` is set before the run is admitted.
        """
        with self._changed:
            while self._running >= most_runs():
                if cancel and cancel.is_set():
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
        # Ties are broken by process id, so that several processes on one machine choose different processors.
        first = os.getpid() % len(allowed)
        turned = allowed[first:] + allowed[:first]
        return tuple(sorted(turned, key=lambda processor: self._users[processor])[:cores])


def most_runs() -> int:
    """Return how many concurrent runs the descriptor limit of this process (`ulimit -n`) allows."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY:
        return 1 << 16
    return max(1, (soft - soft // _CALLERS_SHARE) // RUN_DESCRIPTORS)


ADMISSION = Admission()
"""The only queue of this process."""
os.register_at_fork(after_in_child=ADMISSION.forget)
