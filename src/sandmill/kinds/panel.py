"""What the solvers of a kind with answers of its own, such as pixels, are made of; see `calibrate.own_panel`."""

from dataclasses import dataclass

from sandmill.models.calibration import Rung, Tier


@dataclass(frozen=True)
class Entry:
    """A solver's place on the ladder."""

    name: str
    """Also the name of its function."""
    tier: Tier
    decision: str = "decide"
    """Function that turns its scores into an answer."""


@dataclass(frozen=True)
class OwnScript:
    """A script that may be published with a task."""

    rung: Rung
    approach: str
    """What it does, as a clause."""
    source: str
