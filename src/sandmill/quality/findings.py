"""The one form in which every check says what is wrong, so that gates and suites add up to one list a task."""

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Finding:
    """One thing wrong with one task. The detail names columns, shares and counts, never answers, rule or thresholds."""

    task_id: str
    gate: str
    """One word: the name of the gate, or `expectations` for a suite. Fit to be a `Rejection`'s reason."""
    detail: str

    def __str__(self) -> str:
        return f"{self.gate}: {self.detail}"


def name_some(names: Iterable[str], shown: int = 3) -> str:
    """Keep a message short however many things are wrong: the first few names and how many more there are."""
    listed = list(names)
    more = f" and {len(listed) - shown} more" if len(listed) > shown else ""
    return ", ".join(listed[:shown]) + more
