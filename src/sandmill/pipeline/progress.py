"""Progress of a build, as a listener receives it."""

from collections.abc import Callable
from dataclasses import dataclass

from sandmill.models.base import Stage


@dataclass(frozen=True)
class Progress:
    """State of one shard when a piece of its work ends."""

    shard: str
    stage: Stage
    """The last stage that the piece of work reached."""
    slots: int
    """Slots of the shard."""
    filled: int
    """Slots that hold a verified task."""
    attempts: int
    rejected: int
    done: int = 0
    """Pieces of work of this wave that have ended, of `total`."""
    total: int = 0
    is_stored: bool = False
    """The shard is finished and kept. This is its last report."""
    task: str = ""
    """The task that was just verified: id, domain, band, difficulty."""


Listener = Callable[[Progress], None]
