"""What it is worth to know which columns plausibly matter: a tuned linear model that shrinks these columns less.

The weight of the columns is chosen by leave-one-out error on the training rows, 1 among them. As a control, as many
other columns are named.
Run from the repository root: python -m benchmarks.prior_worth --tasks 60
"""

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from benchmarks.first_tries import SECRET
from benchmarks.names import plausible
from sandmill.calibrate.panel import TRIVIAL, Panel
from sandmill.calibrate.readers import run_readers
from sandmill.calibrate.training_draws import PilotScale
from sandmill.design import design_task
from sandmill.draw import draw_pilot
from sandmill.errors import DegenerateTask
from sandmill.models.plan import Slot
from sandmill.models.request import BuildRequest
from sandmill.pipeline.band_search import first_hardness
from sandmill.pipeline.plan import plan_build, plan_slots
from sandmill.pipeline.workers import WorkerPool
from sandmill.rng import Streams
from sandmill.seeds import ingest

SCRIPT = ("reader_linear",)


def measure(slot: Slot) -> tuple[float, float, float] | None:
    """Gap closed by the linear model alone, with the plausible columns named, and with others; None without a prior."""
    streams = Streams(SECRET, "prior").child(f"slot {slot.number}")
    spec = design_task(slot, streams, first_hardness(slot.seed.structure, slot.band))
    marks, is_known = plausible([spec])
    if not is_known.any():
        return None
    names = [column.name for column in spec.mechanism.columns]
    pilot = draw_pilot(spec, SECRET)
    with TemporaryDirectory(prefix="sandmill-prior-") as folder:
        for path, content in pilot.files.items():
            (Path(folder) / path).write_bytes(content)
        panel = Panel(Path(folder), pilot.facts)
    numeric = [name for name in names if name in panel.table.kinds.numeric]
    known = [name for name in numeric if marks[names.index(name)]]
    others = [name for name in numeric if name not in known]
    control = (
        others if len(others) <= len(known) else list(streams.generator("control").permutation(others)[: len(known)])
    )
    try:
        scale = PilotScale.of(pilot, panel.run([TRIVIAL])[0])
        shares = []
        for stated in ((), tuple(known), tuple(map(str, control))):
            (run,) = run_readers(panel, replace(panel.table.aside(), stated=stated), SCRIPT)
            shares.append(scale.share(run.prediction))
    except (DegenerateTask, ValueError):
        return None
    return shares[0], shares[1], shares[2]


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    from benchmarks.prior_worth import measure  # by its own name: worker processes cannot import __main__

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tasks", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1803)
    parser.add_argument("--workers", type=int, default=2)
    given = parser.parse_args(arguments)
    plan = plan_build(BuildRequest(name="prior", tasks=given.tasks, seed=given.seed, kinds={"table": 1.0}), ingest(()))
    with WorkerPool(given.workers) as pool:
        results = [result for _, result in pool.map(measure, list(plan_slots(plan)), 300)]
    for error in (result for result in results if isinstance(result, Exception)):
        raise error
    shares = np.array([result for result in results if isinstance(result, tuple)])
    print(f"{len(shares)} tables of domains that say what is plausible.\n")
    print("| tuned linear model | mean gap | more than alone | standard error |")
    print("|---|---:|---:|---:|")
    for place, name in enumerate(("alone", "plausible columns shrunk less", "other columns shrunk less")):
        more = shares[:, place] - shares[:, 0]
        error = more.std(ddof=1) / np.sqrt(len(more))
        print(f"| {name} | {shares[:, place].mean():.3f} | {more.mean():+.4f} | {error:.4f} |")


if __name__ == "__main__":
    main()
