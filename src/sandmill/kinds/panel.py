"""What the solvers of a kind with answers of its own, such as pixels, are made of; see `calibrate.own_panel`."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from sandmill.models.calibration import Rung, Tier


@dataclass(frozen=True)
class Entry:
    """A solver's place on the ladder."""

    name: str
    """Also the name of its function."""
    tier: Tier
    solve: Callable[[Any], Any] | None = None
    """The function itself, in panels of kinds."""


def entries(tiers: Mapping[Tier, str], solvers: Mapping[str, Callable[[Any], Any]]) -> tuple[Entry, ...]:
    """Return the solvers of each tier, whose names are separated by spaces, as entries."""
    return tuple(Entry(name, tier, solve=solvers[name]) for tier, names in tiers.items() for name in names.split())


@dataclass(frozen=True)
class OwnScript:
    """A script that may be published with a task."""

    rung: Rung
    approach: str
    """What it does, as a clause."""
    source: str
