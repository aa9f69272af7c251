"""Descriptors that connect us to one run, and the interface of a started run."""

import os
import socket
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Protocol


class Channels:
    """Two output pipes, a socket for the set-up, and a memory file that holds the job.

    When the agent's code starts, only the write ends of the two pipes are still open in the run.
    """

    def __init__(self, job: bytes) -> None:
        self._ours, self._theirs = ExitStack(), ExitStack()
        try:
            self._open(job)
        except OSError:
            self.close()
            raise

    def _open(self, job: bytes) -> None:
        self.job = self._close_with(self._theirs, os.memfd_create("sandmill-job", os.MFD_CLOEXEC))
        with open(self.job, "wb", closefd=False) as file:
            file.write(job)
        self.stdout, self._guest_stdout = self._pipe()
        self.stderr, self._guest_stderr = self._pipe()
        self.setup_socket, self._guest_socket = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._ours.callback(self.setup_socket.close)
        self._theirs.callback(self._guest_socket.close)

    def _pipe(self) -> tuple[int, int]:
        near, far = os.pipe()
        os.set_blocking(near, False)
        return self._close_with(self._ours, near), self._close_with(self._theirs, far)

    def _close_with(self, stack: ExitStack, descriptor: int) -> int:
        stack.callback(os.close, descriptor)
        return descriptor

    @property
    def guest_descriptors(self) -> tuple[int, int, int, int]:
        """Descriptors for the run: job, standard output, standard error, set-up socket."""
        return self.job, self._guest_stdout, self._guest_stderr, self._guest_socket.fileno()

    def close_guest_ends(self) -> None:
        """Close our copies of the run's descriptors. Only then do we see the end of a stream that the run closes."""
        self._theirs.close()

    def close(self) -> None:
        """Close all descriptors."""
        self._theirs.close()
        self._ours.close()


@dataclass(frozen=True)
class Ending:
    """Exit status and resource usage of an ended run, as the kernel reported them."""

    code: int | None
    """Exit code, or 128 + signal number after a signal. None if it is unknown."""
    cpu_s: float = 0.0
    peak_mb: float = 0.0


class Launched(Protocol):
    """A started run of any backend."""

    @property
    def pids(self) -> tuple[int, ...]:
        """Processes of the run. All others descend from them."""

    @property
    def end_descriptor(self) -> int:
        """Descriptor that becomes readable when the run has ended."""

    def kill(self) -> None:
        """Kill every process of the run."""

    def finish(self) -> Ending:
        """Wait for the end, close all descriptors, and return how the run ended."""
