"""One run from its start to its result: the same for every backend, and nothing believed that the agent can say."""

import json
import logging
import os
import select
import socket
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from sandmill.models.reports import Outcome
from sandmill.models.run import Isolation, RunLimits, RunResult
from sandmill.sandbox.channels import Channels, Ending, Launched
from sandmill.sandbox.exchange import Caps, Copied, collect, fill
from sandmill.sandbox.memory import MemoryWatch
from sandmill.sandbox.submission import Submission, read_submission

_START_S = 20.0
_EXIT_OUT_OF_MEMORY = 86
"""`guest/script.py` exits with it after an uncaught MemoryError."""
_SIGKILL, _SIGXCPU = 128 + 9, 128 + 24
_DRAIN_READS = 64
"""More than a pipe holds."""
_MB = 1 << 20
_FLOOD_BYTES = 16 * _MB
"""Output of one stream that is read as fast as it comes."""
_LOG = logging.getLogger(__name__)


@dataclass(frozen=True)
class Order:
    """What is to be run."""

    code: str
    public: Path
    scratch: Path | None
    timeout_s: float
    limits: RunLimits
    cancel: int = -1
    """Descriptor that becomes readable when the caller no longer wants the run."""
    processors: tuple[int, ...] = ()
    """Numbers of the processors that it may use; empty: all."""

    @property
    def cpu_s(self) -> int:
        """Processor seconds of one process."""
        return self.limits.cpu_seconds(self.timeout_s)

    def job(self) -> bytes:
        """Write down what the guest needs to know."""
        limits = self.limits
        place = self.public.stat()
        facts = {
            "code": self.code.encode("utf-8", "replace").decode(),
            "public": str(self.public),
            "public_identity": [place.st_dev, place.st_ino],
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


def attend(order: Order, isolation: Isolation, launch: Callable[[Channels], Launched]) -> RunResult:
    """Launch a run, shut nothing out of sight until it is over, and say how it ended.

    Raises:
        ServerGone: if nothing was started; the caller may try again.
    """
    with ExitStack() as stack:
        try:
            channels = Channels(order.job())
            stack.callback(channels.close)
            launched = launch(channels)
        except OSError as error:
            # Nothing of the agent's was run: this machine or this process has run out of something.
            return RunResult(outcome=Outcome.INFRA_ERROR, isolation=isolation, detail=f"cannot be started: {error}")
        channels.close_given()
        return _Attendance(order, isolation, channels, launched).result()


class _Attendance:
    def __init__(self, order: Order, isolation: Isolation, channels: Channels, launched: Launched) -> None:
        self._order, self._isolation = order, isolation
        self._channels, self._launched = channels, launched
        limit = order.limits.output_kb * 1024
        self._tails = {channels.stdout: _Tail(limit), channels.stderr: _Tail(limit)}
        self._work = -1
        self._cpu_before = 0.0
        """Of a process that was there before the run was: not the run's."""
        self._filled = Copied()
        self._before: object = None
        """Fingerprint of the submission of an earlier run."""

    def result(self) -> RunResult:
        ending: Ending | None = None
        started = 0.0
        stopped: Outcome | None = None
        peak = cpu_s = 0.0
        try:
            fault = self._see_it_start()
            started = time.monotonic()
            if not fault:
                watch = MemoryWatch(self._launched.pids, self._order.limits.memory_mb * _MB)
                stopped = self._wait_safely(watch, started)
                peak, cpu_s = watch.peak_bytes / _MB, watch.cpu_s
            seconds = time.monotonic() - started
            self._launched.kill()
            ending = self._launched.finish()
            self._drain()
            outcome, detail, content = self._judge(fault, stopped, ending)
        finally:
            if ending is None:
                self._launched.kill()
                self._launched.finish()
            if self._work >= 0:
                os.close(self._work)
        return RunResult(
            outcome=outcome,
            isolation=self._isolation,
            duration_s=0.0 if fault else round(seconds, 6),
            cpu_s=round(max(0.0, max(ending.cpu_s, cpu_s) - self._cpu_before), 6),
            peak_mb=round(max(ending.peak_mb, peak), 1),
            stdout=self._tails[self._channels.stdout].text(),
            stderr=self._tails[self._channels.stderr].text(),
            submission=content,
            detail=detail,
        )

    def _see_it_start(self) -> str:
        """Receive the working directory, fill it, and give the word. Gives what went wrong, if anything."""
        stage = self._channels.stage
        stage.settimeout(_START_S)
        try:
            message, descriptors, _, _ = socket.recv_fds(stage, 1 << 12, 1)
            words = message.decode(errors="replace").split()
            if descriptors:
                (self._work,) = descriptors
            if words[:1] != ["ready"] or self._work < 0:
                return _fault(message)
            if self._order.scratch:
                caps = Caps.into(self._order.limits.disk_mb * _MB, self._order.limits.inodes)
                self._filled = fill(self._order.scratch, self._work, int(words[1]), caps)
                self._before = self._read_submission().fingerprint
            stage.send(b"go")
            said = stage.recv(1 << 12)
        except OSError as error:
            return f"ended before the script started: {error}"
        name, _, seconds = said.partition(b" ")
        if name != b"started":
            return _fault(said)
        if self._isolation is Isolation.WARM:
            self._cpu_before = float(seconds)
        return ""

    def _wait_safely(self, watch: MemoryWatch, started: float) -> Outcome | None:
        """Wait for the end. If waiting itself fails, the run has failed: its code must not be able to cause a fault."""
        try:
            return self._wait(watch, started)
        except Exception:  # noqa: BLE001 - whatever it is, it ends as an outcome that pays nothing
            _LOG.exception("Watching a run failed. This is a bug of the sandbox: please report it with the script.")
            return Outcome.RUNTIME_ERROR

    def _wait(self, watch: MemoryWatch, started: float) -> Outcome | None:
        """Wait for the end; gives the limit for which the run has to be ended, if any."""
        poller = select.poll()
        over, cancel = self._launched.over, self._order.cancel
        for descriptor in (over, *self._tails, *([cancel] if cancel >= 0 else [])):
            poller.register(descriptor, select.POLLIN)
        paused: list[int] = []
        deadline = started + self._order.timeout_s
        while (left := deadline - time.monotonic()) > 0:
            ready = {descriptor for descriptor, _ in poller.poll(max(1.0, 1000 * min(left, watch.pause_s)))}
            if over in ready or cancel in ready:
                return None
            for descriptor in ready:
                tail = self._tails[descriptor]
                is_open = tail.read(descriptor)
                if not is_open or tail.is_flooded:
                    poller.unregister(descriptor)
                if is_open and tail.is_flooded:
                    paused.append(descriptor)
            if not watch.pause_s:
                # The pipe is full by now, so that the writer waits for us, and reading takes little of our time.
                while paused:
                    poller.register(paused.pop(), select.POLLIN)
            if watch.is_over():
                return Outcome.OOM
        return Outcome.TIMEOUT

    def _drain(self) -> None:
        for descriptor, tail in self._tails.items():
            for _ in range(_DRAIN_READS):
                if not tail.read(descriptor):
                    break

    def _judge(self, fault: str, stopped: Outcome | None, ending: Ending) -> tuple[Outcome, str, bytes | None]:
        if fault:
            return Outcome.INFRA_ERROR, fault, None
        left = self._bring_out()
        outcome, detail = self._ended(stopped, ending)
        if outcome is not Outcome.OK:
            return outcome, detail + left, None
        found = self._read_submission()
        if found.tampered:
            return Outcome.TAMPER, found.tampered + left, None
        if found.content is None:
            return Outcome.NO_SUBMISSION, "no submission.csv in the working directory" + left, None
        if self._before and found.fingerprint == self._before:
            return Outcome.NO_SUBMISSION, "submission.csv is that of an earlier run" + left, None
        return Outcome.OK, left.removeprefix("; "), found.content

    def _bring_out(self) -> str:
        """Bring the files out. Gives what did not come in or out, if anything."""
        if not self._order.scratch:
            return ""
        caps = Caps.out(self._order.limits.disk_mb * _MB, self._order.limits.inodes)
        kept = collect(self._work, self._order.scratch, self._filled, caps)
        return "".join(
            f"; {copied.left} path{'s were' if copied.left > 1 else ' was'} not {what}, first {copied.first_left}"
            for copied, what in ((self._filled, "brought in"), (kept, "kept"))
            if copied.left
        )

    def _read_submission(self) -> Submission:
        return read_submission(self._work, self._order.limits.submission_mb * _MB)

    def _ended(self, stopped: Outcome | None, ending: Ending) -> tuple[Outcome, str]:
        limits, code = self._order.limits, ending.code
        if stopped is Outcome.TIMEOUT:
            return stopped, f"over {self._order.timeout_s:g} s of wall time"
        if stopped is Outcome.OOM:
            return stopped, f"over {limits.memory_mb} MB of memory in all processes"
        if stopped is Outcome.RUNTIME_ERROR:
            return stopped, "the sandbox could not watch the run to its end"
        if code is None:
            return Outcome.RUNTIME_ERROR, "the server that had forked the run is gone"
        if code == 0:
            return Outcome.OK, ""
        if code == _EXIT_OUT_OF_MEMORY:
            return Outcome.OOM, "an uncaught MemoryError"
        if code == _SIGXCPU or (code == _SIGKILL and ending.cpu_s >= self._order.cpu_s):
            return Outcome.TIMEOUT, f"over {self._order.cpu_s} s of processor time"
        if code == _SIGKILL:
            return Outcome.OOM, "killed, by the kernel for want of memory or by itself"
        return Outcome.RUNTIME_ERROR, f"exit code {code}" if code < 128 else f"ended by signal {code - 128}"


def _fault(message: bytes) -> str:
    return message.decode(errors="replace").removeprefix("error ") or "ended before the script started"


class _Tail:
    """The last bytes of a stream that may be endless."""

    def __init__(self, limit: int) -> None:
        self._limit, self._kept = limit, bytearray()
        self._seen = 0

    @property
    def is_flooded(self) -> bool:
        """Whether there was so much that the rest is read only now and then: reading takes our time, not the run's."""
        return self._seen > _FLOOD_BYTES

    def read(self, descriptor: int) -> bool:
        """Take what is there; False at the end of the stream or if nothing more is there."""
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
        return self._kept[-self._limit :].decode(errors="replace")
