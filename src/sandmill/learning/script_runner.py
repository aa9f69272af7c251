"""What training and evaluation need of whatever runs scripts. `executions.Executor` has all of it."""

from collections.abc import Sequence
from typing import Protocol

from sandmill.models.rollout import Rollout


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
