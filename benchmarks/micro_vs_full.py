"""How long one and the same solution script runs on a micro task, and on its mechanism at the seed's real size.

Run from the repository root: python -m benchmarks.micro_vs_full --seeds 10 --cap 100000
Data are drawn before the clock starts. Cold is a fresh `python solution.py`; warm is the solving alone, in a process
that has imported its libraries and solved something before.
"""

import argparse
import importlib.util
import math
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import polars as pl

from benchmarks.media_vs_full import script_of, write_items
from sandmill.design import design_task
from sandmill.draw import render
from sandmill.draw.csv_files import feature_frame, row_ids, target_frame
from sandmill.draw.task_facts import task_facts
from sandmill.kinds.files.tables import csv_bytes
from sandmill.mechanism import draw_rows
from sandmill.mechanism.row_numbers import RowNumbers
from sandmill.models.base import Band
from sandmill.models.package import TaskFacts
from sandmill.models.plan import Slot
from sandmill.models.seed import SeedTask
from sandmill.models.spec import TaskSpec
from sandmill.pipeline.workers import ONE_THREAD, WorkerPool
from sandmill.rng import Streams
from sandmill.seeds import ingest

SECRET = bytes(32)
MICRO_ROWS, MICRO_ITEMS = 100, 1000
"""Training rows of a micro task, and test items where these are no rows of a table."""
MOST_ITEMS = 20_000
"""Items of a full-size part, where these are no rows of a table."""
HARDNESS = 0.5
SANDMLE = 13.7
"""Times that SandMLE reports its environments to run faster than the tasks that they were made from."""
TEST_SHARE = 0.25
"""Test rows for each training row, where the seed does not say."""
BLOCK = 100_000
LIMIT_S = 7200

SCRIPT = '''"""Blend a linear model, boosted trees and a forest: python solution.py FOLDER OUT KIND TARGET..."""

import sys
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

warnings.simplefilter("ignore")


def encode(train, test):
    """Numbers as they are, days since the first date, codes and frequencies of categories, few of them one-hot."""
    parts = []
    for name in test.columns:
        column = pd.concat([train[name], test[name]], ignore_index=True)
        if not pd.api.types.is_numeric_dtype(column):
            stripped = pd.to_numeric(column.str.split(" ").str[0], errors="coerce")
            if stripped.notna().sum() > 0.5 * column.notna().sum():
                column = stripped
            elif column.dropna().str.fullmatch(r"\\d{4}-\\d{2}-\\d{2}").all():
                day = pd.to_datetime(column)
                column = (day - day.min()).dt.days
            elif column.nunique() <= 12:
                parts.append(pd.get_dummies(column, prefix=name, dtype=float))
                continue
            else:
                parts.append(column.map(column.value_counts()).rename(name + "_count").astype(float))
                column = pd.Series(pd.factorize(column)[0], dtype=float)
        parts.append(column.astype(float).rename(name))
    table = pd.concat(parts, axis=1).to_numpy(dtype=np.float64)
    return table[: len(train)], table[len(train) :]


def blend(x, y, x_test, is_class):
    """Average of three models: class probabilities, or numbers."""
    if is_class:
        models = [LogisticRegression(max_iter=200), HistGradientBoostingClassifier(random_state=0)]
        models.append(RandomForestClassifier(100, min_samples_leaf=5, random_state=0))
    else:
        models = [Ridge(), HistGradientBoostingRegressor(random_state=0)]
        models.append(RandomForestRegressor(100, min_samples_leaf=5, random_state=0))
    models[0] = make_pipeline(SimpleImputer(), StandardScaler(), models[0])
    models[2] = make_pipeline(SimpleImputer(), models[2])
    fitted = [model.fit(x, y) for model in models]
    return np.mean([model.predict_proba(x_test) if is_class else model.predict(x_test) for model in fitted], axis=0)


def solve(folder, out, kind, targets):
    """Read, encode, fit, predict, write. The kind is class, labels (sets in one column) or number."""
    train, test = pd.read_csv(Path(folder) / "train.csv"), pd.read_csv(Path(folder) / "test.csv")
    x, x_test = encode(train[test.columns.drop("id")], test.drop(columns="id"))
    answers = train[targets]
    if kind == "labels":
        answers = answers[targets[0]].str.get_dummies(" ")
    written = {"id": test["id"]}
    for name in answers:
        y = answers[name].to_numpy()
        if len(np.unique(y)) < 2:
            written[name] = np.full(len(test), y[0])
            continue
        guess = blend(x, y, x_test, kind != "number")
        if guess.ndim == 1:
            written[name] = guess
        else:
            written.update({f"{name} {label}": guess[:, i] for i, label in enumerate(np.unique(y))})
    pd.DataFrame(written).to_csv(out, index=False)


if __name__ == "__main__":
    solve(sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4:])
'''


