"""Whether credit for stated facts tells readers from blind models, by kind of fact, on tables without calibration.

Readers see the stated quantities as columns. Blind models are those whose predictions are not held against the facts.
Run from the repository root: python -m benchmarks.facts --tasks 60
"""

import argparse
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from benchmarks.first_tries import SECRET
from sandmill.calibrate.fact_arrays import fact_arrays
from sandmill.calibrate.panel import Panel
from sandmill.calibrate.readers import read_table, run_readers, stated_facts
from sandmill.design import design_task
from sandmill.draw import render
from sandmill.errors import ItemRejected
from sandmill.models.request import BuildRequest
from sandmill.models.spec import Sizes, TaskSpec
from sandmill.pipeline.band_search import first_hardness
from sandmill.pipeline.plan import plan_build, plan_slots
from sandmill.rng import Streams
from sandmill.scoring.base import Array
from sandmill.seeds import ingest

BLIND = ("linear", "random_forest", "blend_usual")
READERS = ("reader_linear", "reader_search")
CHANCE = ("shuffled", "noise", "constant")
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
    said["constant"] = np.zeros(best.shape)
    meter = arrays.meter()
    for predictions, numbers in said.items():
        for fact, one in zip(arrays.names, meter.measure(np.asarray(numbers, dtype=float)), strict=True):
            yield fact.partition(":")[0], predictions, one.value if one else None


def report(credits: Credits, lost: Mapping[str, int]) -> Iterator[str]:
    """Write medians by kind of fact, and over all facts the shares above two limits."""
    yield f"| fact | measured | not measured | {' | '.join(NAMES)} |"
    yield f"|---|---:|---:|{'---:|' * len(NAMES)}"
    for kind in sorted(credits.keys() | lost.keys()):
        found = credits.get(kind, {})
        cells = [f"{np.median(found[name]):.2f}" if found.get(name) else "" for name in NAMES]
        yield f"| {kind} | {len(found.get('oracle', ()))} | {lost.get(kind, 0)} | {' | '.join(cells)} |"
    pooled = {name: [value for found in credits.values() for value in found.get(name, ())] for name in NAMES}
    for title, low in ((".8 or more", 0.8), ("above .05", 0.050001)):
        shares = [f"{np.mean(np.array(pooled[name]) >= low):.0%}" if pooled[name] else "" for name in NAMES]
        yield f"| {title} | | | {' | '.join(shares)} |"


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tasks", type=int, default=60, help="tables whose rule uses stated facts")
    parser.add_argument("--seed", type=int, default=77)
    given = parser.parse_args(arguments)
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
