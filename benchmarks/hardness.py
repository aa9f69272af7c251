"""How difficult the grammar's designs turn out along the hardness knob, for each target and metric.

Run from the repository root: python -m benchmarks.hardness --slots 20
The medians are what `sandmill.pipeline.band_search` starts its search from. Designs for the easy band state nothing in
their texts, and those for other bands do, so that the two are measured apart: --band easy.
"""

import argparse
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from sandmill.calibrate.readers import Stated
from sandmill.calibrate.solver_runs import SolverRuns
from sandmill.calibrate.stage import probe_difficulty, probe_entries
from sandmill.design import design_task
from sandmill.draw import draw_pilot
from sandmill.models.base import Band
from sandmill.models.plan import Slot
from sandmill.models.seed import SeedTask
from sandmill.models.structure import MetricName, TargetKind
from sandmill.pipeline.workers import WorkerPool
from sandmill.rng import Streams
from sandmill.scoring.support import ANSWER_FORMS
from sandmill.seeds import ingest

HARDNESS = (0.0, 0.25, 0.5, 0.75, 1.0)


def measure(piece: tuple[SeedTask, int, float, Band]) -> float:
    """Difficulty of one design from the competent tier, without a calibration, as the band search sees it first."""
    seed, number, hardness, band = piece
    slot = Slot(number=number, seed=seed, band=band)
    name = f"{seed.structure.target} {seed.structure.metric} {number}"
    streams = Streams(bytes(32), "hardness").child(name)
    pilot = draw_pilot(design_task(slot, streams, hardness), bytes(32))
    with TemporaryDirectory(prefix="sandmill-panel-") as folder:
        runs = SolverRuns(Path(folder), pilot.files, pilot.facts, Stated(()))
        return probe_difficulty(pilot, runs.run(probe_entries(pilot.facts.kind))).value


def seeds() -> list[list[SeedTask]]:
    """The bundled seeds of every target and metric; where there are none, those of the target with another's metric."""
    bundled = ingest(()).supported
    return [_with_metric(bundled, target, metric) for target, metric in ANSWER_FORMS]


def _with_metric(bundled: Sequence[SeedTask], target: TargetKind, metric: MetricName) -> list[SeedTask]:
    of_target = [seed for seed in bundled if seed.structure.target is target]
    fitting = [seed for seed in of_target if seed.structure.metric is metric] or of_target
    changed = [seed.structure.model_copy(update={"metric": metric}) for seed in fitting]
    return [seed.model_copy(update={"structure": structure}) for seed, structure in zip(fitting, changed, strict=True)]


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    from benchmarks.hardness import measure  # by its own name: worker processes cannot import __main__

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--slots", type=int, default=20, help="designs for each target, metric and hardness")
    parser.add_argument("--band", type=Band, choices=list(Band), default=Band.MEDIUM, help="that designs are meant for")
    parser.add_argument("--workers", type=int, default=2)
    given = parser.parse_args(arguments)
    pieces = [
        (alike[slot % len(alike)], slot, hardness, given.band)
        for alike in seeds()
        for slot in range(given.slots)
        for hardness in HARDNESS
    ]
    found: dict[tuple[str, float], list[float]] = defaultdict(list)
    with WorkerPool(given.workers) as pool:
        for index, result in pool.map(measure, pieces, 300):
            seed, _, hardness, _ = pieces[index]
            if isinstance(result, Exception):
                raise result
            found[f"{seed.structure.target} {seed.structure.metric}", hardness].append(result)
    print("| target, metric | " + " | ".join(f"hardness {hardness:g}" for hardness in HARDNESS) + " |")
    print("|---" * (len(HARDNESS) + 1) + "|")
    for name in dict.fromkeys(name for name, _ in found):
        cells = [found[name, hardness] for hardness in HARDNESS]
        print(f"| {name} | " + " | ".join(f"{median(c):.2f} ({min(c):.2f}-{max(c):.2f})" for c in cells) + " |")


if __name__ == "__main__":
    main()
