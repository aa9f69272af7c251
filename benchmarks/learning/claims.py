"""What the commands for the papers' claims share: arguments, arms that can be resumed, tables and charts.

Each arm and seed has a folder of its own under `--to`. A command that was interrupted reads finished ones and runs the
rest. Rows of all arms are in `results.parquet`, curves in `curves.parquet`, and the tables in `README.md`.
"""

import argparse
import json
import os
import sys
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from sandmill.errors import InputError, Problem, SandmillError
from sandmill.learning.results import Scored, merge, read_results, write_atomically, write_results
from sandmill.learning.statistics import ConfidenceInterval, Value, gap, mean_of, relative_gain

if TYPE_CHECKING:
    from sandmill.learning.policy import MicroPolicy

Point = dict[str, float]
"""Figures of one update, by name."""

SETTINGS_FILE = "settings.json"


@dataclass(frozen=True)
class ClaimRequest:
    """Arguments of one command."""

    name: str
    release: str
    seeds: int
    updates: int
    to: Path
    cache: Path
    tasks: int
    """Training tasks at most."""
    held_out: int
    """Held-out tasks at most."""
    is_smoke: bool
    arms: tuple[str, ...] = ()
    """Only these arms; empty for all."""
    real: Path | None = None
    """Folder of real tables in the layout of pulled tasks."""


@dataclass(frozen=True)
class ArmResult:
    """What one arm gives for one seed."""

    rows: list[Scored]
    curve: list[Point]


@dataclass(frozen=True)
class Trained:
    """A policy with its curve."""

    policy: "MicroPolicy"
    curve: list[Point]


Arm = Callable[[int], ArmResult]
"""Trains and scores one arm for a seed."""


