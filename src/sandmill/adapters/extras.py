"""Errors of clients that are not installed."""

from collections.abc import Iterator
from contextlib import contextmanager

from sandmill.errors import InputError, Problem


@contextmanager
def require(extra: str) -> Iterator[None]:
    """Import the packages of a client, and name its extra if one is missing.

    Raises:
        InputError: if a package cannot be found.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        hint = f"Install it with: pip install 'sandmill[{extra}]'"
        problem = Problem(f"package {error.name}", "no such package", "an installed package", hint)
        raise InputError(f"sandmill.adapters.{extra}", [problem], "") from error
