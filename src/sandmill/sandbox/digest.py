"""Identify a public folder by its content, so that a remote server stores each folder once."""

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path

from sandmill.errors import InputError, Problem
from sandmill.models.names import MOST_FAULTS, path_faults


def digest_of(files: Mapping[str, bytes]) -> str:
    """Return the SHA-256 hash of the paths and contents of all files."""
    listing = {path: hashlib.sha256(content).hexdigest() for path, content in files.items()}
    return hashlib.sha256(json.dumps(listing, sort_keys=True).encode()).hexdigest()


def check_names(files: Mapping[str, bytes]) -> None:
    """Raise an `InputError` if a path cannot be a file of a public folder on a server."""
    if faults := list(path_faults(files)):
        expected = "paths that are files on every file system"
        raise InputError("run", [Problem("public", f, expected) for f in faults[:MOST_FAULTS]], "Nothing was run.")


def read_folder(folder: Path) -> dict[str, bytes]:
    """Return the content of all files of a folder, by their relative path. The folder holds no links."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in _files(folder)}


def stamp_of(folder: Path) -> tuple[tuple[object, ...], ...]:
    """Return path, size, change time and inode number of all files. Equal stamps mean equal content."""
    found = []
    for path in _files(folder):
        status = path.stat()
        found.append((str(path.relative_to(folder)), status.st_size, status.st_ctime_ns, status.st_ino))
    return tuple(found)


def _files(folder: Path) -> list[Path]:
    return sorted(Path(top) / name for top, _, names in os.walk(folder) for name in names)
