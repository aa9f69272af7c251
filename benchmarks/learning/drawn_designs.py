"""Further designs to train on: drawn by the grammar and rendered, but neither calibrated nor verified.

A control about the number of designs needs more of them than a small release holds. Their gap scale is exact, since
trivial solver and oracle are scored on their rows; their thresholds are those of a verified task, moved to the same
shares of the gap. Only rewards that use the gap alone may be learned from them.
"""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import repeat
from multiprocessing import get_context
from pathlib import Path

from sandmill.design import design_task
from sandmill.draw import render
from sandmill.fingerprint import digest
from sandmill.learning.replicates import measure_ends, with_test_rows, write_replicate
from sandmill.learning.task_sets import FactCache, LearningTask, TaskSet
from sandmill.models.calibration import Calibration
from sandmill.models.plan import Slot
from sandmill.models.request import BuildRequest
from sandmill.pipeline.band_search import first_hardness
from sandmill.pipeline.plan import plan_build, plan_slots
from sandmill.play.release import open_task
from sandmill.rng import Streams
from sandmill.score import get_metric
from sandmill.score.grading.private_half import TASK_FILE
from sandmill.seeds import ingest

SOURCE = "drawn-designs"
_SECRET = bytes(32)
"""These tasks are never published, so their secret may be known."""
_SPARE = 1.25
"""Slots drawn for each design that is wanted: some have an oracle that is not better than the trivial solver."""


def draw_designs(
    number: int,
    originals: Sequence[Calibration],
    cache: Path,
    *,
    test_rows: int,
    workers: int = 1,
    on_progress: Callable[[int, int], None] | None = None,
) -> TaskSet:
    """Return tasks of further designs, one each. Equal arguments give equal tasks.

    Args:
        number: designs at most.
        originals: calibrations whose thresholds and boards are borrowed, by the direction of the metric.
        cache: folder that tasks are written below, and read from if they are there.
        test_rows: rows of the final part, and half as many feedback rows.
        workers: processes. With more than one, the calling script needs a main guard.
        on_progress: called with the numbers of designs that are rendered and that are drawn.
    """
    request = BuildRequest(name=SOURCE, tasks=round(number * _SPARE), seed=1, kinds={"table": 1.0})
    slots = plan_slots(plan_build(request, ingest(())))
    known, found = FactCache(cache), list[LearningTask]()
    for done, place in enumerate(_rendered(slots, originals, cache / SOURCE, test_rows, workers), start=1):
        if on_progress is not None:
            on_progress(done, len(slots))
        if place is None or len(found) == number:
            continue
        task = open_task(place)
        facts = known.facts_of(place.name, task.public, task.private.task.facts)
        found.append(LearningTask(task, facts, place.name, SOURCE, place.name))
    return TaskSet(found)


def _rendered(
    slots: Sequence[Slot], originals: Sequence[Calibration], folder: Path, test_rows: int, workers: int
) -> Iterator[Path | None]:
    """Render designs, here or in processes, and yield their places in order; None for those without a gap."""
    borrowed = {lower: [one for one in originals if one.is_lower_better is lower][:1] for lower in (True, False)}
    more = (repeat(borrowed), repeat(folder), repeat(test_rows))
    if workers <= 1:
        yield from map(_make, slots, *more)
        return
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        yield from pool.map(_make, slots, *more, chunksize=4)


def _make(slot: Slot, borrowed: dict[bool, list[Calibration]], folder: Path, test_rows: int) -> Path | None:
    spec = design_task(slot, Streams(_SECRET, f"{SOURCE} {slot.number}"), first_hardness(slot.structure, slot.band))
    spec = with_test_rows(spec, test_rows)
    place = folder / f"drawn-{digest(spec.fingerprint.encode())[:12]}"
    if (place / "private" / TASK_FILE).is_file():
        return place
    originals = borrowed[get_metric(spec.structure.metric).is_lower_better]
    if not originals:
        return None
    rendered = render(spec, _SECRET, 0)
    ends = measure_ends(rendered)
    if None in ends:
        return None
    write_replicate(place, rendered, originals[0], ends)
    return place
