"""The error of a missing extra."""

from collections.abc import Iterator
from contextlib import contextmanager

from sandmill.errors import InputError, Problem


@contextmanager
def require_learning() -> Iterator[None]:
    """Import torch and the packages around it, and name the extra if one is missing.

    Raises:
        InputError: if a package cannot be found.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        hint = "Install it with: pip install 'sandmill[learning]'"
        problem = Problem(f"package {error.name}", "no such package", "an installed package", hint)
        raise InputError("sandmill.learning", [problem], "") from error
