"""Whether calibration can be trusted: mixes, replicates, halves of the panel, and no script that wins everywhere.

All tasks are tables: halves of a panel can be compared only where every task has the same panel.

Run from the repository root: python -m benchmarks.calibration --tasks 40 --replicated 24
"""

import argparse
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from statistics import median

import numpy as np
from scipy.stats import spearmanr

from benchmarks.builds import Built, build
from sandmill.models.base import Band
from sandmill.models.calibration import Tier
from sandmill.models.release import TaskRecord
from sandmill.models.reports import Medal
from sandmill.score.gap import gap_closed
from sandmill.score.medals import medal_of

MIXES: Mapping[str, Mapping[Band, float]] = {
    "usual": {Band.EASY: 0.25, Band.MEDIUM: 0.4, Band.HARD: 0.25, Band.EXPERT: 0.1},
    "easy first": {Band.EASY: 0.5, Band.MEDIUM: 0.3, Band.HARD: 0.15, Band.EXPERT: 0.05},
    "hard": {Band.EASY: 0.1, Band.MEDIUM: 0.2, Band.HARD: 0.4, Band.EXPERT: 0.3},
}
KINDS = {"table": 1.0}
HALVES = 50
"""Random halves of the whole panel that are compared."""


def report_mix(name: str, built: Built) -> str:
    """Asked against reached, a line a mix."""
    last = {slot.slot: slot for slot in sorted(built.slots, key=lambda slot: slot.round)}
    asked, reached = (Counter(getattr(slot, name) for slot in last.values()) for name in ("wanted", "reached"))
    cells = [f"{asked[band]} / {reached[band]}" for band in Band]
    counts = built.funnel
    return (
        f"| {name} | {' | '.join(cells)} | {counts.in_band / counts.slots:.0%} | {counts.filled / counts.slots:.0%} | "
        f"{counts.designed / counts.slots:.2f} |"
    )


def report_replicates(built: Built, replicates: int) -> Iterator[str]:
    """How alike renderings of one design are."""
    records = sorted(built.records, key=lambda record: record.replicate)
    first = {record.lineage.slot: record.calibration for record in records if record.replicate == 0}
    others = [record for record in records if record.replicate]
    alike = sum(one.calibration.difficulty.band is first[one.lineage.slot].difficulty.band for one in others)
    distances = [abs(one.calibration.difficulty.value - first[one.lineage.slot].difficulty.value) for one in others]
    drawn = len(first) * (replicates - 1)
    yield (
        f"{drawn} replicates of {len(first)} designs: {len(others)} keep the order of thresholds and every other truth "
        f"(**{len(others) / drawn:.0%}**); of these {alike} are in the band of their first rendering "
        f"(**{alike / len(others):.0%}**); difficulty differs by {median(distances):.3f} (median), "
        f"{np.quantile(distances, 0.9):.3f} (90 %)."
    )
    fell = Counter(rejection.reason for rejection in built.rejections if rejection.replicate)
    if fell:
        yield "The others fell by " + ", ".join(f"{reason} ({count})" for reason, count in fell.most_common()) + "."


