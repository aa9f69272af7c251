"""What the solvers of a kind with answers of its own, such as pixels, are made of; see `calibrate.own_panel`."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from sandmill.kinds.library import load_texts
from sandmill.models.calibration import Rung, Tier


@dataclass(frozen=True)
class Entry:
    """A solver's place on the ladder."""

    name: str
    """Also the name of its function."""
    tier: Tier
    solve: Callable[[Any], Any] | None = None
    """The function itself, in panels of kinds."""


def entries(panel: str, solvers: Mapping[str, Callable[[Any], Any]] | None = None) -> tuple[Entry, ...]:
    """Return the entries of a panel of `panels.yaml`, weakest tier first, with their functions if these are given."""
    tiers: dict[str, str] = load_texts("panels.yaml")[panel]
    return tuple(
        Entry(name, Tier(tier), solvers[name] if solvers else None)
        for tier, names in tiers.items()
        for name in names.split()
    )


@dataclass(frozen=True)
class OwnScript:
    """A script that may be published with a task."""

    rung: Rung
    approach: str
    """What it does, as a clause."""
    source: str
