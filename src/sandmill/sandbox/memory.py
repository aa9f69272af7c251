"""Measure the memory of all processes of a run together. The resource limits of the kernel count each process alone."""

import os
import re
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

_MIN_PAUSE_S = 0.05
_COST_FACTOR = 10
"""The pause is at least this many times the processor time of a measurement, so that measuring takes at most a tenth of
one processor. Waiting time does not count: a measurement waits longest while a run allocates memory fast.
"""

_RESIDENT = ("RssAnon", "RssShmem", "VmSwap")
_OWN_SHARE = ("Pss_Anon", "Pss_Shmem", "SwapPss")
_FIELDS = frozenset({"VmRSS", "VmHWM", "Pss", *_RESIDENT, *_OWN_SHARE})
"""Lines of /proc/PID/status and smaps_rollup that are read. Other lines, such as `Name`, hold text from the agent."""
_SIZE = re.compile(rb"(\w+):\s*([0-9]+) kB")


class MemoryWatch:
    """Measures the memory of a run at intervals and tells whether the run exceeds its limit.

    It counts resident anonymous memory, shared memory and swap of the run's processes. The seccomp filter refuses
    memory that is charged to no process (see `guest/filter.py`).

    Between two measurements a run can use more: in the worst case every process fills its address space limit. Memory
    shared with the warm interpreter counts only in part. Memory that processes of the run share with each other counts
    once (proportional set size), so forking does not hide it.
    """

    def __init__(self, pids: Sequence[int], limit_bytes: int) -> None:
        self._pids, self._limit = pids, limit_bytes
        self.peak_bytes = 0
        """Peak memory of the largest process, or the total of all processes where that was measured and is larger."""
        self.cpu_s = 0.0
        """Largest processor time that was measured for all living processes and the children that they waited for."""
        self._next = time.monotonic() + _MIN_PAUSE_S

    @property
    def pause_s(self) -> float:
        """Seconds until the next measurement is due."""
        return max(0.0, self._next - time.monotonic())

    def is_over(self) -> bool:
        """Measure if a measurement is due. Returns whether the run exceeds its limit."""
        started = time.monotonic()
        if started < self._next:
            return False
        used = time.thread_time()
        pids = _process_tree(self._pids)
        seen = [_measure(pid) for pid in pids]
        self.peak_bytes = max([self.peak_bytes, *(peak for _, _, peak in seen)])
        self.cpu_s = max(self.cpu_s, sum(map(_cpu_seconds, pids)))
        total = 0
        if sum(upper_bound for _, upper_bound, _ in seen) > self._limit:
            total = sum(_charged_bytes(folder, upper_bound) for folder, upper_bound, _ in seen)
            self.peak_bytes = max(self.peak_bytes, total)
        cost = time.thread_time() - used
        self._next = time.monotonic() + max(_MIN_PAUSE_S, _COST_FACTOR * cost)
        return total > self._limit


def _measure(pid: int) -> tuple[str, int, int]:
    """Return the folder in /proc of a living thread, all resident and swapped bytes, shared ones too, and their peak.

    The kernel shows no memory for a main thread that has ended, although other threads still use it.
    """
    folder = f"/proc/{pid}"
    fields = _read_fields(f"{folder}/status")
    if "VmRSS" not in fields:
        with suppress(OSError):
            for task in Path(f"/proc/{pid}/task").iterdir():
                if "VmRSS" in (found := _read_fields(f"{task}/status")):
                    folder, fields = str(task), found
                    break
    return folder, sum(fields.get(name, 0) for name in _RESIDENT), fields.get("VmHWM", 0)


def _charged_bytes(folder: str, upper_bound: int) -> int:
    """Return the memory of a process, where memory shared by n processes counts 1/n for each.

    An ordinary user cannot read the shares of a process that has made itself undumpable. Its memory counts in full.
    """
    fields = _read_fields(f"{folder}/smaps_rollup")
    if "Pss" not in fields:
        return upper_bound
    return sum(fields.get(name, 0) for name in _OWN_SHARE)


def peak_of_ended(recorded_bytes: int) -> int:
    """Return the peak memory of an ended child process, or 0 if the recorded value is that of this process.

    A child starts with our memory, so the kernel records our own peak for it until the child uses more.
    """
    return recorded_bytes if recorded_bytes > _read_fields("/proc/self/status").get("VmHWM", 0) else 0


def _process_tree(roots: Sequence[int]) -> list[int]:
    """List processes and their descendants. Orphans become children of the init process, so none is missed."""
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
        # The agent chooses the name in brackets. It can hold any bytes, brackets and line feeds included.
        fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
        return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
    return 0.0


def _read_fields(path: str) -> dict[str, int]:
    """Read sizes in bytes from a status file in /proc. Returns an empty dictionary if the process has ended.

    The agent chooses the line `Name`, and the kernel escapes only line feeds in it. So only line feeds end a line.
    """
    fields: dict[str, int] = {}
    with suppress(OSError):
        for line in Path(path).read_bytes().split(b"\n"):
            if (size := _SIZE.fullmatch(line)) and (name := size[1].decode()) in _FIELDS:
                fields[name] = int(size[2]) * 1024
    return fields