@dataclass(frozen=True)
class Job:
    """One folder of data with what the script is told of it."""

    script: Path
    folder: Path
    kind: str
    targets: tuple[str, ...]


@dataclass(frozen=True)
class Timing:
    """Seconds on one seed."""

    seed: SeedTask
    rows: tuple[int, int]
    """Training and test rows at full size, after the cap."""
    micro_cold: float
    full_cold: float
    micro_warm: float
    full_warm: float


def solve_warm(job: Job) -> float:
    """Solve in a worker process and time it without imports."""
    solve = _load(job.script)
    started = time.perf_counter()
    solve(job.folder, job.folder / "warm.csv", job.kind, list(job.targets))
    return time.perf_counter() - started


def solve_cold(job: Job) -> float:
    """Solve in a fresh interpreter and time all of it."""
    command = [sys.executable, *map(str, (job.script, job.folder, job.folder / "cold.csv", job.kind, *job.targets))]
    started = time.perf_counter()
    subprocess.run(command, check=True, env={**os.environ, **ONE_THREAD}, timeout=LIMIT_S)
    return time.perf_counter() - started


@cache
def _load(script: Path) -> Callable[..., None]:
    found = importlib.util.spec_from_file_location("solution", script)
    if found is None or found.loader is None:
        raise ValueError(f"{script} is not a script")
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    solve: Callable[..., None] = module.solve
    return solve


def design(seed: SeedTask) -> TaskSpec:
    """A design of the seed with 100 training rows."""
    slot = Slot(number=0, seed=seed, band=Band.MEDIUM)
    spec = design_task(slot, Streams(SECRET, f"micro and full {seed.id}"), HARDNESS)
    return spec.model_copy(update={"sizes": spec.sizes.model_copy(update={"train": MICRO_ROWS})})


def full_rows(seed: SeedTask, cap: int) -> tuple[int, int]:
    """Training and test rows of the seed itself, at most `cap` of each."""
    train = seed.structure.rows_train or 0
    return min(train, cap), min(seed.structure.rows_test or round(TEST_SHARE * train), cap)


def write_micro(spec: TaskSpec, folder: Path) -> None:
    """Files of the task as a release would have them."""
    folder.mkdir()
    for path, content in render(spec, SECRET).package.public.items():
        (folder / path).write_bytes(content)


def write_full(spec: TaskSpec, facts: TaskFacts, rows: tuple[int, int], folder: Path) -> None:
    """Files of the same form with as many rows as the seed has, drawn from the same mechanism in blocks."""
    folder.mkdir()
    for name, count in zip(("train", "test"), rows, strict=True):
        with (folder / f"{name}.csv").open("wb") as file:
            for frame in _blocks(spec, facts, name, count):
                written = csv_bytes(frame)
                file.write(written if file.tell() == 0 else written.partition(b"\n")[2])


def _blocks(spec: TaskSpec, facts: TaskFacts, part: str, count: int) -> Iterator[pl.DataFrame]:
    streams = Streams(SECRET, spec.fingerprint).child(f"full {part}")
    for start in range(0, count, BLOCK):
        rows = range(start, min(start + BLOCK, count))
        draw = draw_rows(spec.mechanism, streams, rows, is_train=part == "train")
        frames = [
            pl.DataFrame({facts.id_column: row_ids(streams, part, rows)}),
            feature_frame(spec.mechanism, draw.observed, RowNumbers(streams, draw.numbers)),
            *([target_frame(facts, draw.target)] if part == "train" else []),
        ]
        yield pl.concat(frames, how="horizontal")


