"""Limits and result of one run of an agent's code."""

from enum import StrEnum
from numbers import Real
from typing import Any

from pydantic import Field

from sandmill.errors import Problem, shorten
from sandmill.models.base import Frozen
from sandmill.models.reports import Outcome

MOST_SECONDS = 86_400
"""Longest wall time of one run: a day. Much larger numbers overflow the kernel's limits."""


def timeout_problem(timeout: Any) -> Problem | None:
    """Return the problem of a wall time, or None if it is valid."""
    is_number = isinstance(timeout, Real)
    if is_number and 0 < timeout <= MOST_SECONDS:
        return None
    # Python refuses to print integers with thousands of digits.
    saw = "a larger number" if isinstance(timeout, int) and timeout > MOST_SECONDS else shorten(repr(timeout))
    return Problem("timeout", saw, f"a number of seconds above 0, at most {MOST_SECONDS}")


class Isolation(StrEnum):
    """Isolation of the agent's code from the machine."""

    WARM = "warm"
    """Namespaces, seccomp and limits around a fork of a warm interpreter."""
    BWRAP = "bwrap"
    """The same in bubblewrap: in rollouts of earlier versions."""
    NONE = "none"
    """A plain subprocess without isolation, for development with trusted code."""


class RunLimits(Frozen):
    """Resource limits of one run. The wall time is an argument of the run instead."""

    memory_mb: int = Field(default=2048, ge=128)
    """Private memory of all processes together, in MB. Each process may also add as much address space."""
    processes: int = Field(default=64, ge=2)
    open_files: int = Field(default=1024, ge=32)
    """File descriptors of each process."""
    disk_mb: int = Field(default=512, ge=1)
    """Working directory, /tmp, home and /dev/shm together, in MB. They are in memory, in addition to `memory_mb`."""
    inodes: int = Field(default=20_000, ge=64)
    """Most files and folders in the places that `disk_mb` counts."""
    file_mb: int = Field(default=256, ge=1)
    cpu_s: int | None = Field(default=None, ge=1)
    """CPU seconds of each process. None means twice the wall time."""
    cores: int | None = Field(default=None, ge=1)
    """CPU cores of all processes together. None means all that the parent may use."""
    output_kb: int = Field(default=64, ge=1)
    """Kilobytes kept of the end of standard output and of standard error, each. The rest is discarded."""
    submission_mb: int = Field(default=64, ge=1)

    def cpu_seconds(self, timeout: float) -> int:
        """Return the CPU seconds of each process in a run of `timeout` seconds of wall time."""
        return self.cpu_s or int(2 * timeout) + 1


class RunResult(Frozen):
    """Result of a run, observed from outside. Only output streams and submission come from the agent's code."""

    outcome: Outcome
    isolation: Isolation
    duration_s: float = Field(default=0.0, ge=0)
    """Wall time of the agent's code in seconds, without set-up and clean-up."""
    cpu_s: float = Field(default=0.0, ge=0)
    peak_mb: float = Field(default=0.0, ge=0)
    """Larger of two peaks in MB: resident memory of one process (with shared libraries), private memory of all."""
    stdout: str = ""
    stderr: str = ""
    submission: bytes | None = None
    """Content of submission.csv, if the run exited with 0 and wrote it as a regular file."""
    detail: str = ""
    """Explanation of the outcome: the limit that was exceeded, the fault, or the problem of submission.csv."""
