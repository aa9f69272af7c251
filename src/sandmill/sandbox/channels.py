"""The descriptors of one run: what the run gets, what we keep, and how a started run is ended."""

import os
import socket
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Protocol


class Channels:
    """Two pipes for output, a socket for the time before the agent's code starts, a memory file with the job.

    None of them but the write ends of the pipes is open in the run when the agent's code starts.
    """

    def __init__(self, job: bytes) -> None:
        self._ours, self._theirs = ExitStack(), ExitStack()
        try:
            self._open(job)
        except OSError:
            self.close()
            raise

    def _open(self, job: bytes) -> None:
        self.job = self._held(self._theirs, os.memfd_create("sandmill-job", os.MFD_CLOEXEC))
        with open(self.job, "wb", closefd=False) as file:
            file.write(job)
        self.stdout, self._stdout_far = self._pipe()
        self.stderr, self._stderr_far = self._pipe()
        self.stage, self._stage_far = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._ours.callback(self.stage.close)
        self._theirs.callback(self._stage_far.close)

    def _pipe(self) -> tuple[int, int]:
        near, far = os.pipe()
        os.set_blocking(near, False)
        return self._held(self._ours, near), self._held(self._theirs, far)

    def _held(self, stack: ExitStack, descriptor: int) -> int:
        stack.callback(os.close, descriptor)
        return descriptor

    @property
    def given(self) -> tuple[int, int, int, int]:
        """Descriptors for the run: job, standard output, standard error, stage."""
        return self.job, self._stdout_far, self._stderr_far, self._stage_far.fileno()

    def close_given(self) -> None:
        """Let go of the run's ends, so that we see when the run does."""
        self._theirs.close()

    def close(self) -> None:
        """Let go of everything."""
        self._theirs.close()
        self._ours.close()


@dataclass(frozen=True)
class Ending:
    """What the kernel said of a run that is over."""

    code: int | None
    """Exit code, 128 + signal after a signal; None if nobody could say."""
    cpu_s: float = 0.0
    peak_mb: float = 0.0


class Launched(Protocol):
    """A run that was started, whatever started it."""

    @property
    def pids(self) -> tuple[int, ...]:
        """Processes of which all others of the run descend."""

    @property
    def over(self) -> int:
        """Descriptor that becomes readable when the run is over."""

    def kill(self) -> None:
        """End every process of the run."""

    def finish(self) -> Ending:
        """Wait for the end and let go of everything."""
