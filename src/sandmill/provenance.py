"""Versions of the code that makes tasks: the library's own files and the numeric libraries."""

from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from importlib.resources import as_file, files

from sandmill.fingerprint import digest, fingerprint

_NUMERIC = ("numpy", "scipy", "pandas", "polars", "scikit-learn", "mimesis")
"""Libraries whose version may change the bytes of a task."""


def numeric_versions() -> dict[str, str]:
    """Return the installed versions of these libraries."""
    found: dict[str, str] = {}
    for name in _NUMERIC:
        with suppress(PackageNotFoundError):
            found[name] = version(name)
    return found


def code_version(suites: Mapping[str, bytes]) -> str:
    """Return a fingerprint of the code that makes shards: 12 hexadecimal digits.

    The suites are part of it, since they decide which packages pass.
    """
    hashes = {name: digest(content) for name, content in suites.items()}
    return fingerprint({"library": library_digest(), "numeric": numeric_versions(), "suites": hashes})[:12]


@cache
def library_digest() -> str:
    """Return a fingerprint of the installed library's files."""
    with as_file(files("sandmill")) as folder:
        # The samples are data.
        wanted = [
            path for path in folder.rglob("*") if path.suffix in (".py", ".yaml", ".md", ".txt") and path.is_file()
        ]
        paths = [path for path in wanted if path.relative_to(folder).parts[0] != "samples"]
        return fingerprint({path.relative_to(folder).as_posix(): digest(path.read_bytes()) for path in paths})
