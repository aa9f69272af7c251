"""CPU seconds that the posterior of 50,000 rows takes, over designs of the bundled seeds, by what is hidden in them.

Run from the repository root: OMP_NUM_THREADS=1 python -m benchmarks.posterior --designs 92
"""

import argparse
import time
from collections import defaultdict
from collections.abc import Sequence
from statistics import median

from sandmill.design import design_task
from sandmill.mechanism import draw_rows, posterior
from sandmill.models.base import Band
from sandmill.models.faults import Missing, Outliers, UnitMixup
from sandmill.models.mechanism import Mechanism
from sandmill.models.motifs import LocalRule, UnitEffect, columns_of
from sandmill.models.plan import Slot
from sandmill.rng import Streams
from sandmill.seeds import ingest


def hidden_parts(mechanism: Mechanism) -> str:
    """What the posterior sums over: only what the rule reads."""
    used = {name for term in mechanism.terms for name in columns_of(term.motif)}
    faults = [fault for fault in mechanism.cell_faults() if fault.column in used]
    motifs = [term.motif for term in mechanism.terms]
    found = {
        "gaps": any(isinstance(fault, Missing) for fault in faults),
        "units mixed up": any(isinstance(fault, UnitMixup) for fault in faults),
        "gross errors": any(isinstance(fault, Outliers) for fault in faults),
        "subgroup": any(isinstance(motif, LocalRule) for motif in motifs),
        "unit effect": any(isinstance(motif, UnitEffect) for motif in motifs),
        "factors": any(mechanism.column_by_name[fault.column].loadings for fault in faults),
    }
    return ", ".join(name for name, is_there in found.items() if is_there) or "nothing"


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--designs", type=int, default=92, help="designs, the bundled seeds taking turns")
    parser.add_argument("--rows", type=int, default=50_000)
    parser.add_argument("--hardness", type=float, default=0.6)
    given = parser.parse_args(arguments)
    seeds = ingest(()).supported
    seconds: dict[str, list[float]] = defaultdict(list)
    for number in range(given.designs):
        slot = Slot(number=number, seed=seeds[number % len(seeds)], band=Band.HARD)
        streams = Streams(bytes(32), f"posterior {number}")
        mechanism = design_task(slot, streams, given.hardness).mechanism
        observed = draw_rows(mechanism, streams.child("rows"), range(given.rows), is_train=False).observed
        started = time.process_time()
        posterior(mechanism, observed)
        seconds[hidden_parts(mechanism)].append(time.process_time() - started)
    print(f"| hidden | designs | median CPU s for {given.rows:,} rows | largest s |")
    print("|---|---:|---:|---:|")
    for name, taken in sorted(seconds.items(), key=lambda item: median(item[1])):
        print(f"| {name} | {len(taken)} | {median(taken):.2f} | {max(taken):.2f} |")
    everything = [value for taken in seconds.values() for value in taken]
    under = sum(value < 1 for value in everything) / len(everything)
    print(f"| all | {len(everything)} | {median(everything):.2f} | {max(everything):.2f} |")
    print(f"\n{under:.0%} of the designs take less than a second.")


if __name__ == "__main__":
    main()
