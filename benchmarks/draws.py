"""How far medals and difficulty survive another training draw: every first try is rendered and measured twice.

Run from the repository root: python -m benchmarks.draws --tasks 60
"""

import argparse
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from statistics import median

import numpy as np

from benchmarks.first_tries import SECRET
from sandmill.models.calibration import Calibration, Tier
from sandmill.models.plan import Attempt, Slot
from sandmill.models.reports import Medal
from sandmill.models.request import BuildRequest
from sandmill.pipeline.attempt import AttemptJob, Failed, run_attempt
from sandmill.pipeline.band_search import first_hardness
from sandmill.pipeline.plan import plan_build, plan_slots
from sandmill.pipeline.workers import WorkerPool
from sandmill.scoring.gap import gap_closed
from sandmill.scoring.medals import medal_of
from sandmill.seeds import ingest

HONEST = (Tier.COMPETENT, Tier.STRONG, Tier.SEARCH, Tier.ENSEMBLE, Tier.READER)
"""Tiers of scripts that a careful person might write."""
_MEDALS: tuple[Medal | None, ...] = (*Medal, None)


@dataclass(frozen=True)
class Twice:
    """One design, measured after two training draws on test rows of their own."""

    first: Calibration
    second: Calibration | None
    """None if the second rendering was rejected."""
    rejected: str = ""
    """Why."""


@dataclass(frozen=True)
class Pair:
    """Medals of one script on both renderings."""

    tier: Tier
    medals: tuple[Medal | None, Medal | None]
    is_near: bool
    """Whether its score on the first lies within one standard deviation of a threshold."""


def measure_twice(slot: Slot) -> Twice | str:
    """Measure a first try of any band and a replicate of it; or say why there is no task."""
    attempt = Attempt(slot, 0, 1, 0, first_hardness(slot.seed.structure, slot.band), any_band=True)
    made = run_attempt(AttemptJob(attempt, "draws", SECRET)).result
    if isinstance(made, Failed):
        return made.error.reason
    spec = made.package.spec
    other = Attempt(slot, 0, 1, 0, spec.hardness, any_band=True, replicate=1)
    again = run_attempt(AttemptJob(other, "draws", SECRET, spec)).result
    if isinstance(again, Failed):
        return Twice(made.calibration, None, again.error.reason)
    return Twice(made.calibration, again.calibration)


def pairs_of(one: Twice) -> Iterator[Pair]:
    """Compare the medals of every honest script on both renderings."""
    if one.second is None:
        return
    later = {entry.solver: entry for entry in one.second.board}
    bars, ends = one.first.thresholds, (one.first.trivial, one.first.oracle)
    near = one.first.steadiness.pair_sd or 0.0
    places = [gap_closed(bar, *ends) for bar in (bars.gold, bars.silver, bars.bronze)]
    for entry in one.first.board:
        if entry.tier in HONEST and entry.solver in later:
            share = gap_closed(entry.final, *ends)
            medals = (
                medal_of(entry.final, bars, one.first.is_lower_better),
                medal_of(later[entry.solver].final, one.second.thresholds, one.second.is_lower_better),
            )
            yield Pair(entry.tier, medals, min(abs(share - place) for place in places) < near)


def report_medals(pairs: Sequence[Pair]) -> Iterator[str]:
    """Write how often scripts keep their medals."""
    yield "| scripts | medals | same again | same or better again | within one SD of a threshold |"
    yield "|---|---:|---:|---:|---:|"
    groups = {
        "all": pairs,
        "readers": [pair for pair in pairs if pair.tier is Tier.READER],
        "further than one SD": [pair for pair in pairs if not pair.is_near],
    }
    for name, some in groups.items():
        for medal in _MEDALS:
            won = [pair for pair in some if pair.medals[0] == medal]
            if won:
                same = np.mean([pair.medals[1] == medal for pair in won])
                better = np.mean([_MEDALS.index(pair.medals[1]) <= _MEDALS.index(medal) for pair in won])
                near = np.mean([pair.is_near for pair in won])
                yield f"| {name}: {medal or 'no medal'} | {len(won)} | {same:.0%} | {better:.0%} | {near:.0%} |"
    changed = {name: np.mean([len(set(pair.medals)) > 1 for pair in some]) for name, some in groups.items() if some}
    yield "\nMedals that change: " + ", ".join(f"{name} **{share:.0%}**" for name, share in changed.items()) + "."


