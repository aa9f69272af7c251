"""The result type of gates and suites."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Finding:
    """One fault of one task. The detail has columns, shares and counts, and no answers, rule or thresholds."""

    gate: str
    """Name of the gate, or `expectations` for a suite. It becomes the reason of a `Rejection`."""
    detail: str

    def __str__(self) -> str:
        return f"{self.gate}: {self.detail}"
