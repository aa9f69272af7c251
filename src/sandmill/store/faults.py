"""Errors of storage, with path, cause and remedy."""

from collections.abc import Iterator
from contextlib import contextmanager

from sandmill.errors import SandmillError, StoreError


class FileMissing(StoreError):
    """Nothing is stored under this path."""


class NewerFormat(StoreError):
    """A release was written by a newer Sandmill. Exit code 2, since another release or version is needed."""

    exit_code = 2


class AccessDenied(StoreError):
    """Permissions forbid access to this path. Callers fall back to the public half of a release."""


@contextmanager
def storage_faults(where: str) -> Iterator[None]:
    """Convert errors of the operating system or S3 on `where` to StoreError.

    Raises:
        FileMissing: it does not exist.
        AccessDenied: permissions forbid access.
        StoreError: for any other error, with its cause.
    """
    try:
        yield
    except SandmillError:
        raise
    except FileNotFoundError as error:
        raise FileMissing(f"{where}: nothing is stored here") from error
    except PermissionError as error:
        raise AccessDenied(f"{where}: access denied ({_say(error)}). Check the permissions or credentials.") from error
    except OSError as error:
        raise StoreError(f"{where}: {_say(error)}") from error


def _say(error: OSError) -> str:
    return error.strerror or str(error) or type(error).__name__
