"""Watching the memory of all processes of a run together, which no resource limit of the kernel counts."""

import os
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

_LEAST_PAUSE_S = 0.05
_COST_SHARE = 10
"""A look pauses for this many times what it cost, so that watching takes a tenth of one processor at most."""


class MemoryWatch:
    """Looks now and then; a run is over its limit when its own memory is.

    Between two looks a run can take more: at worst, every process fills the address space that its own limit allows.
    Memory that a process shares with the warm interpreter is not the run's; memory that its processes share with each
    other counts once (proportional set size), so forking does not hide it.
    """

    def __init__(self, pids: Sequence[int], limit_bytes: int) -> None:
        self._pids, self._limit = pids, limit_bytes
        self.peak_bytes = 0
        """Largest process that was seen, or all together where a close look was taken, if that was more."""
        self.cpu_s = 0.0
        """Most processor time that living processes were seen to have used, with those that they had waited for."""
        self._next = time.monotonic() + _LEAST_PAUSE_S

    @property
    def pause_s(self) -> float:
        """Until the next look is due."""
        return max(0.0, self._next - time.monotonic())

    def is_over(self) -> bool:
        """Look, if it is time to."""
        started = time.monotonic()
        if started < self._next:
            return False
        pids = _family(self._pids)
        rough = sum(_sum_fields(f"/proc/{pid}/status", ("RssAnon", "RssShmem")) for pid in pids)
        largest = max((_sum_fields(f"/proc/{pid}/status", ("VmHWM",)) for pid in pids), default=0)
        self.peak_bytes = max(self.peak_bytes, largest)
        self.cpu_s = max(self.cpu_s, sum(map(_cpu_seconds, pids)))
        total = 0
        if rough > self._limit:
            total = sum(_sum_fields(f"/proc/{pid}/smaps_rollup", ("Pss_Anon", "Pss_Shmem")) for pid in pids)
            self.peak_bytes = max(self.peak_bytes, total)
        now = time.monotonic()
        self._next = now + max(_LEAST_PAUSE_S, _COST_SHARE * (now - started))
        return total > self._limit


def peak_of_ended(booked_bytes: int) -> int:
    """Largest memory of a process that we started, as the kernel booked it; 0 where that is our own.

    A program that is started begins in our memory, and the kernel books on it what we held at most until then.
    """
    return booked_bytes if booked_bytes > _sum_fields("/proc/self/status", ("VmHWM",)) else 0


def _family(roots: Sequence[int]) -> list[int]:
    """List processes and their descendants: orphans belong to the init of their namespace, so none is missed."""
    found: list[int] = []
    waiting = list(roots)
    while waiting:
        found.append(waiting.pop())
        with suppress(OSError):
            for task in Path(f"/proc/{found[-1]}/task").iterdir():
                waiting += map(int, (task / "children").read_text().split())
    return found


def _cpu_seconds(pid: int) -> float:
    with suppress(OSError):
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
    return 0.0


def _sum_fields(path: str, names: tuple[str, ...]) -> int:
    total = 0
    with suppress(OSError):
        for line in Path(path).read_text().splitlines():
            name, _, value = line.partition(":")
            if name in names:
                total += int(value.split()[0]) * 1024
    return total
