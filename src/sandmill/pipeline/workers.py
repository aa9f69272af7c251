"""Long-lived worker processes. One that dies or hangs costs its item and nothing else.

Not `ProcessPoolExecutor`: there, a dead worker breaks every item in flight, a hanging one cannot be replaced, and each
worker imports the caller's main module, which under a flow is all of Prefect.
"""

import ctypes
import os
import pickle
import queue
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from functools import cache
from itertools import count
from multiprocessing.connection import Connection
from pathlib import Path
from threading import Lock
from typing import Any, Self, TypeVar

from sandmill.errors import SandmillError

Item = TypeVar("Item")
Result = TypeVar("Result")
_Item = tuple[Callable[[Any], Any], Any, float]
"""A function, what it works on, and the seconds that it may take."""

_LIBRARIES = ("OMP_NUM", "OPENBLAS_NUM", "MKL_NUM", "NUMEXPR_NUM", "VECLIB_MAXIMUM", "POLARS_MAX")
ONE_THREAD = {f"{library}_THREADS": "1" for library in _LIBRARIES}
"""Environment of a worker. The libraries read it when they load."""

QUIET = {"PYTHONWARNINGS": "ignore"}
"""Environment of a worker. Solvers warn on the screen of the build of what their scores show anyway."""

KEPT_MEMORY = dict.fromkeys(("MALLOC_MMAP_THRESHOLD_", "MALLOC_TRIM_THRESHOLD_"), str(1 << 30))
"""Environment of a worker. By default glibc returns large arrays to the system at once, and on virtual machines it is
slow to take the memory again."""

MOST_KEPT_MB = 512
"""A worker with more resident memory after an item returns its free memory to the system."""

_HIRING = Lock()
"""Shards begin at once. Without the lock, each would hire a pool of its own."""
_PR_SET_PDEATHSIG = 1
_GUARD = """
import os, select, signal, sys
parent, server = int(sys.argv[1]), os.pidfd_open(int(sys.argv[2]))
while os.getppid() == parent:
    if select.select([server], [], [], 0.5)[0]:
        sys.exit()
signal.pidfd_send_signal(server, signal.SIGKILL)
"""
"""Ends with the server, and kills the server when its own parent is gone."""
_BOOT = "import sys; from sandmill.pipeline.workers import serve; serve(int(sys.argv[1]), int(sys.argv[2]))"


class WorkerLost(SandmillError):
    """A worker process ended before its item was done: killed, out of memory, or a fault in native code."""


class WorkerTimeout(SandmillError):
    """An item took longer than its time limit; its worker was killed."""


class WorkerFault(SandmillError):
    """An item failed with, or returned, something that cannot cross to the parent process."""


