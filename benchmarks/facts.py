"""Whether credit for stated facts tells readers from blind models, by kind of fact, on tables without calibration.

Readers see the stated quantities as columns. Blind models are those whose predictions are not held against the facts.
Run from the repository root: python -m benchmarks.facts --tasks 60

Of a published release, what reader.py wins on the published and on fresh draws of each table, the cost of a fresh draw
by kind, and the files that stay: python -m benchmarks.facts --release releases/micro --draws 20
"""

import argparse
import gc
import io
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import count, islice
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir

import numpy as np
import pandas as pd

from benchmarks.first_tries import SECRET
from sandmill.calibrate.fact_arrays import fact_arrays
from sandmill.calibrate.panel import Panel
from sandmill.calibrate.readers import read_table, run_readers, stated_facts
from sandmill.design import design_task
from sandmill.draw import render
from sandmill.errors import ItemRejected, SandmillError
from sandmill.models.calibration import RUNG_FILES, Rung
from sandmill.models.request import BuildRequest
from sandmill.models.spec import Sizes, TaskSpec
from sandmill.pipeline.band_search import first_hardness
from sandmill.pipeline.plan import plan_build, plan_slots
from sandmill.play.release import Release, load
from sandmill.rng import Streams
from sandmill.scoring.base import Array
from sandmill.scoring.medals import medal_of
from sandmill.seeds import ingest
from sandmill.store.files import cache_folder

PREFIX = "sandmill-fresh-"
"""Of the temporary folders of fresh draws."""
BLIND = ("linear", "random_forest", "blend_usual")
READERS = ("reader_linear", "reader_search")
CHANCE = ("sample", "shuffled", "scaled", "noise")
"""`scaled` is the raw column that goes best with the oracle, stretched and shifted; `sample` is a constant."""
NAMES = ("oracle", *READERS, *BLIND, *CHANCE)

Credits = Mapping[str, Mapping[str, list[float]]]
"""Credits by kind of fact and by predictions."""


def hinted_designs(tasks: int, seed: int) -> Iterator[TaskSpec]:
    """Design tables whose rule uses stated facts, with small tests."""
    request = BuildRequest(name="bench", tasks=20 * tasks, seed=seed, kinds={"table": 1.0})
    found = 0
    for slot in plan_slots(plan_build(request, ingest(()))):
        if found == tasks:
            return
        try:
            streams = Streams(SECRET, f"facts {slot.number}")
            spec = design_task(slot, streams, first_hardness(slot.seed.structure, slot.band))
        except ItemRejected:
            continue
        if any(hint.matters for hint in spec.hints):
            found += 1
            sizes = Sizes(train=spec.sizes.train, feedback=300, final=1200)
            yield spec.model_copy(update={"sizes": sizes})


def credits_of(spec: TaskSpec) -> Iterator[tuple[str, str, float | None]]:
    """Yield the kind of each fact, whose predictions these are, and the credit; None if it cannot be measured."""
    made, rng = render(spec, SECRET), np.random.default_rng(0)
    package = made.package
    with TemporaryDirectory() as name:
        folder = Path(name)
        for path, content in package.public.items():
            (folder / path).write_bytes(content)
        arrays = fact_arrays(folder, package.facts, spec, made.test_draw.observed, made.oracle)
        if arrays is None:
            return
        panel, best = Panel(folder, package.facts), arrays.oracle
        table = read_table(panel, folder, stated_facts(spec, package.public))
        runs = [*panel.run(BLIND), *run_readers(panel, table, READERS)]
    said: dict[str, Array] = {run.name: run.prediction for run in runs if run.has_run}
    said |= {"oracle": best, "shuffled": rng.permutation(best), "noise": rng.normal(size=best.shape)}
    said |= {"sample": np.zeros(best.shape), "scaled": scaled_column(package.public["test.csv"], best)}
    meter = arrays.meter()
    for predictions, numbers in said.items():
        for fact, one in zip(arrays.names, meter.measure(np.asarray(numbers, dtype=float)), strict=True):
            yield fact.partition(":")[0], predictions, one.value if one else None


def scaled_column(test: bytes, oracle: Array) -> Array:
    """Return three times a number column of the test file plus 7, in the shape of the oracle.

    It is the column whose correlation with the first output of the oracle is largest.
    """
    numbers = pd.read_csv(io.BytesIO(test)).select_dtypes("number")
    numbers = numbers.fillna(numbers.median()).loc[:, lambda cells: cells.std() > 0]
    first = oracle.reshape(len(oracle), -1)[:, 0]
    best = max(numbers, key=lambda name: abs(np.corrcoef(numbers[name], first)[0, 1]))
    scaled = 3 * numbers[best].to_numpy(dtype=float) + 7
    return np.broadcast_to(scaled.reshape(-1, *[1] * (oracle.ndim - 1)), oracle.shape).copy()


