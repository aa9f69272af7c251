"""Batches of a training: what runs their scripts, which tasks they have, and their figures."""

from collections.abc import Iterator, Sequence
from itertools import count, islice
from random import Random
from typing import TYPE_CHECKING, Protocol, TypeVar

from sandmill.models.base import Frozen
from sandmill.models.reports import Outcome
from sandmill.models.rollout import Rollout
from sandmill_learn.settings import derive_seed

if TYPE_CHECKING:
    from sandmill_learn.task_sets import LearningTask


class ScriptRunner(Protocol):
    """Runs the scripts of answers."""

    def rollouts(self, pairs: Sequence[tuple[str, str]]) -> list[Rollout]:
        """Return the rollout of each pair of a task id and an answer."""
        ...


class CountingRunner(ScriptRunner, Protocol):
    """Runs the scripts of answers and counts them."""

    @property
    def requested(self) -> int:
        """Answers asked for."""
        ...

    @property
    def executed(self) -> int:
        """Scripts that ran."""
        ...


class HasFamily(Protocol):
    """A task of a task set."""

    @property
    def family(self) -> str:
        """The design, whose replicates are tasks of one family."""
        ...


T = TypeVar("T", bound=HasFamily)


def schedule(tasks: Sequence[T], *, updates: int, size: int, seed: int) -> list[list[T]]:
    """Return the tasks of each update.

    Families take turns in a random order, so each is used equally often. Whenever a family has its turn, the next of
    its replicates is used, so an update sees fresh rows of a design until all of its replicates had a turn.
    """
    stream = _turns(tasks, seed)
    return [list(islice(stream, size)) for _ in range(updates)]


def _turns(tasks: Sequence[T], seed: int) -> Iterator[T]:
    families: dict[str, list[T]] = {}
    for task in tasks:
        families.setdefault(task.family, []).append(task)
    for turn in count():
        order = list(families)
        Random(derive_seed(seed, "turn", turn)).shuffle(order)
        for family in order:
            yield families[family][turn % len(families[family])]
        if not order:
            return


class Samples(Protocol):
    """A policy that writes answers."""

    def sample(self, prompts: Sequence[Sequence[str]], *, n: int, temperature: float, seed: int) -> list[list[str]]:
        """Return `n` answers to each prompt."""
        ...


class BatchFigures(Frozen):
    """Figures of the scripts of one update."""

    valid: float
    gap_if_valid: float | None
    flat_groups: float
    distinct: float


def is_valid(rollout: Rollout) -> bool:
    """Return whether the rollout has a valid submission."""
    return rollout.grade is not None and rollout.grade.outcome is Outcome.OK


def gap_of(rollout: Rollout) -> float:
    """Return the share of the gap closed, limited to -1..1; 0 without a valid submission."""
    if rollout.grade is None or not is_valid(rollout):
        return 0.0
    return min(1.0, max(-1.0, rollout.grade.gap_closed or 0.0))


def figures_of(
    rollouts: Sequence[Rollout], rewards: Sequence[float | None], answers: Sequence[str], group: int
) -> BatchFigures:
    """Return the figures of a batch whose groups of `group` answers to one task follow one another."""
    gaps = [gap_of(rollout) for rollout in rollouts if is_valid(rollout)]
    scored = [rollout for rollout in rollouts if not rollout.mask]
    starts = range(0, len(answers), group)
    return BatchFigures(
        valid=len(gaps) / max(1, len(scored)),
        gap_if_valid=sum(gaps) / len(gaps) if gaps else None,
        flat_groups=_mean([len({*rewards[start : start + group]} - {None}) <= 1 for start in starts]),
        distinct=_mean(
            [len({*answers[start : start + group]}) / len(answers[start : start + group]) for start in starts]
        ),
    )


def validate(
    policy: Samples,
    tasks: Sequence["LearningTask"],
    executor: CountingRunner,
    *,
    samples: int,
    temperature: float,
    seed: int,
) -> tuple[float, float] | None:
    """Return the mean gap of the greedy script and of sampled scripts on tasks; None without tasks.

    Equal seeds sample with equal random numbers, so successive policies are compared on common draws.
    """
    if not tasks:
        return None
    prompts = [task.facts for task in tasks]
    greedy = policy.sample(prompts, n=1, temperature=0.0, seed=0)
    sampled = policy.sample(prompts, n=samples, temperature=temperature, seed=derive_seed(seed, "validation"))
    pairs = [
        (task.id, answer)
        for answers in (greedy, sampled)
        for task, group in zip(tasks, answers, strict=True)
        for answer in group
    ]
    gaps = [gap_of(rollout) for rollout in executor.rollouts(pairs)]
    return _mean(gaps[: len(tasks)]), _mean(gaps[len(tasks) :])


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0
