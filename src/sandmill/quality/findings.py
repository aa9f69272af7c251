"""The result type of gates and suites."""

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Finding:
    """One fault of one task. The detail has columns, shares and counts, and no answers, rule or thresholds."""

    task_id: str
    gate: str
    """Name of the gate, or `expectations` for a suite. It becomes the reason of a `Rejection`."""
    detail: str

    def __str__(self) -> str:
        return f"{self.gate}: {self.detail}"


def name_some(names: Iterable[str], shown: int = 3) -> str:
    """Return the first names, and the number of the others."""
    listed = list(names)
    more = f" and {len(listed) - shown} more" if len(listed) > shown else ""
    return ", ".join(listed[:shown]) + more