def report(credits: Credits, lost: Mapping[str, int]) -> Iterator[str]:
    """Write medians by kind of fact, and over all facts the shares above two limits."""
    yield f"| fact | measured | not measured | {' | '.join(NAMES)} |"
    yield f"|---|---:|---:|{'---:|' * len(NAMES)}"
    for kind in sorted(credits.keys() | lost.keys()):
        found = credits.get(kind, {})
        cells = [f"{np.median(found[name]):.2f}" if found.get(name) else "" for name in NAMES]
        yield f"| {kind} | {len(found.get('oracle', ()))} | {lost.get(kind, 0)} | {' | '.join(cells)} |"
    pooled = {name: [value for found in credits.values() for value in found.get(name, ())] for name in NAMES}
    medians = {name: f"{np.median(values):.2f}" if values else "" for name, values in pooled.items()}
    yield f"| median | | | {' | '.join(medians.values())} |"
    for title, low in ((".8 or more", 0.8), ("above .05", 0.050001)):
        shares = [f"{np.mean(np.array(pooled[name]) >= low):.0%}" if pooled[name] else "" for name in NAMES]
        yield f"| {title} | | | {' | '.join(shares)} |"


def report_release(ref: str, draws: int, opened: int, tables: int) -> Iterator[str]:
    """Write the medals of the readers' scripts, the seconds that fresh draws take, and the files that stay.

    Args:
        ref: a release.
        draws: fresh draws of each table that its script runs on.
        opened: fresh draws that are opened for their times, of all tasks in turn.
        tables: tables whose scripts run, at most.
    """
    release = load(ref)
    before = _files()
    yield from _readers_report(release, draws, tables)
    yield from _seconds_report(release, opened)
    gc.collect()
    yield f"files left in temporary folders and in the cache: {len(_files() - before)}"


def _readers_report(release: Release, draws: int, tables: int) -> Iterator[str]:
    yield f"| task | metric | published | gold of {draws} fresh draws | silver or better | no submission |"
    yield "|---|---|---|---:|---:|---:|"
    published, pooled, shown = Counter[str](), Counter[str](), 0
    for task_id in release.task_ids:
        record = release.record(task_id)
        script = release.files("private", task_id).get(RUNG_FILES[Rung.READER], b"").decode()
        if not script or record.calibration.reading_gain is None or shown == tables:
            continue
        measured, shown = record.calibration, shown + 1
        final = next(one.final for one in measured.scripts if one.rung is Rung.READER)
        medal = str(medal_of(final, measured.thresholds, measured.is_lower_better))
        published[medal] += 1
        won: Counter[str] = Counter()
        for group in range(draws):
            fresh = release.task(task_id).fresh(group)
            grade = fresh.grade(fresh.run(script, timeout=60))
            won[str(grade.medal) if grade.score is not None else "invalid"] += 1
        pooled += won
        yield f"| {task_id} | {record.facts.metric} | {medal} | {_shares(won, draws)} |"
    number = max(1, pooled.total())
    yield f"| {shown} tables | | gold {published['gold'] / max(1, shown):.0%} | {_shares(pooled, number)} |"


def _shares(won: Mapping[str, int], number: int) -> str:
    shares = (won["gold"], won["gold"] + won["silver"], won["invalid"])
    return " | ".join(f"{share / number:.0%}" for share in shares)


def _seconds_report(release: Release, opened: int) -> Iterator[str]:
    seconds: defaultdict[str, list[float]] = defaultdict(list)
    refused: dict[str, str] = {}
    for task_id, group in islice(_turns(release.task_ids), opened):
        kind = release.record(task_id).facts.kind
        started = time.process_time()
        try:
            release.task(task_id).fresh(group).public  # noqa: B018
        except SandmillError as error:
            refused[kind] = str(error).splitlines()[0]
        else:
            seconds[kind].append(time.process_time() - started)
    yield "\n| kind | fresh draws opened | processor s, p50 | p95 |\n|---|---:|---:|---:|"
    for kind, values in sorted(seconds.items()):
        low, high = np.quantile(values, [0.5, 0.95])
        yield f"| {kind} | {len(values)} | {low:.2f} | {high:.2f} |"
    yield from (f"| {kind} | refused: {why} | | |" for kind, why in sorted(refused.items()))


def _turns(task_ids: Sequence[str]) -> Iterator[tuple[str, int]]:
    return ((task_id, group) for group in count(1000) for task_id in task_ids)


def _files() -> set[Path]:
    """Return files of fresh draws and of the cache of releases."""
    places = [*Path(gettempdir()).glob(f"{PREFIX}*"), cache_folder()]
    return {path for place in places for path in (place, *place.rglob("*"))}


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tasks", type=int, default=60, help="tables whose rule uses stated facts")
    parser.add_argument("--seed", type=int, default=77)
    parser.add_argument("--release", help="measure reader.py and fresh draws of a published release; nothing is built")
    parser.add_argument("--draws", type=int, default=20, help="fresh draws of each table that reader.py runs on")
    parser.add_argument("--opened", type=int, default=1000, help="fresh draws that are opened")
    parser.add_argument("--tables", type=int, default=10, help="tables whose reader.py runs on fresh draws")
    given = parser.parse_args(arguments)
    if given.release:
        for line in report_release(given.release, given.draws, given.opened, given.tables):
            print(line, flush=True)
        return
    credits: defaultdict[str, defaultdict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    lost: defaultdict[str, int] = defaultdict(int)
    for spec in hinted_designs(given.tasks, given.seed):
        for kind, predictions, value in credits_of(spec):
            if value is not None:
                credits[kind][predictions].append(value)
            elif predictions == "oracle":
                lost[kind] += 1
    print("\n".join(report(credits, lost)))


if __name__ == "__main__":
    main()
