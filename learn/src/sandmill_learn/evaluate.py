"""Score any arm on a set of tasks: a policy, a function of a task, or answers that exist already."""

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from sandmill.models.base import Frozen, OnProgress
from sandmill_learn.batches import ScriptRunner
from sandmill_learn.results import Scored, to_scored

if TYPE_CHECKING:
    from sandmill.models.rollout import Rollout
    from sandmill_learn.task_sets import LearningTask

logger = logging.getLogger(__name__)

CHUNK = 64
"""Answers that are sent to the sandbox together. Progress is reported after each chunk."""


class Policy(Protocol):
    """What an evaluation needs of a policy. `MicroPolicy` has it."""

    def sample(self, prompts: Sequence[Sequence[str]], *, n: int, temperature: float, seed: int) -> list[list[str]]:
        """Return n answers for each prompt."""
        ...


Writer = Policy | Mapping[str, Sequence[str]] | Callable[["LearningTask"], Sequence[str]]
"""An arm: a policy, answers by task id, or a function from a task to its answers."""


class SampleSettings(Frozen):
    """How an arm is sampled."""

    samples: int = 1
    temperature: float = 0.0
    seed: int = 0


GREEDY = SampleSettings()


def evaluate(
    arm: str,
    writer: Writer,
    tasks: "Iterable[LearningTask]",
    runner: ScriptRunner,
    *,
    draws: SampleSettings = GREEDY,
    progress: OnProgress | None = None,
) -> list[Scored]:
    """Run the scripts of an arm on all tasks, and return one row for each.

    A run that a fault of the sandbox hit is no failure of the arm: it has no row, and the log says how many there are.

    Args:
        arm: name of the arm in the rows.
        writer: writes the answers.
        tasks: to be scored on.
        runner: runs and grades answers. Its cache makes a repeated evaluation cheap.
        draws: number of samples, temperature and seed; the seed is also that of the rows.
        progress: is called after each chunk of scripts.
    """
    chosen = list(tasks)
    answers = _write(writer, chosen, draws)
    jobs = [(task, number, text) for task in chosen for number, text in enumerate(answers[task.id])]
    rows: list[Scored] = []
    masked = 0
    for start in range(0, len(jobs), CHUNK):
        chunk = jobs[start : start + CHUNK]
        rollouts = runner.rollouts([(task.id, text) for task, _, text in chunk])
        for (task, number, text), rollout in zip(chunk, rollouts, strict=True):
            if rollout.mask:
                masked += 1
                continue
            names = {"arm": arm, "seed": draws.seed, "family": task.family, "source": task.source}
            rows.append(to_scored(rollout, text, sample=number, temperature=draws.temperature, **names))
        if progress:
            progress(start + len(chunk), len(jobs))
    if masked:
        logger.warning(
            "arm %s: %d of %d scripts were hit by a fault of the sandbox and left out", arm, masked, len(jobs)
        )
    return rows


def evaluate_choice(
    arm: str, writer: Writer, tasks: "Iterable[LearningTask]", runner: ScriptRunner, *, seed: int = 0
) -> list[Scored]:
    """Run all answers of an arm to each task, and score the one with the best feedback score.

    The feedback score is that of the feedback part of the test rows, which an agent may see during an episode. The row
    has the score of the final part. Its executions and seconds count all answers. Without a valid answer it is the
    first one's row.
    """
    chosen, rows = list(tasks), []
    answers = _write(writer, chosen, SampleSettings())
    rollouts = iter(runner.rollouts([(task.id, text) for task in chosen for text in answers[task.id]]))
    for task in chosen:
        tried = [(rollout, text) for text, rollout in zip(answers[task.id], rollouts, strict=False) if not rollout.mask]
        if not tried:
            continue
        names = {"arm": arm, "seed": seed, "family": task.family, "source": task.source}
        scored = [to_scored(rollout, text, **names) for rollout, text in tried]
        best = max(range(len(tried)), key=lambda place: _feedback(tried[place][0]))
        seconds = sum(row.seconds for row in scored)
        rows.append(scored[best].model_copy(update={"seconds": seconds, "executions": len(tried)}))
    return rows


def _feedback(rollout: "Rollout") -> float:
    """Return the feedback score so that larger is better."""
    grade = rollout.grade
    if grade is None or rollout.chosen is None or grade.feedback_score is None:
        return float("-inf")
    return -grade.feedback_score if grade.is_lower_better else grade.feedback_score


def _write(writer: Writer, tasks: "Sequence[LearningTask]", draws: SampleSettings) -> Mapping[str, Sequence[str]]:
    """Return the answers by task id. Greedy decoding gives one answer whatever the number of samples."""
    if isinstance(writer, Mapping):
        return writer
    if callable(writer):
        return {task.id: writer(task) for task in tasks}
    number = draws.samples if draws.temperature else 1
    prompts = [task.facts for task in tasks]
    texts = writer.sample(prompts, n=number, temperature=draws.temperature, seed=draws.seed)
    return {task.id: text for task, text in zip(tasks, texts, strict=True)}
