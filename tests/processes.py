"""Processes as /proc shows them, and waiting for what other processes or threads do."""

import time
from collections.abc import Callable
from pathlib import Path


def wait_until(holds: Callable[[], object], seconds: float = 20, pause_s: float = 0.05) -> bool:
    """Wait until it holds, at most so long. Returns whether it holds."""
    deadline = time.monotonic() + seconds
    while not (found := holds()) and time.monotonic() < deadline:
        time.sleep(pause_s)
    return bool(found)


def read_proc(pid: int, name: str) -> bytes:
    """Return a file of a process; nothing if it has ended."""
    try:
        return Path(f"/proc/{pid}/{name}").read_bytes()
    except OSError:
        return b""


def pids() -> list[int]:
    """Return all processes of the machine."""
    return [int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit()]


def is_alive(pid: int) -> bool:
    """Whether a process runs. Zombies do not."""
    state = read_proc(pid, "stat").rpartition(b")")[2].split()
    return bool(state) and state[0] not in (b"Z", b"X")


def children(pid: int) -> list[int]:
    """Return the child processes of all threads of a process, also of namespaces of their own."""
    try:
        threads = [path.name for path in Path(f"/proc/{pid}/task").iterdir()]
    except OSError:
        return []
    return [int(word) for thread in threads for word in read_proc(pid, f"task/{thread}/children").split()]


def descendants(pid: int) -> list[int]:
    """Return the processes below a process, at this moment."""
    return [found for child in children(pid) for found in (child, *descendants(child))]
