"""What each knob of steering does to difficulty alone: one is turned from 0 to 1, the others stay in the middle.

Run from the repository root: python -m benchmarks.knobs --designs 40
"""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from benchmarks.probes import measure_difficulty
from sandmill.design import design_task
from sandmill.draw import draw_pilot
from sandmill.models.base import Band
from sandmill.models.plan import Slot
from sandmill.models.seed import SeedTask
from sandmill.models.spec import Knobs
from sandmill.pipeline.workers import WorkerPool
from sandmill.rng import Streams
from sandmill.seeds import ingest

SECRET = bytes(32)


@dataclass(frozen=True)
class Piece:
    """One design with its knobs."""

    seed: SeedTask
    number: int
    knobs: Knobs


def measure(piece: Piece) -> float:
    """Difficulty of the design."""
    streams = Streams(SECRET, "knobs").child(f"slot {piece.number}")
    slot = Slot(number=piece.number, seed=piece.seed, band=Band.MEDIUM)
    return measure_difficulty(draw_pilot(design_task(slot, streams, 0.5, None, piece.knobs), SECRET)).value


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    from benchmarks.knobs import measure  # by its own name: worker processes cannot import __main__

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--designs", type=int, default=40)
    parser.add_argument("--workers", type=int, default=2)
    given = parser.parse_args(arguments)
    seeds = ingest(()).supported
    turned = [
        (name, Knobs.all_at(0.5).model_copy(update={name: at})) for name in Knobs.model_fields for at in (0.0, 1.0)
    ]
    settings = [("none", Knobs.all_at(0.5)), *turned]
    pieces = [
        Piece(seeds[number % len(seeds)], number, knobs) for number in range(given.designs) for _, knobs in settings
    ]
    found: dict[tuple[int, Knobs], float] = {}
    with WorkerPool(given.workers) as pool:
        for index, result in pool.map(measure, pieces, 300):
            if not isinstance(result, Exception):
                found[pieces[index].number, pieces[index].knobs] = result
    print("| knob | median difficulty at 0 | at 1 | designs that become harder | median step |")
    print("|---|---:|---:|---:|---:|")
    for name in Knobs.model_fields:
        low, high = (knobs for other, knobs in turned if other == name)
        pairs = [
            (found[number, low], found[number, high])
            for number in range(given.designs)
            if (number, low) in found and (number, high) in found
        ]
        steps = [after - before for before, after in pairs]
        harder = sum(step > 0 for step in steps) / len(steps)
        print(
            f"| {name} | {median(before for before, _ in pairs):.2f} | {median(after for _, after in pairs):.2f} | "
            f"{harder:.0%} | {median(steps):+.2f} |"
        )


if __name__ == "__main__":
    main()
