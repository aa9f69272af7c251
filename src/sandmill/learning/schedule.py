"""Which tasks an update learns from."""

from collections.abc import Iterator, Sequence
from itertools import count, islice
from random import Random
from typing import Protocol, TypeVar

from sandmill.learning.seeds import derive_seed


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
