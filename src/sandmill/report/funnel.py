"""How many survived each stage, and why the others did not: derived from what each slot reported."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby

from sandmill.models.base import Stage
from sandmill.models.reports import Funnel, Rejection, SlotReport

ORDER = {stage: place for place, stage in enumerate(Stage)}
"""Place of each stage in the work."""


@dataclass(frozen=True)
class RejectionRow:
    """Rejections of one reason at one stage."""

    stage: Stage
    reason: str
    count: int
    seconds: float
    """Work spent on them."""


def funnel(slots: Iterable[SlotReport], rejections: Iterable[Rejection]) -> Funnel:
    """Count the attempts that got past each stage.

    An attempt is `designed` once it has begun. It is `rendered` unless it was rejected up to the generate stage, and so
    on; an attempt rejected for several reasons counts once, at the earliest stage. So does a slot of several rounds.
    Rejected replicates are left out: they cost a task and no slot.

    Args:
        slots: reports of all shards, any order, read once.
        rejections: of the same shards; those of one attempt stand together, as shards write them.
    """
    numbers: set[int] = set()
    attempts = filled = in_band = tasks = 0
    for report in slots:
        numbers.add(report.slot)
        attempts += report.attempts
        filled += report.reached is not None
        tasks += len(report.task_ids)
        in_band += report.reached == report.wanted
    lost = Counter(_first_stages(rejection for rejection in rejections if not rejection.replicate))

    def left_after(stage: Stage) -> int:
        return attempts - sum(count for where, count in lost.items() if ORDER[where] <= ORDER[stage])

    return Funnel(
        slots=len(numbers),
        designed=attempts,
        rendered=left_after(Stage.GENERATE),
        calibrated=left_after(Stage.CALIBRATE),
        checked=left_after(Stage.CHECK),
        verified=left_after(Stage.VERIFY),
        filled=filled,
        tasks=tasks,
        in_band=in_band,
    )


def count_rejections(rejections: Iterable[Rejection]) -> tuple[RejectionRow, ...]:
    """Count rejections by stage and reason, in the order of the work, the most frequent reason of a stage first."""
    counts: Counter[tuple[Stage, str]] = Counter()
    seconds: defaultdict[tuple[Stage, str], float] = defaultdict(float)
    for rejection in rejections:
        key = (rejection.stage, rejection.reason)
        counts[key] += 1
        seconds[key] += rejection.seconds
    ordered = sorted(counts, key=lambda key: (ORDER[key[0]], -counts[key], key[1]))
    return tuple(RejectionRow(*key, counts[key], seconds[key]) for key in ordered)


def _first_stages(rejections: Iterable[Rejection]) -> Iterator[Stage]:
    """Earliest stage of each rejected attempt, holding one attempt at a time."""
    for _, group in groupby(rejections, key=lambda one: (one.slot, one.round, one.attempt)):
        yield min((one.stage for one in group), key=ORDER.__getitem__)