def parse(
    name: str, doc: str | None, arguments: Sequence[str] | None, *, updates: int, tasks: int = 32
) -> ClaimRequest:
    """Read the arguments of a command."""
    parser = argparse.ArgumentParser(
        f"python -m benchmarks.learning.{name}", description=doc, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--release", default="releases/tables", help="reference of the release to train on")
    parser.add_argument(
        "--real",
        type=Path,
        help="folder that benchmarks.learning.real_tables wrote; without it, held-out tasks of the release",
    )
    parser.add_argument("--seeds", type=int, default=3, help="training seeds of each arm (default: %(default)s)")
    parser.add_argument("--updates", type=int, default=updates, help="updates of each training (default: %(default)s)")
    parser.add_argument("--tasks", type=int, default=tasks, help="training tasks at most (default: %(default)s)")
    parser.add_argument("--held-out", type=int, default=40, help="held-out tasks at most (default: %(default)s)")
    parser.add_argument("--to", type=Path, default=Path("benchmarks/learning/out") / name, help="folder of the results")
    parser.add_argument("--cache", type=Path, help="folder of executions (default: that of the library)")
    parser.add_argument("--arms", nargs="+", default=(), metavar="NAME", help="only these arms")
    parser.add_argument("--smoke", action="store_true", help="one seed, few updates: shows that the command works")
    args = parser.parse_args(arguments)
    numbers = {"--seeds": args.seeds, "--updates": args.updates, "--tasks": args.tasks, "--held-out": args.held_out}
    if problems := [Problem(flag, str(n), "a whole number from 1 up") for flag, n in numbers.items() if n < 1]:
        raise InputError(name, problems, "Nothing was run.")
    request = ClaimRequest(
        name=name,
        release=args.release,
        seeds=args.seeds,
        updates=args.updates,
        to=args.to,
        cache=args.cache or default_folder(),
        tasks=args.tasks,
        held_out=args.held_out,
        is_smoke=args.smoke,
        arms=tuple(args.arms),
        real=args.real,
    )
    return smoke(request) if args.smoke else request


def run(main: Callable[[], None]) -> None:
    """Run a command. Bad input ends it with one message and exit code 2."""
    # Bars and warnings of transformers would hide the progress of the arms.
    os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")
    warnings.filterwarnings("ignore", category=FutureWarning, module="transformers")
    try:
        main()
    except SandmillError as error:
        print(error, file=sys.stderr)
        sys.exit(2)


def default_folder() -> Path:
    """Return the folder in which the library keeps executions."""
    from sandmill.learning.task_sets import default_cache

    return default_cache(None)


def smoke(request: ClaimRequest) -> ClaimRequest:
    """Return the request with sizes that end within a minute or two."""
    return replace(request, seeds=1, updates=1, tasks=3, held_out=3, to=request.to / "smoke")


def run_arms(request: ClaimRequest, arms: Mapping[str, Arm]) -> dict[str, dict[int, ArmResult]]:
    """Run all arms for all seeds, except those whose results exist already.

    Seeds are the outer loop, so that an interrupted command has whole seeds to compare.

    Raises:
        InputError: an arm is unknown, or the folder has results of other arguments.
    """
    chosen = _choose(request, arms)
    _check_settings(request)
    found: dict[str, dict[int, ArmResult]] = {name: {} for name in chosen}
    for seed in range(request.seeds):
        for name, arm in chosen.items():
            folder = request.to / "arms" / name / str(seed)
            if (result := _read(folder)) is None:
                start = time.monotonic()
                result = arm(seed)
                _write(folder, result)
                print(f"{name}, seed {seed}: {time.monotonic() - start:.0f} s", file=sys.stderr, flush=True)
            found[name][seed] = result
    return found


def rows_of(found: Mapping[str, Mapping[int, ArmResult]]) -> dict[str, list[Scored]]:
    """Return the rows of each arm over all seeds."""
    return {name: merge(*(result.rows for result in seeds.values())) for name, seeds in found.items()}


def over_seeds(values: Sequence[float]) -> str:
    """Return the mean over seeds. Two or more seeds also give a 95 % interval by Student's t."""
    from scipy.stats import t

    mean = sum(values) / len(values)
    if len(values) < 2:
        return f"{mean:.3f}"
    error = (sum((value - mean) ** 2 for value in values) / (len(values) - 1) / len(values)) ** 0.5
    half = float(t.ppf(0.975, len(values) - 1)) * error
    return f"{mean:.3f} [{mean - half:.3f}, {mean + half:.3f}]"


def tail_mean(result: ArmResult, figure: str, share: float = 0.25) -> float:
    """Return the mean of a figure over the last updates of a curve."""
    values = [point[figure] for point in result.curve]
    last = values[-max(1, round(share * len(values))) :]
    return sum(last) / len(last) if last else float("nan")


def markdown(header: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Return a table; all columns but the first are aligned to the right."""
    lines = ["| " + " | ".join(header) + " |", "|---|" + "---:|" * (len(header) - 1)]
    return "\n".join([*lines, *("| " + " | ".join(map(str, row)) + " |" for row in rows)])


def percent(interval: ConfidenceInterval) -> str:
    """Return an interval in per cent."""
    ends = f"{100 * interval.low:+.1f}, {100 * interval.high:+.1f}"
    return f"{100 * interval.estimate:+.1f} % [{ends}]"


def gain(arm: Sequence[Scored], other: Sequence[Scored], value: Value = gap) -> str:
    """Return the relative gain of an arm with its interval; a dash if the other arm's mean is not above 0."""
    return percent(relative_gain(arm, other, value)) if mean_of(other, value) > 0 else "-"


def number(interval: ConfidenceInterval) -> str:
    """Return an interval of a mean, without sign."""
    return f"{interval.estimate:.3f} [{interval.low:.3f}, {interval.high:.3f}]"


def publish(
    request: ClaimRequest,
    found: Mapping[str, Mapping[int, ArmResult]],
    text: str,
    charts: Mapping[str, str],
) -> None:
    """Print the tables, and write them with all rows, curves and charts."""
    if request.is_smoke:
        text = f"{text}\n\nThis is a smoke run: its figures say only that the command works."
    write_results(request.to / "results.parquet", merge(*rows_of(found).values()))
    points = [
        {"arm": name, "seed": seed, **point}
        for name, seeds in found.items()
        for seed, result in seeds.items()
        for point in result.curve
    ]
    if points:
        pl.DataFrame(points, infer_schema_length=None).write_parquet(request.to / "curves.parquet")
    for name, chart in charts.items():
        write_atomically(request.to / f"{name}.svg", chart)
    write_atomically(request.to / "README.md", text + "\n")
    print(text)


def _choose(request: ClaimRequest, arms: Mapping[str, Arm]) -> dict[str, Arm]:
    unknown = [name for name in request.arms if name not in arms]
    if unknown:
        raise InputError(request.name, [Problem("--arms", ", ".join(unknown), ", ".join(arms))], "Nothing was run.")
    return {name: arm for name, arm in arms.items() if not request.arms or name in request.arms}


def _check_settings(request: ClaimRequest) -> None:
    """Refuse a folder whose results have other settings. More seeds and other arms may be added."""
    settings = {
        "release": request.release,
        "real": None if request.real is None else str(request.real),
        "updates": request.updates,
        "tasks": request.tasks,
        "held_out": request.held_out,
    }
    path = request.to / SETTINGS_FILE
    if not path.exists():
        write_atomically(path, json.dumps(settings, indent=1) + "\n")
        return
    stored = json.loads(path.read_text(encoding="utf-8"))
    differing = [name for name, value in settings.items() if stored.get(name) != value]
    if differing:
        hint = "Choose another folder with --to."
        problems = [Problem(name, str(settings[name]), f"{stored.get(name)}, as stored", hint) for name in differing]
        raise InputError(str(path), problems, "Nothing was run.")


def _read(folder: Path) -> ArmResult | None:
    """Return a stored result; None unless it is complete. The curve is written last."""
    curve = folder / "curve.json"
    if not curve.exists():
        return None
    return ArmResult(read_results(folder / "results.parquet"), json.loads(curve.read_text(encoding="utf-8")))


def _write(folder: Path, result: ArmResult) -> None:
    write_results(folder / "results.parquet", result.rows)
    write_atomically(folder / "curve.json", json.dumps(result.curve) + "\n")
