"""A curriculum of reading: training tasks by what their texts state, easiest first, and a mix of them."""

from collections.abc import Iterable, Mapping
from statistics import median

from sandmill.models.base import Frozen
from sandmill.models.release import TaskRecord
from sandmill.report.rollouts import CurriculumTask, Solved
from sandmill.report.text_tables import TextTable

STAGES = ("one plain fact", "plain", "prose", "spread", "contested")
"""One fact in one sentence, then the reading levels."""
MASTERED = 0.7
"""Share of rollouts with bronze or better from which a stage is mastered."""
_EARLIER, _CURRENT, _NEXT = 0.2, 0.6, 0.2
"""Shares of the mix: the stages before the first one that is not mastered together, this one, and the one after it."""


class ReadingStage(Frozen):
    """Tasks whose texts are about equally hard to read."""

    name: str
    task_ids: tuple[str, ...]
    """Largest reading gain first, without tasks that rollouts always solve."""
    median_gain: float
    solved: float | None
    """Share of rollouts with bronze or better, of all tasks of the stage; None without rollouts."""
    share: float
    """Of the tasks to draw next."""


def reading_stages(records: Iterable[TaskRecord], played: Mapping[str, CurriculumTask]) -> tuple[ReadingStage, ...]:
    """Sort the tasks of the split `train` whose texts state facts into stages, and propose a mix.

    Args:
        records: tasks of a release.
        played: what rollouts did on tasks, by id; empty without rollouts.
    """
    found: dict[str, list[tuple[float, str]]] = {name: [] for name in STAGES}
    for record in records:
        gain, level = record.calibration.reading_gain, record.spec.reading_level
        if record.split == "train" and gain is not None and level != "none":
            is_single = level == "plain" and sum(hint.matters for hint in record.spec.hints) == 1
            found[STAGES[0] if is_single else level].append((-gain, record.task_id))
    stages = [_stage(name, sorted(tasks), played) for name, tasks in found.items() if tasks]
    open_stages = [place for place, one in enumerate(stages) if one.solved is None or one.solved < MASTERED]
    current = next(iter(open_stages), len(stages) - 1)
    # The stages after the next one get nothing.
    weights = [*([_EARLIER / current] * current if current else ()), _CURRENT, _NEXT, *[0.0] * len(stages)]
    weights = [weight if one.task_ids else 0.0 for weight, one in zip(weights, stages, strict=False)]
    whole = sum(weights) or 1.0
    shared = zip(stages, weights, strict=True)
    return tuple(one.model_copy(update={"share": round(weight / whole, 4)}) for one, weight in shared)


def _stage(name: str, tasks: list[tuple[float, str]], played: Mapping[str, CurriculumTask]) -> ReadingStage:
    seen = [played[task_id] for _, task_id in tasks if task_id in played]
    always = {task.task_id for task in seen if task.kind is Solved.ALWAYS}
    return ReadingStage(
        name=name,
        task_ids=tuple(task_id for _, task_id in tasks if task_id not in always),
        median_gain=median(-gain for gain, _ in tasks),
        solved=sum(task.solved for task in seen) / sum(task.rollouts for task in seen) if seen else None,
        share=0.0,
    )


def reading_table(stages: Iterable[ReadingStage]) -> TextTable:
    """Show stages, a row a stage."""
    rows = tuple(
        (
            *(stage.name, str(len(stage.task_ids)), f"{stage.median_gain:.2f}"),
            *("-" if stage.solved is None else f"{stage.solved:.0%}", f"{stage.share:.0%}"),
        )
        for stage in stages
    )
    header = ("curriculum of reading", "tasks to learn", "median gain", "solved", "share of the mix")
    return TextTable("", header, rows, frozenset({1, 2, 3, 4}))
