"""How strong the frozen blind ensemble is beside the panel: gold and silver rates, gap closed, seconds.

Designs are first attempts at the slots of a usual build, with a secret of their own; all solvers see a pilot of each.
Medals follow from the ranks of the panel's entries, with and without the weaker variants of the ensemble among them.
Run from the repository root: python -m benchmarks.adversary --designs 40
"""

import argparse
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory

from sandmill.calibrate.adversary import FROZEN, run_adversary
from sandmill.calibrate.board import medal_rows
from sandmill.calibrate.panel import PANEL, TRIVIAL, Panel
from sandmill.design import design_task
from sandmill.draw import draw_pilot
from sandmill.errors import ItemRejected
from sandmill.models.plan import Slot
from sandmill.models.request import BuildRequest
from sandmill.pipeline.band_search import first_hardness
from sandmill.pipeline.plan import plan_build, plan_slots
from sandmill.pipeline.workers import WorkerPool
from sandmill.rng import Streams
from sandmill.score import get_metric
from sandmill.score.gap import gap_closed
from sandmill.seeds import ingest

SECRET = b"adversary bench " * 2
ROWS = 5000
"""Test rows of each pilot."""
VARIANTS = tuple(entry.name for entry in PANEL if entry.name.startswith("bank_"))


@dataclass(frozen=True)
class Measured:
    """One design: gap closed and processor seconds by solver."""

    gaps: Mapping[str, float]
    seconds: Mapping[str, float]

    def bars(self, *, with_variants: bool) -> tuple[float, float]:
        """Gap that gold and silver need, by the rank rule over the panel's entries."""
        left_out = {FROZEN} if with_variants else {FROZEN, *VARIANTS}
        ranked = sorted((gap for name, gap in self.gaps.items() if name not in left_out), reverse=True)
        gold, silver, _ = medal_rows(len(ranked))
        return ranked[gold - 1], ranked[silver - 1]

    @property
    def best(self) -> str:
        """The best entry of the panel without the variants."""
        others = [name for name in self.gaps if name != FROZEN and name not in VARIANTS]
        return max(others, key=self.gaps.__getitem__)


def measure(slot: Slot) -> Measured | str:
    """Solve a pilot of a slot's first design with everything, or say why there is no design."""
    streams = Streams(SECRET, "adversary bench").child(f"slot {slot.number}")
    try:
        spec = design_task(slot, streams, first_hardness(slot.seed.structure, slot.band))
        pilot = draw_pilot(spec, SECRET, 0, ROWS)
    except ItemRejected as error:
        return error.reason
    metric, scores, seconds = get_metric(pilot.facts.metric), {}, {}
    with TemporaryDirectory() as folder:
        for path, content in pilot.files.items():
            (Path(folder) / path).write_bytes(content)
        panel = Panel(Path(folder), pilot.facts)
        for name in (*(entry.name for entry in PANEL), FROZEN):
            started = time.process_time()
            run = run_adversary(panel) if name == FROZEN else panel.run([name])[0]
            seconds[name] = time.process_time() - started
            if run.has_run:
                scores[name] = metric.own_score(pilot.truth, run.prediction)
    oracle = metric.own_score(pilot.truth, pilot.oracle)
    return Measured({name: gap_closed(score, scores[TRIVIAL], oracle) for name, score in scores.items()}, seconds)


def report(measured: Sequence[Measured]) -> None:
    """Print one line for each solver of interest."""
    print("| solver | gold | silver | gold without variants | gap closed | beats the best entry | seconds |")
    print("|---|" + "---:|" * 6)
    for name in (FROZEN, *VARIANTS, "auto_process", "best entry"):
        ran = [(one, one.best if name == "best entry" else name) for one in measured]
        ran = [(one, solver) for one, solver in ran if solver in one.gaps]
        rates = [
            fmean(one.gaps[solver] >= one.bars(with_variants=held)[row] for one, solver in ran)
            for held, row in ((True, 0), (True, 1), (False, 0))
        ]
        gap = fmean(one.gaps[solver] for one, solver in ran)
        beats = fmean(one.gaps[solver] > one.gaps[one.best] for one, solver in ran)
        seconds = fmean(one.seconds[solver] for one, solver in ran)
        cells = " | ".join(f"{rate:.0%}" for rate in rates)
        print(f"| {name} | {cells} | {gap:.3f} | {beats:.0%} | {seconds:.2f} |")
    whole = fmean(sum(second for name, second in one.seconds.items() if name != FROZEN) for one in measured)
    print(f"\n{len(measured)} designs; the panel takes {whole:.2f} s of processor time on one.")


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    from benchmarks.adversary import measure  # by its own name: worker processes cannot import __main__

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--designs", type=int, default=40)
    parser.add_argument("--seed", type=int, default=71)
    parser.add_argument("--workers", type=int, default=2)
    given = parser.parse_args(arguments)
    plan = plan_build(BuildRequest(name="bench", tasks=given.designs, seed=given.seed), ingest(()))
    with WorkerPool(given.workers) as pool:
        results = [result for _, result in pool.map(measure, list(plan_slots(plan)), 300)]
    for error in (result for result in results if isinstance(result, Exception)):
        raise error
    report([result for result in results if not isinstance(result, str | Exception)])


if __name__ == "__main__":
    main()
