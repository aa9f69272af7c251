"""Which tasks a model solves always, never, and sometimes, so that a trainer can choose what to learn from."""

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from math import fsum
from statistics import pvariance

from sandmill.models.base import Frozen
from sandmill.models.rollout import RolloutFacts, TaskPlace
from sandmill.report.rollouts import group_by_task, has_variance
from sandmill.report.text_tables import TextTable


class Solved(StrEnum):
    """How often rollouts of a task reach bronze or better."""

    ALWAYS = "always"
    FRONTIER = "frontier"
    NEVER = "never"


class CurriculumTask(TaskPlace):
    """One task, as rollouts see it."""

    rollouts: int
    """Unmasked rollouts of all folders."""
    solved: int
    """Rollouts with bronze or better."""
    mean_reward: float
    reward_std: float
    """Standard deviation of rewards within groups: the rollouts of the task in one folder are a group."""
    kind: Solved
    has_reward_variance: bool
    """Whether the rewards of at least one group differ, so that GRPO can learn from the task."""


class Curriculum(Frozen):
    """All tasks with unmasked rollouts."""

    release: str
    tasks: tuple[CurriculumTask, ...]

    def of(self, kind: Solved) -> tuple[CurriculumTask, ...]:
        """Return the tasks of one kind."""
        return tuple(task for task in self.tasks if task.kind is kind)


def make_curriculum(
    release: str, folders: Sequence[Iterable[RolloutFacts]], places: Mapping[str, TaskPlace]
) -> Curriculum:
    """Sort tasks by how often they are solved.

    Args:
        release: reference of the release.
        folders: rollouts of each folder. Rewards are compared within a folder only, since folders may come from
            different models.
        places: structure and band of each task by its id.
    """
    groups: dict[str, list[list[RolloutFacts]]] = {}
    for folder in folders:
        for task_id, group in group_by_task(one for one in folder if not one.mask).items():
            groups.setdefault(task_id, []).append(group)
    return Curriculum(release=release, tasks=tuple(_sum_up(places[task], groups[task]) for task in sorted(groups)))


def _sum_up(place: TaskPlace, groups: Sequence[Sequence[RolloutFacts]]) -> CurriculumTask:
    everything = [one for group in groups for one in group]
    solved = sum(one.is_solved for one in everything)
    kind = Solved.FRONTIER
    if solved in (0, len(everything)):
        kind = Solved.ALWAYS if solved else Solved.NEVER
    within = fsum(len(group) * pvariance([one.reward or 0.0 for one in group]) for group in groups) / len(everything)
    return CurriculumTask(
        **place.model_dump(),
        rollouts=len(everything),
        solved=solved,
        mean_reward=fsum(one.reward or 0.0 for one in everything) / len(everything),
        reward_std=within**0.5,
        kind=kind,
        has_reward_variance=any(has_variance(group) for group in groups),
    )


def curriculum_table(tasks: Iterable[CurriculumTask]) -> TextTable:
    """Show tasks, a row a task."""
    header = ("task", "split", "structure", "band", "solved", "mean reward", "reward std")
    rows = tuple(
        (
            *(task.task_id, task.split, task.structure, task.band),
            *(f"{task.solved}/{task.rollouts}", f"{task.mean_reward:.3f}", f"{task.reward_std:.3f}"),
        )
        for task in tasks
    )
    return TextTable("", header, rows, frozenset({4, 5, 6}))
