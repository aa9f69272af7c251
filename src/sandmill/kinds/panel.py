"""What the solvers of a kind with answers of its own, such as pixels, are made of; see `calibrate.own_panel`."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from sandmill.models.calibration import Rung, Tier


@dataclass(frozen=True)
class Entry:
    """A solver's place on the ladder."""

    name: str
    """Also the name of its function."""
    tier: Tier
    decision: str = "decide"
    """Function that turns its scores into an answer."""
    solve: Callable[[Any], Any] | None = None
    """The function itself, in panels of kinds."""


def entries(tiers: Mapping[Tier, Iterable[Callable[[Any], Any]]]) -> tuple[Entry, ...]:
    """Return the solvers of each tier as entries."""
    return tuple(Entry(solver.__name__, tier, solve=solver) for tier, solvers in tiers.items() for solver in solvers)


@dataclass(frozen=True)
class OwnScript:
    """A script that may be published with a task."""

    rung: Rung
    approach: str
    """What it does, as a clause."""
    source: str
