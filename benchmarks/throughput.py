"""How many verified tasks a minute a build makes, where the time goes, and what Prefect takes of it.

Run from the repository root: python -m benchmarks.throughput --tasks 40
"""

import argparse
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

import sandmill
from sandmill.models.base import Stage
from sandmill.models.request import BuildRequest, RunSettings

LIBRARY_CALLS = (
    "tasks.building.read_seeds",
    "tasks.building.plan_build",
    "tasks.building.plan_round",
    "tasks.building.build_shard",
    "tasks.publishing.summarize_build",
    "tasks.publishing.publish_release",
)
"""What the Prefect tasks call: time outside all of them, while the flow runs, is Prefect's."""


@dataclass
class Clock:
    """Intervals during which library code ran, from any thread."""

    intervals: list[tuple[float, float]] = field(default_factory=list)

    def around(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Wrap a library call so that its interval is recorded."""

        def timed(*arguments: Any, **named: Any) -> Any:
            started = time.monotonic()
            try:
                return function(*arguments, **named)
            finally:
                self.intervals.append((started, time.monotonic()))

        return timed

    def covered(self) -> float:
        """Seconds in which at least one library call ran."""
        total, end = 0.0, float("-inf")
        for start, stop in sorted(self.intervals):
            total += max(0.0, stop - max(start, end))
            end = max(end, stop)
        return total


def build(
    tasks: int, workers: int, shard_size: int, seed: int, kind: str | None, root: Path
) -> tuple[str, float, float]:
    """Run the flow against a server that is up already; returns release, wall seconds, seconds in library calls."""
    from prefect.testing.utilities import prefect_test_harness

    from flows.build_release import build_release

    clock = Clock()
    request = BuildRequest(name="bench", tasks=tasks, seed=seed, kinds={kind: 1.0} if kind else {})
    settings = RunSettings(root=str(root), workers=workers, shard_size=shard_size, secret_file=_secret(root))
    with prefect_test_harness(server_startup_timeout=120), ExitStack() as stack:
        build_release(request.model_copy(update={"name": "warm", "tasks": 2}), settings)
        for name in LIBRARY_CALLS:
            stack.enter_context(patch(name, clock.around(resolved(name))))
        started = time.monotonic()
        reference = build_release(request, settings)
        return reference, time.monotonic() - started, clock.covered()


def report(reference: str, wall_s: float, library_s: float, workers: int) -> str:
    """Write the figures as Markdown."""
    release = sandmill.load(reference)
    slots = list(release.slot_reports())
    seconds = {stage: sum(slot.seconds.get(stage, 0.0) for slot in slots) for stage in Stage}
    verified, attempts = len(release.tasks), sum(slot.attempts for slot in slots)
    bands = Counter(slot.wanted == slot.reached for slot in slots)
    lines = [
        f"{verified} verified tasks in {wall_s:.0f} s with {workers} workers: "
        f"**{60 * verified / wall_s:.1f} a minute**; Prefect's share {1 - library_s / wall_s:.1%}; "
        f"{attempts / len(slots):.2f} attempts a slot; {bands[True]} of {len(slots)} in the band asked for.",
        "",
        "| stage | seconds of work | a verified task | share |",
        "|---|---:|---:|---:|",
    ]
    total = sum(seconds.values())
    lines += [
        f"| {stage} | {spent:.1f} | {spent / verified:.2f} | {spent / total:.0%} |"
        for stage, spent in seconds.items()
        if spent
    ]
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tasks", type=int, default=40)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--shard-size", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kind", help="make tasks of one kind only, such as table")
    given = parser.parse_args(arguments)
    with TemporaryDirectory(prefix="sandmill-bench-") as root:
        outcome = build(given.tasks, given.workers, given.shard_size, given.seed, given.kind, Path(root))
        print(report(*outcome, given.workers))


def _secret(root: Path) -> Path:
    """A fixed secret, so that two runs do the same work."""
    path = root / "secret.key"
    path.write_text("00" * 32)
    return path


def resolved(name: str) -> Callable[..., Any]:
    """Import what a dotted name stands for."""
    from importlib import import_module

    module, _, attribute = name.rpartition(".")
    function: Callable[..., Any] = getattr(import_module(module), attribute)
    return function


if __name__ == "__main__":
    main()
