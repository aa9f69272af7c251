"""Who decides about an unfinished version: the run that publishes it, or garbage collection. The first one wins.

Either creates `endings/<version>` before its last step: the run before the manifest, garbage collection before it
removes a file. A file is created at most once, so a published version never loses a part, however slow the run is.
"""

from enum import StrEnum

from sandmill.errors import StoreError
from sandmill.store.files import Store

FOLDER = "endings"


class VersionEnding(StrEnum):
    """What an unfinished version becomes."""

    PUBLISHED = "published"
    REMOVED = "removed"


def decide_ending(store: Store, version: str, wanted: VersionEnding) -> bool:
    """Return whether this ending stands, by this call or an earlier one. The other ending stands otherwise."""
    path = f"{FOLDER}/{version}"
    return store.create(path, wanted.encode()) or store.read(path, limit=64) == wanted.encode()


def require_ending(store: Store, version: str, wanted: VersionEnding) -> None:
    """Decide an ending.

    Raises:
        StoreError: garbage collection has decided otherwise.
    """
    if not decide_ending(store, version, wanted):
        raise StoreError(
            f"{store.where(version)}: garbage collection removed this unfinished version, because nothing was "
            "written to it for longer than --older-than. Run the same command again: it takes a new number."
        )


def was_removed(store: Store, version: str) -> bool:
    """Whether garbage collection has decided about a version. A run with equal content then takes another number."""
    path = f"{FOLDER}/{version}"
    return store.exists(path) and store.read(path, limit=64) == VersionEnding.REMOVED.encode()