def report_intervals(found: Iterable[Twice]) -> Iterator[str]:
    """Write how often the interval of a difficulty holds for the other rendering."""
    both = [(one.first, one.second) for one in found if one.second]
    held = [first.difficulty.low <= second.difficulty.value <= first.difficulty.high for first, second in both]
    widths = [first.difficulty.high - first.difficulty.low for first, _ in both]
    moved = [abs(first.difficulty.value - second.difficulty.value) for first, second in both]
    bands = [first.difficulty.band is second.difficulty.band for first, second in both]
    yield (
        f"Intervals of difficulty hold for the other rendering in **{np.mean(held):.0%}** of {len(both)} designs; "
        f"their median width is {median(widths):.2f}. Difficulty moves by {median(moved):.3f} (median), and stays in "
        f"its band in {np.mean(bands):.0%}."
    )


def report_steps(found: Sequence[Twice]) -> Iterator[str]:
    """Write how wide the steps between thresholds are, as shares of the gap and in standard deviations.

    The rule makes steps one deviation wide, as its own draws show it. The other rendering has draws of its own.
    """
    names = ("gold to silver", "silver to bronze", "bronze to median")
    yield (
        "| step | share of the gap | in SD of unrelated pairs | at least 1 | in SD of the other rendering | at least 1 "
        "| in SD of reader and twin | at least 2 |"
    )
    yield "|---|---:|---:|---:|---:|---:|---:|---:|"
    measured = [one.first for one in found]
    for place, name in enumerate(names):
        steps = [one.steps[place] for one in measured]
        unrelated = [one.steadiness.steps_in_sd[place] for one in measured if one.steadiness.steps_in_sd]
        others = [
            one.first.steps[place] / one.second.steadiness.pair_sd
            for one in found
            if one.second and one.second.steadiness.pair_sd
        ]
        related = [one.steadiness.steps_in_hint_sd[place] for one in measured if one.steadiness.steps_in_hint_sd]
        cells = [f"{median(steps):.3f}", *_of(unrelated, 1.0), *_of(others, 1.0), *_of(related, 2.0)]
        yield f"| {name} | {' | '.join(cells)} |"


def _of(values: Sequence[float], least: float) -> tuple[str, str]:
    if not values:
        return "", ""
    return f"{median(values):.1f}", f"{np.mean([value >= least for value in values]):.0%}"


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    from benchmarks.draws import Twice, measure_twice  # by their own names: worker processes cannot import __main__

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tasks", type=int, default=60, help="first tries of tables, of any band")
    parser.add_argument("--seed", type=int, default=61)
    parser.add_argument("--workers", type=int, default=2)
    given = parser.parse_args(arguments)
    plan = plan_build(BuildRequest(name="bench", tasks=given.tasks, seed=given.seed, kinds={"table": 1.0}), ingest(()))
    with WorkerPool(given.workers) as pool:
        results = [result for _, result in pool.map(measure_twice, list(plan_slots(plan)), 600)]
    for error in (result for result in results if isinstance(result, Exception)):
        raise error
    found = [result for result in results if isinstance(result, Twice)]
    refused = Counter(result for result in results if isinstance(result, str))
    again = Counter(one.rejected for one in found if one.second is None)
    hinted = sum(one.first.milestones is not None and one.first.milestones.gold == "readers" for one in found)
    print(f"{len(found)} tasks of {given.tasks} first tries, {hinted} with hints; rejected: {_listed(refused)}.")
    print(f"{sum(again.values())} of their replicates are rejected: {_listed(again)}.\n")
    print("\n".join(report_medals([pair for one in found for pair in pairs_of(one)])) + "\n")
    print("\n".join(report_intervals(found)) + "\n")
    print("\n".join(report_steps(found)))


def _listed(counts: Counter[str]) -> str:
    return ", ".join(f"{name} ({count})" for name, count in counts.most_common()) or "none"


if __name__ == "__main__":
    main()
