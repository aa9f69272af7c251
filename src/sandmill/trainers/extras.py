"""Errors of clients that are not installed."""

from collections.abc import Iterator
from contextlib import contextmanager

from sandmill.errors import require_extra


@contextmanager
def require(extra: str) -> Iterator[None]:
    """Import the packages of a client, and name its extra if one is missing.

    Raises:
        InputError: if a package cannot be found.
    """
    with require_extra(extra, f"sandmill.trainers.{extra}"):
        yield
