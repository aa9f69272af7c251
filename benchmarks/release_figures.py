"""What a release holds and what it took to make it: tables of kinds, bands, splits, rejections and time.

Run from the repository root, where the private half can be read: python -m benchmarks.release_figures releases/micro
"""

import argparse
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from statistics import median

from sandmill.models.base import Band, Stage
from sandmill.models.release import TaskRecord
from sandmill.models.reports import Funnel, SlotReport
from sandmill.report.funnel import FunnelCounts, RejectionRow
from sandmill.store.release import StoredRelease, load


def print_totals(release: StoredRelease, records: Sequence[TaskRecord], funnel: Funnel, attempts: int) -> None:
    """Print amounts of the whole release."""
    size = sum(part.size for part in release.manifest.parts)
    kinds, domains = {_kind(one) for one in records}, {one.spec.domain for one in records}
    seeds = {one.lineage.seed_id for one in records}
    print(f"`{release.manifest.dataset}@{release.version}`, code {release.manifest.code_version}\n")
    print(
        f"{len(records)} tasks of {len(kinds)} kinds, {len(domains)} domains and {len(seeds)} seeds; "
        f"{funnel.filled} of {funnel.slots} slots filled, {funnel.in_band} in the band asked for, "
        f"{attempts / funnel.slots:.2f} attempts a slot; {size / 1e6:.0f} MB in "
        f"{len(release.manifest.parts)} files."
    )


def print_kinds(records: Sequence[TaskRecord], slots: Sequence[SlotReport], sizes: dict[str, int]) -> None:
    """Print a row for each kind."""
    slot_of = {task_id: slot for slot in slots for task_id in slot.task_ids}
    of_kind = defaultdict(list)
    for record in records:
        of_kind[_kind(record)].append(record)
    print("\n| kind | tasks | in band | difficulty | metrics | training rows | MB a task | attempts | s of work |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|---:|")
    for kind, found in sorted(of_kind.items(), key=lambda item: (-len(item[1]), item[0])):
        own = [slot_of[one.task_id] for one in found if one.task_id in slot_of]
        hard = sorted(one.calibration.difficulty.value for one in found)
        rows = sorted(one.spec.sizes.train for one in found)
        attempts = sum(slot.attempts for slot in own) / len(own)
        seconds = sum(sum(slot.seconds.values()) for slot in own) / len(own)
        print(
            f"| {kind} | {len(found)} | {sum(slot.reached == slot.wanted for slot in own)} | "
            f"{hard[0]:.2f} to {hard[-1]:.2f} | {len({one.spec.metric for one in found})} | {rows[0]} to {rows[-1]} | "
            f"{median(sizes[one.task_id] for one in found) / 1e6:.2f} | {attempts:.1f} | {seconds:.0f} |"
        )


def print_bands(slots: Iterable[SlotReport]) -> None:
    """Print, for each band that was asked for, how many slots reached which band."""
    reached = Counter((slot.wanted, slot.reached) for slot in slots)
    print(f"\n| asked | slots | {' | '.join(Band)} |\n|---|---:|{'---:|' * len(Band)}")
    for wanted in Band:
        row = [reached[wanted, band] for band in Band]
        print(f"| {wanted} | {sum(row)} | {' | '.join(map(str, row))} |")


def print_shares(title: str, values: Iterable[str]) -> None:
    """Print how many tasks have each value."""
    found = Counter(values)
    print(f"\n{title}: {', '.join(f'{name} {number}' for name, number in found.most_common())}.")


def print_work(slots: Sequence[SlotReport], rejections: Iterable[RejectionRow]) -> None:
    """Print how long each stage took, and the attempts and seconds that were lost to each reason for a rejection."""
    spent = {stage: sum(slot.seconds.get(stage, 0.0) for slot in slots) for stage in Stage}
    whole = sum(spent.values())
    print(f"\nWork of all processes, {whole / 3600:.1f} hours, {whole / len(slots):.1f} s a slot:\n")
    print("| stage | seconds | a slot | share |\n|---|---:|---:|---:|")
    for stage, seconds in spent.items():
        if seconds:
            print(f"| {stage} | {seconds:.0f} | {seconds / len(slots):.2f} | {seconds / whole:.0%} |")
    print("\n| rejected at | reason | attempts | seconds |\n|---|---|---:|---:|")
    for row in rejections:
        print(f"| {row.stage} | {row.reason} | {row.count} | {row.seconds:.0f} |")


def _kind(record: TaskRecord) -> str:
    return record.spec.structure.kind or str(record.spec.structure.modality)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("release", help="reference whose private half is readable here")
    release = load(parser.parse_args().release)
    records = [release.record(task_id) for task_id in release.task_ids]
    slots = list(release.slot_reports())
    sizes = {one.task_id: sum(map(len, release.files("public", one.task_id).values())) for one in records}
    counts = FunnelCounts()
    counts.add(slots, release.rejections())
    print_totals(release, records, counts.funnel(), counts.attempts)
    print_kinds(records, slots, sizes)
    print_bands(slots)
    print_shares("Splits", (one.split for one in records))
    print_shares("Metrics", (one.spec.metric for one in records))
    print_work(slots, counts.rejections())


if __name__ == "__main__":
    main()
