"""Whether a build's memory depends on how many tasks it makes: the private memory of each of its processes.

The largest is that of a moment, and many tasks have more of them; what a build gathers shows in how the usual grows.

Run from the repository root: python -m benchmarks.memory --tasks 50 500
"""

import argparse
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

KINDS = {
    "sandmill.pipeline.workers": "a worker",
    "start.py serve": "a warm interpreter",
    "prefect.server": "Prefect's server",
}
"""What a command line holds, and what the process is."""
FLOW = "the flow"
_LOOK_S = 0.5


def family(pid: int) -> Iterator[int]:
    """A process and all that descend from it."""
    yield pid
    with suppress(FileNotFoundError, ProcessLookupError):
        for thread in Path(f"/proc/{pid}/task").iterdir():
            for child in (thread / "children").read_text().split():
                yield from family(int(child))


def resident_mb(pid: int) -> float:
    """Resident memory of a process, private pages alone."""
    rollup = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    kilobytes = [int(line.split()[1]) for line in rollup if line.startswith("Private_")]
    return sum(kilobytes) / 1024


def kind_of(pid: int, root: int) -> str | None:
    """What a process of a build is; None for what lives a moment."""
    command = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    if pid == root:
        return FLOW
    return next((kind for mark, kind in KINDS.items() if mark in command), None)


def measure(tasks: int, workers: int, root: Path) -> tuple[float, dict[str, list[float]]]:
    """Build; returns minutes, and for each kind of process what the largest of it held at each look, in MB."""
    request = ["--name", "bench", "--tasks", str(tasks), "--seed", "7"]
    command = [sys.executable, "-m", "flows.build_release", *request, "--root", str(root), "--workers", str(workers)]
    held: dict[str, list[float]] = {}
    started = time.monotonic()
    said = root / "said.txt"
    with said.open("wb") as log, subprocess.Popen(command, stdout=log, stderr=log) as process:
        while process.poll() is None:
            seen: dict[str, float] = {}
            for pid in list(family(process.pid)):
                with suppress(FileNotFoundError, ProcessLookupError, PermissionError):
                    if kind := kind_of(pid, process.pid):
                        seen[kind] = max(seen.get(kind, 0.0), resident_mb(pid))
            for kind, megabytes in seen.items():
                held.setdefault(kind, []).append(megabytes)
            time.sleep(_LOOK_S)
    if process.returncode:
        raise SystemExit(f"{said.read_text()}\nthe build of {tasks} tasks ended with exit code {process.returncode}")
    return (time.monotonic() - started) / 60, held


def tell(looks: Sequence[float]) -> str:
    """The largest, and the median of the second fifth and of the last: in the first a process is still warming up."""
    fifth = max(1, len(looks) // 5)
    second, last = looks[fifth : 2 * fifth] or looks, looks[-fifth:]
    return f"{max(looks):.0f} MB ({median(second):.0f} to {median(last):.0f})"


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tasks", type=int, nargs="+", default=[50, 500])
    parser.add_argument("--workers", type=int, default=2)
    given = parser.parse_args(arguments)
    kinds = [FLOW, *KINDS.values()]
    print(f"| tasks | {' | '.join(kinds)} | minutes |")
    print("|---:" * (len(kinds) + 2) + "|")
    for tasks in given.tasks:
        with TemporaryDirectory(prefix="sandmill-bench-") as root:
            minutes, held = measure(tasks, given.workers, Path(root))
        print(f"| {tasks} | {' | '.join(tell(held.get(kind, [0.0])) for kind in kinds)} | {minutes:.1f} |", flush=True)


if __name__ == "__main__":
    main()
