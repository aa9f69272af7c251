"""Watching the memory of all processes of a run together, which no resource limit of the kernel counts."""

import os
import re
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

_LEAST_PAUSE_S = 0.05
_COST_SHARE = 10
"""A look pauses for this many times its processor time, so that watching takes a tenth of one processor at most.

Time in which a look waited does not count: it waits for memory that a run is filling, and would then look least often.
"""

_RESIDENT = ("RssAnon", "RssShmem", "VmSwap")
_OWN_SHARE = ("Pss_Anon", "Pss_Shmem", "SwapPss")
_FIELDS = frozenset({"VmRSS", "VmHWM", "Pss", *_RESIDENT, *_OWN_SHARE})
"""Lines of /proc/PID/status and smaps_rollup that are read. The agent's code writes others, such as `Name`."""
_SIZE = re.compile(rb"(\w+):\s*([0-9]+) kB")


class MemoryWatch:
    """Looks now and then; a run is over its limit when its own memory is.

    What counts is what the kernel holds for the run's processes: resident anonymous and shared memory, and what of it
    was moved to swap. Memory that no process would be charged for cannot be had inside (see `guest/filter.py`).

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
        used = time.thread_time()
        pids = _family(self._pids)
        seen = [_look_at(pid) for pid in pids]
        self.peak_bytes = max([self.peak_bytes, *(process.peak_bytes for process in seen)])
        self.cpu_s = max(self.cpu_s, sum(map(_cpu_seconds, pids)))
        total = 0
        if sum(process.rough_bytes for process in seen) > self._limit:
            total = sum(map(_own_bytes, seen))
            self.peak_bytes = max(self.peak_bytes, total)
        cost = time.thread_time() - used
        self._next = time.monotonic() + max(_LEAST_PAUSE_S, _COST_SHARE * cost)
        return total > self._limit


@dataclass(frozen=True)
class _Process:
    """Memory of one process at one look."""

    place: str
    """Folder in /proc of a thread that still has the memory."""
    rough_bytes: int = 0
    """All that is resident or swapped, memory shared with other processes included."""
    peak_bytes: int = 0


def _look_at(pid: int) -> _Process:
    """Read the memory of a process, also when its first thread has ended and others live on.

    The kernel shows no memory for an ended first thread, although the memory of the process is still there.
    """
    place = f"/proc/{pid}"
    fields = _read_fields(f"{place}/status")
    if "VmRSS" not in fields:
        with suppress(OSError):
            for task in Path(f"/proc/{pid}/task").iterdir():
                found = _read_fields(f"{task}/status")
                if "VmRSS" in found:
                    place, fields = str(task), found
                    break
    rough = sum(fields.get(name, 0) for name in _RESIDENT)
    return _Process(place, rough, fields.get("VmHWM", 0))


def _own_bytes(process: _Process) -> int:
    """Give a process's share of memory that it has with others, or all of it where we may not look closely.

    As an ordinary user we may not look closely at a process that has made itself undumpable.
    """
    fields = _read_fields(f"{process.place}/smaps_rollup")
    if "Pss" not in fields:
        return process.rough_bytes
    return sum(fields.get(name, 0) for name in _OWN_SHARE)


def peak_of_ended(booked_bytes: int) -> int:
    """Largest memory of a process that we started, as the kernel booked it; 0 where that is our own.

    A program that is started begins in our memory, and the kernel books on it what we held at most until then.
    """
    return booked_bytes if booked_bytes > _read_fields("/proc/self/status").get("VmHWM", 0) else 0


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
        # The name in brackets is the agent's: any bytes, brackets and line ends among them.
        fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
        return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
    return 0.0


def _read_fields(path: str) -> dict[str, int]:
    """Read the sizes in one of the kernel's tables, in bytes; nothing if the process is gone.

    The line `Name` is the agent's, and the kernel escapes only line feeds in it. So lines end at line feeds alone.
    """
    fields: dict[str, int] = {}
    with suppress(OSError):
        for line in Path(path).read_bytes().split(b"\n"):
            if (size := _SIZE.fullmatch(line)) and (name := size[1].decode()) in _FIELDS:
                fields[name] = int(size[2]) * 1024
    return fields
