"""Size and age of stored files."""

from dataclasses import dataclass


@dataclass(frozen=True)
class StoredFile:
    """One file of a dataset, as a listing describes it."""

    path: str
    size: int
    modified: float
    """Seconds since 1970 of its last write, by the clock of the store."""
