"""Whether a build's memory depends on how many tasks it makes: the largest resident memory of each of its processes.

Run from the repository root: python -m benchmarks.memory --tasks 50 500
"""

import argparse
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

KINDS = {
    "sandmill.build.workers": "a worker",
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


def measure(tasks: int, workers: int, root: Path) -> tuple[float, dict[str, float]]:
    """Build; returns minutes and the largest private memory of each kind of process, in MB."""
    request = ["--name", "bench", "--tasks", str(tasks), "--seed", "7"]
    command = [sys.executable, "-m", "flows.build_release", *request, "--root", str(root), "--workers", str(workers)]
    peaks: dict[str, float] = {}
    started = time.monotonic()
    said = root / "said.txt"
    with said.open("wb") as log, subprocess.Popen(command, stdout=log, stderr=log) as process:
        while process.poll() is None:
            for pid in list(family(process.pid)):
                with suppress(FileNotFoundError, ProcessLookupError, PermissionError):
                    if kind := kind_of(pid, process.pid):
                        peaks[kind] = max(peaks.get(kind, 0.0), resident_mb(pid))
            time.sleep(_LOOK_S)
    if process.returncode:
        raise SystemExit(f"{said.read_text()}\nthe build of {tasks} tasks ended with exit code {process.returncode}")
    return (time.monotonic() - started) / 60, peaks


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
            minutes, peaks = measure(tasks, given.workers, Path(root))
        print(
            f"| {tasks} | {' | '.join(f'{peaks.get(kind, 0):.0f} MB' for kind in kinds)} | {minutes:.1f} |", flush=True
        )


if __name__ == "__main__":
    main()
