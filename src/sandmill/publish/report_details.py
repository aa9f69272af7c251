"""Read what the pages of single tasks show. Large releases show a sample of their tasks, spread over their kinds."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from sandmill.models.base import Frozen
from sandmill.report.html.figure import Cell, Figure
from sandmill.report.html.page import Edition
from sandmill.report.samples import sample_files
from sandmill.report.task_detail import private_detail
from sandmill.store.arrow_tables import read_record
from sandmill.store.release import StoredRelease


class Limits(Frozen):
    """How much of single tasks a report holds, which decides its size."""

    sampled: int = 100
    """Tasks with prompt, rows and media."""
    measured: int = 2000
    """Tasks with private figures, 4 kB each."""
    media_bytes: int = 4 << 20
    """Of all tasks together, before encoding."""
    media_of_task: int = 96 << 10


USUAL = Limits()
KIND = ("modality", "target", "metric", "split")
"""Public facts by which tasks are grouped and compared."""


def task_details(release: StoredRelease, tasks: Figure, edition: Edition, limits: Limits) -> dict[str, dict[str, Any]]:
    """Return what is shown of each task that is shown at all, by id."""
    chosen = choose_tasks(tasks, limits.sampled)
    share = min(limits.media_of_task, limits.media_bytes // max(1, len(chosen)))
    details: dict[str, dict[str, Any]] = {}
    for task_id in chosen:
        sample = sample_files(release.files("public", task_id), share)
        details[task_id] = {"sample": sample.model_dump(mode="json")}
    if edition == "private":
        measured = choose_tasks(tasks, limits.measured)
        for row in release.read_columns("private/tasks", ["task_id", "digest", "record"], measured):
            figures = private_detail(read_record(row)).model_dump(mode="json")
            details.setdefault(row["task_id"], {})["private"] = figures
    return {task_id: details[task_id] for task_id in sorted(details)}


def choose_tasks(tasks: Figure, most: int) -> Sequence[str]:
    """Return ids of tasks, all of them if there are few. Of each kind of task the first ones come first."""
    task_ids = [str(task_id) for task_id in tasks.column("task_id")]
    if len(task_ids) <= most:
        return task_ids
    seen: Counter[tuple[Cell, ...]] = Counter()
    ranked = []
    for task_id, *kind in zip(task_ids, *map(tasks.column, KIND), strict=True):
        ranked.append((seen[tuple(kind)], task_id))
        seen[tuple(kind)] += 1
    return sorted(task_id for _, task_id in sorted(ranked)[:most])
