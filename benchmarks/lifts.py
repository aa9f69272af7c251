"""What each declared skill is worth: mean lift over designs, on fresh training draws.

Run from the repository root: python -m benchmarks.lifts --designs 300
"""

import argparse
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import numpy as np

from sandmill.calibrate.lifts import GradedRows, measure_lifts
from sandmill.calibrate.panel import Panel
from sandmill.design import design_task
from sandmill.draw import render
from sandmill.draw.draws import fresh_training
from sandmill.models.base import Band
from sandmill.models.plan import Slot
from sandmill.models.skills import Skill, SkillLift
from sandmill.models.spec import TaskSpec
from sandmill.models.structure import Modality
from sandmill.pipeline.workers import WorkerPool
from sandmill.rng import Streams
from sandmill.seeds import ingest

SECRET = bytes(range(32))
DRAWS = 8
FEEDBACK_ROWS, FINAL_ROWS = 500, 2000
EASIEST, HARDEST = 0.15, 0.85
LIMIT_S = 600.0
"""Seconds that one design may take."""


def design(number: int) -> TaskSpec:
    """Design a table at a random hardness, with few test rows."""
    seeds = [seed for seed in ingest(()).supported if seed.structure.modality is Modality.TABULAR]
    streams = Streams(SECRET, "lifts").child(f"slot {number}")
    hardness = float(streams.generator("hardness").uniform(EASIEST, HARDEST))
    spec = design_task(Slot(number=number, seed=seeds[number % len(seeds)], band=Band.MEDIUM), streams, hardness)
    sizes = spec.sizes.model_copy(update={"feedback": FEEDBACK_ROWS, "final": FINAL_ROWS})
    return spec.model_copy(update={"sizes": sizes})


def measure(number: int) -> tuple[SkillLift, ...]:
    """Measure the lifts of one design."""
    spec = design(number)
    rendered = render(spec, SECRET)
    with TemporaryDirectory() as folder:
        for path, content in rendered.package.public.items():
            (Path(folder) / path).write_bytes(content)
        trivial = Panel(Path(folder), rendered.package.facts).run(["prior"])[0].prediction
    final = rendered.answers.is_final
    draw = rendered.test_draw.take(np.flatnonzero(final))
    graded = GradedRows.first(draw, rendered.answers.truth[final], trivial[final], rendered.oracle[final])
    draws = fresh_training(spec, Streams(SECRET, spec.fingerprint), DRAWS)
    return measure_lifts(spec, rendered.package.facts, draws, graded)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    from benchmarks.lifts import measure  # by its own name: worker processes cannot import __main__

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--designs", type=int, default=300)
    parser.add_argument("--workers", type=int, default=2)
    given = parser.parse_args(arguments)
    lifts: dict[Skill, list[SkillLift]] = {}
    failed = 0
    with WorkerPool(given.workers) as pool:
        for _, result in pool.map(measure, range(given.designs), LIMIT_S):
            if isinstance(result, Exception):
                failed += 1
                continue
            for lift in result:
                lifts.setdefault(lift.skill, []).append(lift)
    print("| skill | designs | median lift | mean | standard error | above 2 standard errors |")
    print("|---|---:|---:|---:|---:|---:|")
    for skill, found in sorted(lifts.items(), key=lambda item: -len(item[1])):
        values = np.array([lift.lift for lift in found])
        sure = sum(lift.lift > 2 * lift.error for lift in found) / len(found)
        error = values.std() / np.sqrt(max(len(values) - 1, 1))
        print(f"| {skill} | {len(found)} | {median(values):+.3f} | {values.mean():+.3f} | {error:.3f} | {sure:.0%} |")
    if failed:
        print(f"\n{failed} designs failed.")


if __name__ == "__main__":
    main()
