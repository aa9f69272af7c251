"""Supervise one run from its start to its result, for every backend.

The agent's code is untrusted. The outcome comes from the kernel (exit status, limits, files), never from what the code
writes.
"""

import json
import logging
import os
import select
import socket
import stat
import time
from collections.abc import Callable, Set
from contextlib import ExitStack
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from threading import Event

from sandmill.models.layout import SUBMISSION
from sandmill.models.reports import Outcome
from sandmill.models.run import Isolation, RunLimits, RunResult
from sandmill.sandbox.exchange import INTO_PART, OUT_PART, READ, Caps, Copied, collect, fill, skipped_note
from sandmill.sandbox.launchers import Channels, Launched, ProcessEnding
from sandmill.sandbox.memory import MemoryWatch

_SETUP_TIMEOUT_S = 20.0
"""Longest wait for one message of the guest before the script starts, in seconds."""
_EXIT_OUT_OF_MEMORY = 86
"""Exit code of `guest/agent.py` after an uncaught MemoryError."""
_SIGKILL, _SIGXCPU = 128 + 9, 128 + 24
_DRAIN_READS = 64
"""Reads of 64 KiB after the end of a run. Together they are larger than a pipe."""
_MB = 1 << 20
_FLOOD_BYTES = 16 * _MB
"""Bytes of one output stream that are read at once. Output beyond that is read only at each memory check."""
_LOG = logging.getLogger(__name__)


@dataclass(frozen=True)
class Submission:
    """What the working directory holds under the name submission.csv."""

    content: bytes | None = None
    fingerprint: tuple[int, int, bytes] | None = None
    """Inode number, change time and hash of the content. They differ whenever the file has been written."""
    tampered: str = ""
    """Why the file is refused, if it is not a regular file with one name within the size limit; else empty."""


def read_submission(work: int, limit: int) -> Submission:
    """Read submission.csv, of at most `limit` bytes. Links are not followed, and a pipe does not block."""
    try:
        descriptor = os.open(SUBMISSION, READ, dir_fd=work)
    except FileNotFoundError:
        return Submission()
    except OSError as error:
        return Submission(tampered=f"submission.csv cannot be read as a file: {error.strerror}")
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            return Submission(tampered=f"submission.csv is not a regular file: {stat.filemode(status.st_mode)}")
        if status.st_nlink != 1:
            return Submission(tampered=f"submission.csv has {status.st_nlink} names (hard links), expected one")
        if status.st_size > limit:
            return Submission(tampered=f"submission.csv has {status.st_size} bytes, more than the limit of {limit}")
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            content = file.read(limit + 1)
        return Submission(content, (status.st_ino, status.st_ctime_ns, blake2b(content).digest()))
    finally:
        os.close(descriptor)


@dataclass(frozen=True)
class RunOrder:
    """One run as the caller requested it."""

    code: str
    public: Path
    scratch: Path | None
    timeout_s: float
    limits: RunLimits
    cancel: Event | None = None
    processors: tuple[int, ...] = ()
    """Numbers of the processors that the run may use. Empty means all."""
    hidden: frozenset[str] = frozenset()
    """Names in the public folder that the run does not get."""

    @property
    def cpu_s(self) -> int:
        """Limit of processor time of one process, in seconds."""
        return self.limits.cpu_seconds(self.timeout_s)

    def job(self) -> bytes:
        """Return the JSON that the guest code reads to set up the run."""
        limits, place = self.limits, self.public.stat()
        facts = {
            "code": self.code.encode("utf-8", "replace").decode(),
            "public": str(self.public),
            "public_identity": [place.st_dev, place.st_ino],
            "hidden": sorted(self.hidden),
            "processors": self.processors,
            "limits": {
                "memory_bytes": limits.memory_mb * _MB,
                "processes": limits.processes,
                "open_files": limits.open_files,
                "disk_bytes": limits.disk_mb * _MB,
                "inodes": limits.inodes,
                "file_bytes": limits.file_mb * _MB,
                "cpu_s": self.cpu_s,
            },
        }
        return json.dumps(facts).encode()


