"""Cost a task of everything beside the attempts, for builds of 50 to 5,000 tasks: flow, server, store and reading.

Attempts are replaced: each slot gets a design of the grammar, one of 500, and the files of a task of another release.
Planning, Prefect, shards, checks across tasks and publishing are those of a real build, and `benchmarks.throughput`
measures attempts. With --library the steps run without Prefect.

Run from the repository root: python -m benchmarks.scale releases/micro --tasks 50 500 5000
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

from benchmarks.memory import family, resident_mb
from benchmarks.repeated_release import copy_task
from benchmarks.throughput import LIBRARY_CALLS
from sandmill.models.base import Stage
from sandmill.models.plan import ShardPlan, ShardRef
from sandmill.models.release import VerifiedTask
from sandmill.models.reports import SlotReport
from sandmill.models.request import BuildRequest, RunSettings
from sandmill.models.spec import TaskSpec
from sandmill.pipeline.shard import Listener, Shard, ShardProgress
from sandmill.store.files import Store
from sandmill.store.release import load

STORE_CALLS = ("read", "read_start", "open", "write", "create", "copy", "remove", "exists", "size", "list", "details")
DESIGNS = 500
"""Designs that are drawn; further tasks have them again. Drawing one takes longer than all that is measured here."""
ROWS = 20
"""Rows kept of files with a line for each test item, so that 5,000 tasks fit on a small disk."""
_LOOK_S = 0.5


@dataclass
class Meter:
    """CPU seconds of each step, calls of the store, and CPU seconds that stand for attempts."""

    seconds: Counter[str] = field(default_factory=Counter)
    calls: Counter[str] = field(default_factory=Counter)
    attempts_s: float = 0.0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def timed(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """Book the CPU seconds of the calling thread, without those that stand for attempts."""

        def measured(*arguments: Any, **named: Any) -> Any:
            started, skipped = time.thread_time(), _STANDING_IN.seconds
            try:
                return function(*arguments, **named)
            finally:
                spent = time.thread_time() - started - (_STANDING_IN.seconds - skipped)
                with self.lock:
                    self.seconds[name] += spent  # type: ignore[assignment]

        return measured

    def counted(self, name: str, method: Callable[..., Any]) -> Callable[..., Any]:
        """Count calls of a method of the store."""

        def measured(*arguments: Any, **named: Any) -> Any:
            with self.lock:
                self.calls[name] += 1
            return method(*arguments, **named)

        return measured


class _StandingIn(threading.local):
    """CPU seconds of this thread that stand for attempts."""

    seconds = 0.0


_STANDING_IN = _StandingIn()


@dataclass
class StandIn:
    """Takes the place of `ShardBuild`: real designs, and the files of tasks that exist."""

    meter: Meter
    originals: Sequence[VerifiedTask]
    reports: Sequence[SlotReport]
    suites: Sequence[dict[str, Any]]

    designs: dict[int, TaskSpec] = field(default_factory=dict)

    def __call__(self, plan: ShardPlan, secret: bytes, *rest: Any) -> "Filling":
        """Begin a shard, with the arguments of `ShardBuild`."""
        listen: Listener = rest[3]
        return Filling(self, plan, secret, listen)


@dataclass
class Filling:
    """One shard that is filled without attempts."""

    source: StandIn
    plan: ShardPlan
    secret: bytes
    listen: Listener

    def run(self) -> Shard:
        """Fill each slot, and report each task as a real shard does."""
        tasks = []
        for done, slot in enumerate(self.plan.slots, start=1):
            started = time.thread_time()
            tasks.append(self._fill(slot.number))
            spent = time.thread_time() - started
            _STANDING_IN.seconds += spent
            with self.source.meter.lock:
                self.source.meter.attempts_s += spent
            self.listen(ShardProgress(Stage.VERIFY, done, 0, task=tasks[-1].record.task_id))
        numbers = [slot.number for slot in self.plan.slots]
        models = self.source.reports
        reports = [
            models[number % len(models)].model_copy(update={"slot": number, "task_ids": (task.record.task_id,)})
            for number, task in zip(numbers, tasks, strict=True)
        ]
        return Shard(tuple(tasks), (), tuple(reports), tuple(self.source.suites))

    def _fill(self, number: int) -> VerifiedTask:
        from sandmill.design import design_task
        from sandmill.rng import Streams

        if number % DESIGNS not in self.source.designs:
            slot = next(slot for slot in self.plan.slots if slot.number == number)
            self.source.designs[number % DESIGNS] = design_task(slot, Streams(self.secret, f"scale {number}"), 0.5)
        spec = self.source.designs[number % DESIGNS]
        task = copy_task(self.source.originals[number % len(self.source.originals)], number, ROWS)
        lineage = task.record.lineage.model_copy(update={"slot": number})
        return VerifiedTask(
            package=task.package, record=task.record.model_copy(update={"spec": spec, "lineage": lineage})
        )


def build_without_prefect(request: BuildRequest, settings: RunSettings) -> str:
    """Call the library as the flow does; returns the release."""
    from tasks.building import suites

    ingest, plan_build, plan_round, build_shard, summarize, publish = (_resolve(name) for name in LIBRARY_CALLS)
    plan = plan_build(request, ingest(request.seeds))
    done: list[ShardRef] = []
    while pending := plan_round(plan, done, settings, suites()):
        done += [build_shard(shard, settings, suites(), lambda _: None) for shard in pending]
    summarize(plan, done, settings)
    return str(publish(plan, done, settings, suites()).reference)


def measure_build(source: str, tasks: int, shard_size: int, root: Path, is_library: bool) -> dict[str, Any]:
    """Build in this process, which has a Prefect home of its own; returns the figures."""
    from flows.build_release import build_release

    release, meter = load(source), Meter()
    originals = [VerifiedTask(package=release.package(one), record=release.record(one)) for one in release.task_ids]
    filled = [slot for slot in release.slot_reports() if slot.reached]
    suites = json.loads(release.report("suites.json") or b"[]")
    request = BuildRequest(name="scale", tasks=tasks, seed=5, kinds={"table": 1.0})
    settings = RunSettings(root=str(root), workers=1, shard_size=shard_size)
    with _metered(meter), patch("sandmill.pipeline.run.ShardBuild", StandIn(meter, originals, filled, suites)):
        started = time.process_time()
        reference = build_without_prefect(request, settings) if is_library else build_release(request, settings)
        flow_s = time.process_time() - started - meter.attempts_s
    database = Path(os.environ["PREFECT_HOME"]).glob("prefect.db*")
    figures: dict[str, Any] = {
        "tasks": tasks,
        "flow_s": flow_s,
        "attempts_s": meter.attempts_s,
        "calls": dict(meter.calls),
        "steps": {name.rpartition(".")[2]: seconds for name, seconds in meter.seconds.items()},
        "database_mb": sum(path.stat().st_size for path in database) / 2**20,
    }
    return figures | measure_reading(reference)


def measure_reading(reference: str) -> dict[str, Any]:
    """Read a release as its users do; returns CPU seconds and calls of the store."""
    meter, figures = Meter(), {}
    with _metered(meter):
        for name, read in (
            ("load", lambda: load(reference)),
            ("list", lambda: load(reference).facts),
            ("select", lambda: load(reference).select(split="train", band=load(reference).facts["band"][0])),
        ):
            before, started = meter.calls.total(), time.process_time()
            read()
            figures[f"{name}_s"], figures[f"{name}_calls"] = time.process_time() - started, meter.calls.total() - before
    return figures


@contextmanager
def _metered(meter: Meter) -> Iterator[None]:
    patches = [patch.object(Store, name, meter.counted(name, getattr(Store, name))) for name in STORE_CALLS]
    patches += [patch(name, meter.timed(name, _resolve(name))) for name in LIBRARY_CALLS]
    for one in patches:
        one.start()
    try:
        yield
    finally:
        for one in patches:
            one.stop()


def _resolve(name: str) -> Callable[..., Any]:
    module, _, attribute = name.rpartition(".")
    function: Callable[..., Any] = getattr(import_module(module), attribute)
    return function


def measure_apart(source: str, tasks: int, options: Sequence[str]) -> dict[str, Any]:
    """Run one build in a process of its own, and watch the memory of it and of all its descendants."""
    with TemporaryDirectory(prefix="sandmill-bench-") as folder:
        environment = {**os.environ, "PREFECT_HOME": f"{folder}/prefect"}
        command = [sys.executable, "-m", "benchmarks.scale", source, "--one", str(tasks), *options]
        began, largest = time.monotonic(), 0.0
        log = Path(folder) / "log"
        with log.open("wb") as output:
            process = subprocess.Popen([*command, "--to", folder], stdout=output, stderr=output, env=environment)
            while process.poll() is None:
                largest = max(largest, _resident_mb(process.pid))
                time.sleep(_LOOK_S)
        if process.returncode:
            raise SystemExit(f"{log.read_text()}\nthe build of {tasks} tasks ended with exit code {process.returncode}")
        figures: dict[str, Any] = json.loads((Path(folder) / "figures.json").read_text())
        return figures | {"peak_mb": largest, "wall_s": time.monotonic() - began}


def _resident_mb(root: int) -> float:
    total = 0.0
    for pid in list(family(root)):
        with suppress(FileNotFoundError, ProcessLookupError, PermissionError):
            total += resident_mb(pid)
    return total


def report(rows: Sequence[dict[str, Any]], shard_size: int) -> str:
    """Write the figures as Markdown."""
    head = ("tasks", "CPU s", "ms a task", "of it server", "peak MB", "store calls a task", "database kB a task")
    lines = [
        f"Shards of {shard_size} slots; CPU time of flow and server without attempts.",
        "",
        "| " + " | ".join(head) + " |",
        "|---:" * len(head) + "|",
    ]
    for row in rows:
        tasks, total = row["tasks"], row["flow_s"] + row["server_s"]
        totals = (
            *(f"{tasks:,}", f"{total:.1f}", f"{1000 * total / tasks:.1f}", f"{1000 * row['server_s'] / tasks:.1f}"),
            *(f"{row['peak_mb']:.0f}", f"{sum(row['calls'].values()) / tasks:.2f}"),
            f"{1024 * row['database_mb'] / tasks:.1f}",
        )
        lines.append("| " + " | ".join(totals) + " |")
    steps = [step.rpartition(".")[2] for step in LIBRARY_CALLS]
    lines += ["", "CPU ms a task of each step:", "", "| tasks | " + " | ".join(steps) + " |"]
    lines.append("|---:" * (len(steps) + 1) + "|")
    for row in rows:
        cells = tuple(f"{1000 * row['steps'].get(step, 0.0) / row['tasks']:.2f}" for step in steps)
        lines.append(f"| {row['tasks']:,} | " + " | ".join(cells) + " |")
    reads = ("load", "list", "select")
    lines += ["", "| tasks | " + " | ".join(f"{name}, CPU s (store calls)" for name in reads) + " |", "|---:" * 4 + "|"]
    for row in rows:
        cells = tuple(f"{row[f'{name}_s']:.2f} ({row[f'{name}_calls']})" for name in reads)
        lines.append(f"| {row['tasks']:,} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", help="release whose tasks lend their files")
    parser.add_argument("--tasks", type=int, nargs="+", default=[50, 500, 5000])
    parser.add_argument("--shard-size", type=int, default=20)
    parser.add_argument("--library", action="store_true", help="leave Prefect out")
    parser.add_argument("--one", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--to", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    if given.one:
        figures = measure_build(given.source, given.one, given.shard_size, given.to / "releases", given.library)
        _stop_server()
        # The server is a child of this process, and counts once it has ended.
        ended = resource.getrusage(resource.RUSAGE_CHILDREN)
        figures["server_s"] = ended.ru_utime + ended.ru_stime
        (given.to / "figures.json").write_text(json.dumps(figures))
        return
    rows, options = [], ["--shard-size", str(given.shard_size), *(["--library"] if given.library else [])]
    for tasks in given.tasks:
        rows.append(measure_apart(given.source, tasks, options))
        print(json.dumps(rows[-1]), file=sys.stderr, flush=True)
    print(report(rows, given.shard_size))


def _stop_server() -> None:
    from prefect.server.api.server import SubprocessASGIServer

    for server in list(SubprocessASGIServer._instances.values()):
        server.stop()


if __name__ == "__main__":
    main()