def compare(seed: SeedTask, cap: int, repeats: int, script: Path, pool: WorkerPool) -> Timing:
    """Time the script on both sizes, in turns, so that a busy machine slows both."""
    from benchmarks import micro_vs_full  # by its own name: worker processes cannot import __main__

    spec = design(seed)
    facts = task_facts(spec)
    kind = "labels" if facts.encoding == "label_list" else "class" if facts.classes else "number"
    is_table = spec.channel is None
    rows = full_rows(seed, cap if is_table else min(cap, MOST_ITEMS))
    with TemporaryDirectory(prefix="sandmill-bench-") as name:
        micro, full = Path(name) / "micro", Path(name) / "full"
        if is_table:
            write_micro(spec, micro)
            write_full(spec, facts, rows, full)
        else:
            script = Path(name) / "solution.py"
            write_items(spec, facts, (MICRO_ROWS, MICRO_ITEMS), micro)
            write_items(spec, facts, rows, full)
            script.write_text(script_of(facts, micro))
        jobs = {folder: micro_vs_full.Job(script, folder, kind, facts.target_columns) for folder in (micro, full)}

        def warm(folder: Path) -> float:
            if not is_table:
                return math.nan
            outcome: Any = next(pool.map(micro_vs_full.solve_warm, [jobs[folder]], LIMIT_S))[1]
            if isinstance(outcome, Exception):
                raise outcome
            return float(outcome)

        warm(micro)
        cold_s: dict[Path, list[float]] = {micro: [], full: []}
        warm_s: dict[Path, list[float]] = {micro: [], full: []}
        for turn in range(repeats):
            for folder in (micro, full, micro) if turn == 0 else (full, micro):
                cold_s[folder].append(solve_cold(jobs[folder]))
                warm_s[folder].append(warm(folder))
    return Timing(seed, rows, *(median(seconds[folder]) for seconds in (cold_s, warm_s) for folder in (micro, full)))


def choose(seeds: Sequence[SeedTask], wanted: Sequence[str]) -> list[SeedTask]:
    """Seeds by id, or so many of them spread evenly over their sizes."""
    known = sorted((seed for seed in seeds if seed.structure.rows_train), key=lambda seed: full_rows(seed, 2**62))
    if len(wanted) == 1 and wanted[0].isdigit():
        return [known[place] for place in np.linspace(0, len(known) - 1, int(wanted[0])).round().astype(int)]
    by_id = {seed.id: seed for seed in known}
    if missing := sorted(set(wanted) - set(by_id)):
        raise SystemExit(f"not among the supported seeds with known row counts: {', '.join(missing)}")
    return [by_id[name] for name in wanted] if wanted else known


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", nargs="*", default=[], metavar="N or ID", help="how many, or which; default: all")
    parser.add_argument("--cap", type=int, default=1_000_000, help="most rows of a full-size part")
    parser.add_argument("--repeats", type=int, default=1, help="turns of both sizes; medians are printed")
    given = parser.parse_args(arguments)
    print("| seed | target | rows | micro cold s | full cold s | ratio | micro warm s | full warm s | ratio |")
    print("|---|---|---:|---:|---:|---:|---:|---:|---:|")
    cold, warm = [], []
    with TemporaryDirectory(prefix="sandmill-bench-") as name, WorkerPool(1) as pool:
        script = Path(name) / "solution.py"
        script.write_text(SCRIPT)
        for seed in choose(ingest(()).supported, given.seeds):
            print(f"{seed.id}", file=sys.stderr)
            timing = compare(seed, given.cap, given.repeats, script, pool)
            cold.append(timing.full_cold / timing.micro_cold)
            if not math.isnan(timing.full_warm):
                warm.append(timing.full_warm / timing.micro_warm)
            print(
                f"| {seed.id} | {seed.structure.target} | {timing.rows[0]} + {timing.rows[1]} "
                f"| {timing.micro_cold:.2f} | {timing.full_cold:.2f} | {cold[-1]:.1f} "
                f"| {timing.micro_warm:.2f} | {timing.full_warm:.2f} | {timing.full_warm / timing.micro_warm:.1f} |",
                flush=True,
            )
    print(
        f"\nMedian ratio full / micro over {len(cold)} seeds, at most {given.cap} rows a part: "
        f"**{median(cold):.1f}** cold, **{median(warm or [math.nan]):.1f}** warm (tables); SandMLE reports {SANDMLE}."
    )


if __name__ == "__main__":
    main()
