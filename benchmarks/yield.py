"""How many tries become tasks: first tries of any band, and whole slots with their attempts.

Run from the repository root: python -m benchmarks.yield --first 200 --slots 60
SandMLE reports 912 verified tasks of 1,200 tries (arXiv 2604.04872): a try there is one seed moved to one domain.
"""

import argparse
from collections.abc import Sequence

from benchmarks.builds import build
from benchmarks.first_tries import measure, report


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--first", type=int, default=200, help="first tries, of any band")
    parser.add_argument("--slots", type=int, default=60, help="slots of a build, each of its band; 0 for none")
    parser.add_argument("--seed", type=int, default=3)
    parser.add_argument("--workers", type=int, default=2)
    given = parser.parse_args(arguments)
    report(measure(given.first, given.seed, given.workers))
    if not given.slots:
        return
    built = build(given.slots, given.seed, given.workers)
    counts, attempts = built.funnel, built.funnel.designed
    print(
        f"\n{counts.filled} of {counts.slots} slots filled (**{counts.filled / counts.slots:.1%}**), {counts.in_band} "
        f"in the band asked for; {attempts / counts.slots:.2f} attempts a slot; {counts.verified} verified of "
        f"{counts.rendered} rendered ({counts.verified / counts.rendered:.1%})."
    )
    print("\n| rejected at | reason | attempts | share |\n|---|---|---:|---:|")
    for row in built.reasons:
        print(f"| {row.stage} | {row.reason} | {row.count} | {row.count / attempts:.1%} |")


if __name__ == "__main__":
    main()
