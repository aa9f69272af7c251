"""How many tries become tasks: first tries of any band, and whole slots with their attempts.

Run from the repository root: python -m benchmarks.yield --first 200 --slots 60
SandMLE reports 912 verified tasks of 1,200 tries (arXiv 2604.04872): a try there is one seed moved to one domain.
"""

import argparse
from collections.abc import Sequence
from tempfile import TemporaryDirectory

from benchmarks.first_tries import measure, report
from sandmill.models.plan import ShardRef
from sandmill.models.reports import Funnel
from sandmill.models.request import BuildRequest, RunSettings
from sandmill.pipeline.plan import plan_build
from sandmill.pipeline.run import build_shard, open_dataset, plan_round
from sandmill.report.funnel import FunnelCounts, RejectionRow
from sandmill.seeds import ingest
from sandmill.store.shards import read_shard_reports


def build(tasks: int, seed: int, workers: int) -> tuple[Funnel, tuple[RejectionRow, ...]]:
    """Fill slots in rounds, as the flow does; the gates run, the suites of Great Expectations do not."""
    plan = plan_build(BuildRequest(name="bench", tasks=tasks, seed=seed), ingest(()))
    with TemporaryDirectory(prefix="sandmill-bench-") as root:
        settings = RunSettings(root=root, workers=workers, shard_size=20)
        done: list[ShardRef] = []
        while shards := plan_round(plan, done, settings, {}):
            done += [build_shard(shard, settings, {}) for shard in shards]
        store = open_dataset(plan, settings)
        counts = FunnelCounts()
        for ref in done:
            found = read_shard_reports(store, ref)
            counts.add(found.slots, found.rejections)
        return counts.funnel(), counts.rejections()


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
    counts, reasons = build(given.slots, given.seed, given.workers)
    attempts = counts.designed
    print(
        f"\n{counts.filled} of {counts.slots} slots filled (**{counts.filled / counts.slots:.1%}**), {counts.in_band} "
        f"in the band asked for; {attempts / counts.slots:.2f} attempts a slot; {counts.verified} verified of "
        f"{counts.rendered} rendered ({counts.verified / counts.rendered:.1%})."
    )
    print("\n| rejected at | reason | attempts | share |\n|---|---|---:|---:|")
    for row in reasons:
        print(f"| {row.stage} | {row.reason} | {row.count} | {row.count / attempts:.1%} |")


if __name__ == "__main__":
    main()