class WorkerPool:
    """A fixed number of worker processes that live until the pool is closed, or until this process dies.

    Several threads may use one pool at once. A worker runs one item at a time, with one thread of linear algebra. It
    ignores Ctrl-C, and the kernel kills it when the parent dies, even by SIGKILL.
    """

    def __init__(self, workers: int) -> None:
        if workers < 1:
            raise ValueError(f"workers must be at least 1, not {workers}")
        # The kernel sends a worker its death signal when the *thread* that started it ends, so one thread that lives
        # as long as the pool starts all workers.
        self._nursery = ThreadPoolExecutor(1, thread_name_prefix="worker-nursery")
        self._threads = ThreadPoolExecutor(workers, thread_name_prefix="worker-caller")
        self._idle: queue.SimpleQueue[_Worker] = queue.SimpleQueue()
        self._all: set[_Worker] = set()
        self._waiting: queue.PriorityQueue[tuple[int, int, int, Future[Any], _Item]] = queue.PriorityQueue()
        self._numbers = count()
        self._closing, self._is_closed = Lock(), False
        for _ in range(workers):
            self._idle.put(self._hire())

    def batch(self, timeout_s: float) -> "WorkBatch":
        """Open a batch of work. Each of its items may take this many wall-clock seconds, first imports included."""
        return WorkBatch(self, timeout_s, next(self._numbers))

    def map(
        self, function: Callable[[Item], Result], items: Iterable[Item], timeout_s: float
    ) -> Iterator[tuple[int, Result | Exception]]:
        """Run a function over items, each in some worker, and yield as they complete. See `WorkBatch`."""
        with self.batch(timeout_s) as batch:
            for item in items:
                batch.submit(function, item)
            yield from batch.ended()

    def submit(
        self, function: Callable[[Any], Any], item: Any, timeout_s: float, order: int, urgency: int
    ) -> Future[Any]:
        """Queue an item. Those of the batch that was opened first are next, the most urgent and then the oldest first.

        With batches in turn, one shard ends before the next one is far: a build that is killed keeps more.
        """
        future: Future[Any] = Future()
        with self._closing:
            if self._is_closed:
                future.cancel()
                return future
            self._waiting.put((order, -urgency, next(self._numbers), future, (function, item, timeout_s)))
            self._threads.submit(self._run_next)
        return future

    def close(self) -> None:
        """Kill the workers and drop waiting items. Safe to call twice."""
        with self._closing:
            self._is_closed = True
            self._threads.shutdown(wait=False, cancel_futures=True)
            with suppress(queue.Empty):
                while True:
                    self._waiting.get_nowait()[3].cancel()
        for worker in tuple(self._all):
            worker.kill()
        self._threads.shutdown(wait=True)
        self._nursery.shutdown(wait=True)
        for worker in tuple(self._all):
            worker.kill()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _run_next(self) -> None:
        """Run the next item that waits. It need not be the one for which this call was queued."""
        try:
            *_, future, (function, item, timeout_s) = self._waiting.get_nowait()
        except queue.Empty:  # the pool is closing
            return
        if not future.set_running_or_notify_cancel():
            return
        try:
            future.set_result(self._run(function, item, timeout_s))
        except BaseException as error:
            future.set_exception(error)
            raise

    def _run(self, function: Callable[[Any], Any], item: Any, timeout_s: float) -> Any:
        worker = self._idle.get()
        try:
            return worker.do(function, item, timeout_s)
        except (WorkerLost, WorkerTimeout) as error:
            worker.kill()
            self._all.discard(worker)
            with suppress(OSError, RuntimeError):  # no process to be had now, or closing: the next item tries again
                worker = self._hire()
            return error
        finally:
            self._idle.put(worker)

    def _hire(self) -> "_Worker":
        worker = self._nursery.submit(_Worker).result()
        self._all.add(worker)
        return worker


class WorkBatch:
    """Items that belong together. Leaving its context drops those that have not begun.

    Functions are importable by name and picklable, items and results are picklable too.
    """

    def __init__(self, pool: WorkerPool, timeout_s: float, order: int) -> None:
        self._pool, self._timeout_s, self._order = pool, timeout_s, order
        self._done: queue.SimpleQueue[Future[Any]] = queue.SimpleQueue()
        self._open: dict[Future[Any], int] = {}
        self._submitted = 0

    def submit(self, function: Callable[[Any], Any], item: Any, urgency: int = 0) -> int:
        """Queue an item for some worker. Returns its number in this batch."""
        number, self._submitted = self._submitted, self._submitted + 1
        future = self._pool.submit(function, item, self._timeout_s, self._order, urgency)
        self._open[future] = number
        # Not `as_completed`: items may be added while others are waited for.
        future.add_done_callback(self._done.put)
        return number

    def ended(self) -> Iterator[tuple[int, Any]]:
        """Yield the number of each item as it ends, with its result or exception. Items may be submitted meanwhile.

        `WorkerTimeout`, `WorkerLost` and `WorkerFault` are failures around the function. No item raises here.
        """
        while self._open:
            future = self._done.get()
            lost = WorkerLost("the pool was closed before the item was begun") if future.cancelled() else None
            yield self._open.pop(future), lost or future.result()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for future in self._open:
            future.cancel()