def attend(order: RunOrder, isolation: Isolation, launch: Callable[[Channels, Path, Set[str]], Launched]) -> RunResult:
    """Run one script to its end and return its result. Processes and descriptors are always closed, also on errors.

    `launch` starts the processes of the run. Raises `ServerGone` if the warm interpreter ended before the run started.
    The caller may try again.
    """
    with ExitStack() as stack:
        try:
            channels = Channels(order.job())
            stack.callback(channels.close)
            launched = launch(channels, order.public, order.hidden)
        except OSError as error:
            # The agent's code has not started: this machine or this process lacks a resource.
            detail = f"the run could not be started: {error}"
            return RunResult(outcome=Outcome.INFRA_ERROR, isolation=isolation, detail=detail)
        channels.close_guest_ends()
        return _RunSupervisor(order, isolation, channels, launched).result()


class _RunSupervisor:
    """Watches one launched run: copies files in and out, reads output, enforces limits, determines the outcome."""

    def __init__(self, order: RunOrder, isolation: Isolation, channels: Channels, launched: Launched) -> None:
        self._order, self._isolation = order, isolation
        self._channels, self._launched = channels, launched
        limit = order.limits.output_kb * 1024
        self._tails = {channels.stdout: _OutputTail(limit), channels.stderr: _OutputTail(limit)}
        self._work_folder = -1
        self._cpu_before = 0.0
        """CPU seconds that a forked process had used before this run started; subtracted from the result."""
        self._copied_in = Copied()
        self._earlier_submission: object = None
        """Fingerprint of the submission.csv that was copied in from the scratch folder, if any."""

    def result(self) -> RunResult:
        """Run the script to its end and build the result."""
        ending: ProcessEnding | None = None
        stopped: Outcome | None = None
        peak = cpu_s = seconds = 0.0
        try:
            fault = self._start_script()
            if not fault:
                started = time.monotonic()
                watch = MemoryWatch(self._launched.pids, self._order.limits.memory_mb * _MB)
                try:
                    stopped = self._wait(watch, started)
                except Exception:  # noqa: BLE001 - a run that an agent could make fail here would not be scored
                    _LOG.exception("Watching a run failed. This is a bug of the sandbox. Please report the script.")
                    stopped = Outcome.RUNTIME_ERROR
                peak, cpu_s, seconds = watch.peak_bytes / _MB, watch.cpu_s, time.monotonic() - started
            self._launched.kill()
            ending = self._launched.finish()
            for descriptor, tail in self._tails.items():
                for _ in range(_DRAIN_READS):
                    if not tail.read(descriptor):
                        break
            outcome, detail, content = self._classify(fault, stopped, ending)
        finally:
            if ending is None:
                self._launched.kill()
                self._launched.finish()
            if self._work_folder >= 0:
                os.close(self._work_folder)
        return RunResult(
            outcome=outcome,
            isolation=self._isolation,
            duration_s=round(seconds, 6),
            cpu_s=round(max(0.0, max(ending.cpu_s, cpu_s) - self._cpu_before), 6),
            peak_mb=round(max(ending.peak_mb, peak), 1),
            stdout=self._tails[self._channels.stdout].text(),
            stderr=self._tails[self._channels.stderr].text(),
            submission=content,
            detail=detail,
        )

    def _start_script(self) -> str:
        """Receive the working directory, copy files into it, and start the script. Returns the error, else empty."""
        setup_socket = self._channels.setup_socket
        setup_socket.settimeout(_SETUP_TIMEOUT_S)
        try:
            message, descriptors, _, _ = socket.recv_fds(setup_socket, 1 << 12, 1)
            words = message.decode(errors="replace").split()
            if descriptors:
                (self._work_folder,) = descriptors
            if words[:1] != ["ready"] or self._work_folder < 0:
                return _setup_error(message)
            if self._order.scratch:
                caps = Caps.of(self._order.limits, INTO_PART)
                self._copied_in = fill(self._order.scratch, self._work_folder, int(words[1]), caps)
                self._earlier_submission = self._read_submission().fingerprint
            setup_socket.send(b"go")
            reply = setup_socket.recv(1 << 12)
        except OSError as error:
            return f"the run ended before the script started: {error}"
        name, _, seconds = reply.partition(b" ")
        if name != b"started":
            return _setup_error(reply)
        if self._isolation is Isolation.WARM:
            self._cpu_before = float(seconds)
        return ""

    def _wait(self, watch: MemoryWatch, started: float) -> Outcome | None:
        """Wait for the end of the run. Returns the outcome of an exceeded limit, or None if the run ended by itself."""
        poller = select.poll()
        end, cancel = self._launched.end_descriptor, self._order.cancel
        for descriptor in (end, *self._tails):
            poller.register(descriptor, select.POLLIN)
        paused: list[int] = []
        deadline = started + self._order.timeout_s
        while (left := deadline - time.monotonic()) > 0:
            ready = {descriptor for descriptor, _ in poller.poll(max(1.0, 1000 * min(left, watch.pause_s)))}
            if end in ready or (cancel and cancel.is_set()):
                return None
            for descriptor in ready:
                tail = self._tails[descriptor]
                is_open = tail.read(descriptor)
                if not is_open or tail.is_flooded:
                    poller.unregister(descriptor)
                if is_open and tail.is_flooded:
                    paused.append(descriptor)
            if not watch.pause_s:
                # The pipes are full, so the writer is blocked and reading them takes little time.
                while paused:
                    poller.register(paused.pop(), select.POLLIN)
            if watch.is_over():
                return Outcome.OOM
        return Outcome.TIMEOUT

    def _classify(
        self, fault: str, stopped: Outcome | None, ending: ProcessEnding
    ) -> tuple[Outcome, str, bytes | None]:
        """Return the outcome, the detail, and the content of the submission if the outcome is `ok`."""
        if fault:
            return Outcome.INFRA_ERROR, fault, None
        left, found = "", Submission()
        if self._order.scratch:
            caps = Caps.of(self._order.limits, OUT_PART)
            kept = collect(self._work_folder, self._order.scratch, self._copied_in, caps)
            for copied, what in ((self._copied_in, "brought in"), (kept, "kept")):
                left += skipped_note(copied.skipped, what, copied.first_skipped)
        outcome, detail = self._classify_exit(stopped, ending)
        if outcome is Outcome.OK:
            found = self._read_submission()
            if found.tampered:
                outcome, detail = Outcome.TAMPER, found.tampered
            elif found.content is None:
                outcome, detail = Outcome.NO_SUBMISSION, "no submission.csv in the working directory"
            elif found.fingerprint == self._earlier_submission:
                outcome, detail = Outcome.NO_SUBMISSION, "submission.csv is unchanged since an earlier run"
        return outcome, (detail + left).removeprefix("; "), found.content if outcome is Outcome.OK else None

    def _read_submission(self) -> Submission:
        return read_submission(self._work_folder, self._order.limits.submission_mb * _MB)

    def _classify_exit(self, stopped: Outcome | None, ending: ProcessEnding) -> tuple[Outcome, str]:
        """Return the outcome and the detail for the way in which the processes ended."""
        limits, code = self._order.limits, ending.code
        match stopped:
            case Outcome.TIMEOUT:
                return stopped, f"more than {self._order.timeout_s:g} s of wall time"
            case Outcome.OOM:
                return stopped, f"more than {limits.memory_mb} MB of memory in all processes together"
            case Outcome.RUNTIME_ERROR:
                return stopped, "the sandbox could not watch the run to its end"
        if code is None:
            return Outcome.RUNTIME_ERROR, "the warm interpreter that had forked the run is gone"
        if code == 0:
            return Outcome.OK, ""
        if code == _EXIT_OUT_OF_MEMORY:
            return Outcome.OOM, "an uncaught MemoryError"
        if code == _SIGXCPU or (code == _SIGKILL and ending.cpu_s >= self._order.cpu_s):
            return Outcome.TIMEOUT, f"more than {self._order.cpu_s} s of processor time"
        if code == _SIGKILL:
            return Outcome.OOM, "killed by SIGKILL: the kernel was out of memory, or the run killed itself"
        return Outcome.RUNTIME_ERROR, f"exit code {code}" if code < 128 else f"ended by signal {code - 128}"


def _setup_error(message: bytes) -> str:
    return message.decode(errors="replace").removeprefix("error ") or "the run ended before the script started"


class _OutputTail:
    """Keeps the last bytes of an output stream of any length."""

    def __init__(self, limit: int) -> None:
        self._limit, self._kept = limit, bytearray()
        self._seen = 0

    @property
    def is_flooded(self) -> bool:
        """Whether the stream exceeds `_FLOOD_BYTES`. The rest is read seldom, since reading uses our processor time."""
        return self._seen > _FLOOD_BYTES

    def read(self, descriptor: int) -> bool:
        """Read up to 64 KiB. Returns False if nothing was available or the stream has ended."""
        try:
            data = os.read(descriptor, 1 << 16)
        except BlockingIOError:
            return False
        self._kept += data
        self._seen += len(data)
        if len(self._kept) > 2 * self._limit:
            del self._kept[: -self._limit]
        return bool(data)

    def text(self) -> str:
        """Return the last `limit` bytes as text."""
        return self._kept[-self._limit :].decode(errors="replace")
