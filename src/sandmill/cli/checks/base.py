"""What a check returns."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class CheckResult:
    """The result of one check."""

    what: str
    status: Literal["ok", "info", "bad"]
    """`info` is optional; its absence is not an error."""
    saw: str
    do: str = ""
    """What to do next; empty if nothing is to be done."""