def shared_workers(workers: int) -> WorkerPool:
    """Return the pool that all shards of this process share. It dies with the process."""
    with _HIRING:
        return _shared_pool(workers)


_shared_pool = cache(WorkerPool)


class _Worker:
    def __init__(self) -> None:
        near, far = socket.socketpair()
        with far:
            paths = os.pathsep.join(path for path in sys.path if path)
            self._process = subprocess.Popen(
                [sys.executable, "-c", _BOOT, str(far.fileno()), str(os.getpid())],
                stdin=subprocess.DEVNULL,
                pass_fds=[far.fileno()],
                env={**os.environ, **ONE_THREAD, **KEPT_MEMORY, **QUIET, "PYTHONPATH": paths},
                start_new_session=True,
            )
        self._connection = Connection(near.detach())

    def do(self, function: Callable[[Any], Any], item: Any, timeout_s: float) -> Any:
        """Run one item; returns its result, or the exception that it raised."""
        try:
            work = pickle.dumps((function, item))
        except Exception as error:  # noqa: BLE001
            return WorkerFault(f"the item cannot be sent to a worker: {type(error).__name__}: {error}")
        try:
            self._connection.send_bytes(work)
            if not self._connection.poll(timeout_s):
                raise WorkerTimeout(f"no result within {timeout_s:g} s; the worker was killed")
            reply = self._connection.recv_bytes()
        except (EOFError, OSError) as error:
            raise WorkerLost(f"the worker process ended before its item was done ({self._ending()})") from error
        return pickle.loads(reply)

    def kill(self) -> None:
        """End the process and what it started, now, whatever they do."""
        if self._process.poll() is None:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        with suppress(OSError):
            self._connection.close()

    def _ending(self) -> str:
        try:
            code = self._process.wait(timeout=1)
        except subprocess.TimeoutExpired:
            return "it closed its pipe"
        return signal.Signals(-code).name if code < 0 else f"exit code {code}"


def end_with_this_process(pid: int) -> None:
    """Start a guard that kills another process as soon as this one is gone, also after `kill -9`.

    A death signal of the kernel would not do: it is sent when the thread ends that started the process.
    """
    command = [sys.executable, "-I", "-S", "-c", _GUARD, str(os.getpid()), str(pid)]
    # In a session of its own, Ctrl-C does not reach the guard. It needs no terminal and holds no pipe open.
    silent = subprocess.DEVNULL
    subprocess.Popen(command, stdin=silent, stdout=silent, stderr=silent, start_new_session=True)


def serve(descriptor: int, parent: int) -> None:
    """Run items from an inherited socket until the parent process ends. This is the main loop of a worker process."""
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        return
    os.set_inheritable(descriptor, False)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with Connection(descriptor) as connection, suppress(EOFError, OSError):
        while True:
            connection.send_bytes(_answer(connection.recv_bytes()))
            _give_back(MOST_KEPT_MB)


def _give_back(most_mb: float) -> None:
    """Return free memory to the system if the process holds more than this. Only glibc offers it."""
    with suppress(OSError, AttributeError):
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        if pages * os.sysconf("SC_PAGE_SIZE") > most_mb * 2**20:
            ctypes.CDLL(None).malloc_trim(0)


def _answer(work: bytes) -> bytes:
    """Run one item. The reply can always be unpickled by the parent."""
    try:
        function, item = pickle.loads(work)
        outcome = function(item)
    except Exception as error:  # noqa: BLE001
        outcome = error
    try:
        reply = pickle.dumps(outcome)
        pickle.loads(reply)
    except Exception as error:  # noqa: BLE001
        why = f"{type(outcome).__name__} cannot be sent back: {type(error).__name__}: {error}"
        text = f"{why}; it said: {outcome}" if isinstance(outcome, Exception) else why
        return pickle.dumps(WorkerFault(text))
    return reply
