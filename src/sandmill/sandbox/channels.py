"""Descriptors that connect us to one run, and the interface of the backends."""

import os
import select
import signal
import socket
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path

from sandmill.sandbox.agent_env import AgentEnv

_END_TIMEOUT_MS = 15_000
"""Longest wait for the death of a killed run, in milliseconds."""


class Channels:
    """Two output pipes, a socket for the set-up, and a memory file that holds the job.

    When the agent's code starts, only the write ends of the two pipes are still open in the run.
    """

    def __init__(self, job: bytes) -> None:
        self.cleanup, self._theirs = ExitStack(), ExitStack()
        """`cleanup` closes our ends, and takes further actions for the end of the run."""
        try:
            self._open(job)
        except OSError:
            self.close()
            raise

    def _open(self, job: bytes) -> None:
        self.job = os.memfd_create("sandmill-job", os.MFD_CLOEXEC)
        self._theirs.callback(os.close, self.job)
        with open(self.job, "wb", closefd=False) as file:
            file.write(job)
        self.stdout, self._guest_stdout = self._pipe()
        self.stderr, self._guest_stderr = self._pipe()
        near, far = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.setup_socket, self._guest_socket = self.cleanup.enter_context(near), self._theirs.enter_context(far)

    def _pipe(self) -> tuple[int, int]:
        near, far = os.pipe()
        self.cleanup.callback(os.close, near)
        self._theirs.callback(os.close, far)
        os.set_blocking(near, False)
        return near, far

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
        self.cleanup.close()


@dataclass(frozen=True)
class ProcessEnding:
    """Exit status and resource usage of an ended run, as the kernel reported them."""

    code: int | None
    """Exit code, or 128 + signal number after a signal. None if it is unknown."""
    cpu_s: float = 0.0
    peak_mb: float = 0.0

    @classmethod
    def of(cls, status: int, cpu_s: float, peak_mb: float) -> "ProcessEnding":
        """Decode the status of `os.wait4`."""
        code = os.waitstatus_to_exitcode(status)
        return cls(code if code >= 0 else 128 - code, cpu_s, peak_mb)


class Launched:
    """A started run. `_init` is a pidfd of the process that ends last: no process writes files after it is dead."""

    pids: tuple[int, ...]
    """Processes of the run. All others descend from them."""
    end_descriptor: int
    """Descriptor that becomes readable when the run has ended."""
    _init: int

    def kill(self) -> None:
        """Kill every process of the run. The kernel kills the whole PID namespace with its init process."""
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(self._init, signal.SIGKILL)

    def finish(self) -> ProcessEnding:
        """Wait for the end, close all descriptors, and return how the run ended."""
        raise NotImplementedError

    def _wait_for_init(self) -> None:
        waiting = select.poll()
        waiting.register(self._init, select.POLLIN)
        waiting.poll(_END_TIMEOUT_MS)
        os.close(self._init)


class Launcher:
    """Starts runs in one way of isolation."""

    def __init__(self, env: AgentEnv, is_root: bool) -> None:
        self._env, self._is_root = env, is_root

    def start(self) -> None:
        """Start what all runs share, so that the first run does not wait for it."""

    def launch(self, channels: Channels, public: Path) -> Launched:
        """Start the processes of a run with these public files."""
        raise NotImplementedError

    def close(self) -> None:
        """End all runs and release all resources."""
