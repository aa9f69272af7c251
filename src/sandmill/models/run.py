"""One run of an agent's code: what it may use, how it ended."""

from enum import StrEnum
from numbers import Real
from typing import Any

from pydantic import Field

from sandmill.errors import Problem, shorten
from sandmill.models.base import Frozen
from sandmill.models.reports import Outcome

MOST_SECONDS = 86_400
"""Longest wall time of one run: a day. Far larger numbers do not fit into the limits of the kernel."""


def timeout_problem(timeout: Any) -> Problem | None:
    """Say what is wrong with the wall time of a run, if anything."""
    is_number = isinstance(timeout, Real)
    if is_number and 0 < timeout <= MOST_SECONDS:
        return None
    # Python does not write out whole numbers of more than some thousand digits.
    saw = "a larger number" if isinstance(timeout, int) and timeout > MOST_SECONDS else shorten(repr(timeout))
    return Problem("timeout", saw, f"a number of seconds above 0, at most {MOST_SECONDS}")


class Isolation(StrEnum):
    """What stood between the agent's code and the machine."""

    WARM = "warm"
    """Namespaces, seccomp and limits around a fork of a warm interpreter."""
    BWRAP = "bwrap"
    """The same around a cold interpreter, with namespaces made by bubblewrap."""
    NONE = "none"
    """A plain subprocess: for development with code that one would run anyway."""


class RunLimits(Frozen):
    """What one run may use besides wall time, which is an argument of the run."""

    memory_mb: int = Field(default=2048, ge=128)
    """Private memory of all processes together; also the address space that each may add to the interpreter's."""
    processes: int = Field(default=64, ge=2)
    """Processes and threads."""
    open_files: int = Field(default=1024, ge=32)
    """Descriptors a process."""
    disk_mb: int = Field(default=512, ge=1)
    """Working directory, /tmp, home and /dev/shm together. Held in memory, beside `memory_mb`."""
    inodes: int = Field(default=20_000, ge=64)
    """Files and folders, places as for `disk_mb`."""
    file_mb: int = Field(default=256, ge=1)
    """One file."""
    cpu_s: int | None = Field(default=None, ge=1)
    """Processor time of one process; none: twice the wall time."""
    cores: int | None = Field(default=None, ge=1)
    """Processors that all processes of a run may use together; none: all that the parent may use."""
    output_kb: int = Field(default=64, ge=1)
    """Kept of standard output and of standard error, each: the last so many. The rest is read and thrown away."""
    submission_mb: int = Field(default=64, ge=1)
    """Largest submission.csv."""

    def cpu_seconds(self, timeout: float) -> int:
        """Processor seconds that one process may use in a run of `timeout` seconds of wall time."""
        return self.cpu_s or int(2 * timeout) + 1


class RunResult(Frozen):
    """How a run ended, as seen from outside: nothing in it but the streams and the submission is the agent's word."""

    outcome: Outcome
    isolation: Isolation
    duration_s: float = Field(default=0.0, ge=0)
    """Wall time of the agent's code, set-up and clean-up left out."""
    cpu_s: float = Field(default=0.0, ge=0)
    """Processor time of all processes that were waited for."""
    peak_mb: float = Field(default=0.0, ge=0)
    """Largest resident memory of one process, shared libraries included, or private memory of all, if that was more."""
    stdout: str = ""
    """Last `output_kb` of standard output."""
    stderr: str = ""
    """Last `output_kb` of standard error."""
    submission: bytes | None = None
    """Content of submission.csv if the run exited with 0 and wrote it as a regular file of its own."""
    detail: str = ""
    """What we have to say to the outcome: which limit, which fault, what is wrong with submission.csv."""
