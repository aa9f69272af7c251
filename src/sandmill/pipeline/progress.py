"""What a build says while it works."""

from collections.abc import Callable
from dataclasses import dataclass

from sandmill.models.base import Stage


@dataclass(frozen=True)
class Progress:
    """One step of one shard, as it ends."""

    shard: str
    stage: Stage
    slots: int
    """Slots of the shard."""
    filled: int
    """Slots that hold a verified task by now."""
    attempts: int
    rejected: int
    done: int = 0
    """Pieces of work of this wave's stage that have ended."""
    total: int = 0
    is_stored: bool = False
    """The shard is finished and kept; nothing more will be told of it."""
    task: str = ""
    """The task that was just verified, in a few words."""


Listener = Callable[[Progress], None]


def ignore(_: Progress) -> None:
    """Listen to nothing."""
