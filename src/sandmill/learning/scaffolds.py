"""Ways of calling a policy that its training never saw: best of several on feedback, and draft then improve.

Each way runs several scripts of a task, chooses by the feedback that an agent would see, and is graded once.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sandmill.learning.episode_executor import feedback_of
from sandmill.learning.results import Scored, to_scored
from sandmill.learning.script_runner import ScriptRunner
from sandmill.models.episode import FeedbackStatus
from sandmill.models.rollout import Rollout

if TYPE_CHECKING:
    from sandmill.learning.task_sets import LearningTask


Write = Callable[["Sequence[LearningTask]", int], list[list[str]]]
"""Writes a number of answers for each task."""
Rewrite = Callable[["Sequence[LearningTask]", Sequence[str], Sequence[Rollout]], list[str]]
"""Writes one new answer for each task, from an earlier answer and its rollout."""


@dataclass(frozen=True)
class ArmLabels:
    """Names of an arm in its rows."""

    arm: str
    seed: int
    temperature: float = 1.0


def best_on_feedback(
    write: Write, tasks: "Sequence[LearningTask]", runner: ScriptRunner, names: ArmLabels, *, scripts: int
) -> list[Scored]:
    """Sample several scripts of each task, and grade the one with the best feedback. One script is a single answer.

    Equal feedback is decided for the earlier script. A task whose scripts a fault of the sandbox hit has no row.
    """
    answers = write(tasks, scripts)
    pairs = [(task.id, answer) for task, group in zip(tasks, answers, strict=True) for answer in group]
    rollouts = runner.rollouts(pairs)
    rows = []
    for place, task in enumerate(tasks):
        start = place * scripts
        tried = list(zip(answers[place], rollouts[start : start + scripts], strict=True))
        rows += _graded(task, tried, names)
    return rows


def draft_then_improve(
    write: Write, rewrite: Rewrite, tasks: "Sequence[LearningTask]", runner: ScriptRunner, names: ArmLabels
) -> list[Scored]:
    """Write a script, write another with the first one in view, and grade the one with the better feedback."""
    drafts = [group[0] for group in write(tasks, 1)]
    first = runner.rollouts([(task.id, answer) for task, answer in zip(tasks, drafts, strict=True)])
    second = rewrite(tasks, drafts, first)
    improved = runner.rollouts([(task.id, answer) for task, answer in zip(tasks, second, strict=True)])
    rows = []
    for place, task in enumerate(tasks):
        rows += _graded(task, [(drafts[place], first[place]), (second[place], improved[place])], names)
    return rows


def feedback_rank(rollout: Rollout) -> tuple[int, float]:
    """Return a key that is larger for better feedback. A submission without a score is better than none."""
    answer = feedback_of(rollout)
    if answer is None or answer.status in (FeedbackStatus.NOT_SCORED, FeedbackStatus.EXHAUSTED):
        return (0, 0.0)
    if answer.status is FeedbackStatus.BELOW_BASELINE or answer.score is None:
        return (1, 0.0)
    is_lower = rollout.grade is not None and rollout.grade.is_lower_better
    return (2, -answer.score if is_lower else answer.score)


def _graded(task: "LearningTask", tried: Sequence[tuple[str, Rollout]], names: ArmLabels) -> list[Scored]:
    """Return the row of the script with the best feedback; none if all were masked."""
    usable = [(answer, rollout) for answer, rollout in tried if not rollout.mask]
    if not usable:
        return []
    answer, chosen = max(usable, key=lambda one: feedback_rank(one[1]))
    labels = {"arm": names.arm, "seed": names.seed, "family": task.family, "source": task.source}
    row = to_scored(chosen, answer, sample=0, temperature=names.temperature, **labels)
    seconds = sum(step.duration_s for _, rollout in usable for step in rollout.steps)
    return [row.model_copy(update={"seconds": seconds, "executions": len(usable)})]
