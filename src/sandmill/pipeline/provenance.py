"""Versions of the code that makes tasks: the library's own files and the numeric libraries."""

from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from importlib.resources import files
from importlib.resources.abc import Traversable

from sandmill.fingerprint import digest, fingerprint

_NUMERIC = ("numpy", "scipy", "pandas", "polars", "scikit-learn", "mimesis")
"""Libraries whose version may change the bytes of a task."""


def numeric_versions() -> dict[str, str]:
    """Return the installed versions of the libraries that may change the numbers of a task."""
    found: dict[str, str] = {}
    for name in _NUMERIC:
        with suppress(PackageNotFoundError):
            found[name] = version(name)
    return found


def code_version(suites: Mapping[str, bytes]) -> str:
    """Return a fingerprint of the code that makes shards: 12 hexadecimal digits.

    Args:
        suites: expectation suites by name, since they decide which packages pass.
    """
    return fingerprint(
        {
            "library": _library_digest(),
            "numeric": numeric_versions(),
            "suites": {name: digest(content) for name, content in suites.items()},
        }
    )[:12]


def library_version() -> str:
    """Return a fingerprint of the installed library's files: 12 hexadecimal digits."""
    return _library_digest()[:12]


@cache
def _library_digest() -> str:
    contents = {path: digest(file.read_bytes()) for path, file in _walk(files("sandmill"), "")}
    return fingerprint(contents)


def _walk(folder: Traversable, prefix: str) -> list[tuple[str, Traversable]]:
    found: list[tuple[str, Traversable]] = []
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        path = f"{prefix}{entry.name}"
        if entry.is_dir() and entry.name != "__pycache__":
            found += _walk(entry, f"{path}/")
        elif entry.name.endswith((".py", ".yaml", ".md")):
            found.append((path, entry))
    return found