def report_halves(records: Sequence[TaskRecord]) -> Iterator[str]:
    """Difficulty from one half of the panel against the other."""
    competent = sorted({entry.solver for entry in records[0].calibration.board if entry.tier is Tier.COMPETENT})
    tiers = [
        spearmanr(_difficulties(records, set(half)), _difficulties(records, set(competent) - set(half))).statistic
        for half in combinations(competent, len(competent) // 2)
    ]
    rng = np.random.default_rng(0)
    solvers = sorted({entry.solver for record in records for entry in record.calibration.board})
    wholes = []
    for _ in range(HALVES):
        half = set(rng.permutation(solvers)[: len(solvers) // 2])
        wholes.append(spearmanr(_difficulties(records, half), _difficulties(records, set(solvers) - half)).statistic)
    yield (
        f"Difficulty of {len(records)} tasks from half the panel against the other half, Spearman: "
        f"**{np.median(wholes):.3f}** (median of {HALVES} halves, least {min(wholes):.3f}); halves of the competent "
        f"tier alone: {np.median(tiers):.3f} (median of {len(tiers)}, least {min(tiers):.3f})."
    )


def report_scripts(records: Sequence[TaskRecord]) -> Iterator[str]:
    """How often one memorised script is gold."""
    golds: Counter[str] = Counter()
    for record in records:
        measured = record.calibration
        golds.update(
            entry.solver
            for entry in measured.board
            if medal_of(entry.final, measured.thresholds, measured.is_lower_better) is Medal.GOLD
        )
    shown = ", ".join(f"{solver} {count / len(records):.0%}" for solver, count in golds.most_common(4))
    yield f"Gold rate of single scripts over {len(records)} tasks: **{shown}**."


def report_measures(records: Sequence[TaskRecord]) -> Iterator[str]:
    """Order, steps, ceilings, solve rates and lifts, in a few lines."""
    measures = [record.calibration for record in records]
    held = [one.steadiness.order_held for one in measures]
    feedback = [one.feedback_steadiness.order_held for one in measures]
    steps = [min(one.steps) for one in measures]
    yield (
        f"Order of thresholds held in {min(held):.1%} of bootstraps at least, {median(held):.1%} at the median "
        f"(feedback part: {min(feedback):.1%}, {median(feedback):.1%}); smallest step {min(steps):.3f} of the gap, "
        f"median {median(steps):.3f}."
    )
    ceilings = [
        (gap_closed(one.board[0].final, one.trivial, one.oracle), gap_closed(one.informed, one.trivial, one.oracle))
        for one in measures
        if one.informed is not None
    ]
    best, informed = (median(side) for side in zip(*ceilings, strict=True))
    yield f"Share of the gap closed, median: best fair solver {best:.2f}, informed solver {informed:.2f}."
    yield "\n| band | tasks | solve rate | feedback order held |\n|---|---:|---:|---:|"
    for band in Band:
        of_band = [one for one in measures if one.difficulty.band is band]
        rates = [one.solve_rate.value for one in of_band if one.solve_rate]
        if rates:
            orders = [one.feedback_steadiness.order_held for one in of_band]
            yield f"| {band} | {len(of_band)} | {median(rates):.2f} | {median(orders):.1%} |"
    lifts: dict[str, list[tuple[float, float]]] = {}
    for one in measures:
        for lift in one.lifts:
            lifts.setdefault(lift.skill, []).append((lift.lift, lift.error))
    yield "\n| skill | tasks | median lift | above 2 standard errors |\n|---|---:|---:|---:|"
    for skill, found in sorted(lifts.items(), key=lambda item: -len(item[1])):
        sure = sum(lift > 2 * error for lift, error in found)
        yield f"| {skill} | {len(found)} | {median(lift for lift, _ in found):+.3f} | {sure / len(found):.0%} |"


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tasks", type=int, default=40, help="slots for each mix")
    parser.add_argument("--replicated", type=int, default=24, help="slots that are replicated")
    parser.add_argument("--replicates", type=int, default=4)
    parser.add_argument("--workers", type=int, default=2)
    given = parser.parse_args(arguments)
    print(
        "| mix | " + " | ".join(f"{band}: asked / reached" for band in Band) + " | in band | filled | attempts a slot |"
    )
    print("|---|" + "---:|" * (len(Band) + 3))
    records: list[TaskRecord] = []
    for seed, (name, mix) in enumerate(MIXES.items(), start=11):
        built = build(given.tasks, seed, given.workers, mix, kinds=KINDS)
        records += built.records
        print(report_mix(name, built), flush=True)
    replicated = build(given.replicated, 21, given.workers, replicates=given.replicates, kinds=KINDS)
    print()
    for line in (
        *report_replicates(replicated, given.replicates),
        "",
        *report_halves(records),
        "",
        *report_scripts(records),
        "",
        *report_measures(records),
    ):
        print(line)


def _difficulties(records: Sequence[TaskRecord], solvers: set[str]) -> list[float]:
    """What the median of some solvers leaves of the gap, for each task."""
    found = []
    for record in records:
        measured = record.calibration
        middle = median(entry.final for entry in measured.board if entry.solver in solvers)
        found.append(1 - gap_closed(middle, measured.trivial, measured.oracle))
    return found


if __name__ == "__main__":
    main()
