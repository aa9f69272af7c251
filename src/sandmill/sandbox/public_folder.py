"""The folder of public files of a run: check it, make it readable, and identify it by its content."""

import hashlib
import json
import os
import shutil
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from sandmill.errors import InputError, Problem, shorten
from sandmill.models.names import MOST_FAULTS, path_faults
from sandmill.models.texts import DESCRIPTION, files_of_runs, hidden_texts

MOST_ENTRIES = 10_000
"""Largest number of files and folders in a public folder. Each is checked before every run."""
DEEPEST = 8

_PRIVATE = frozenset({"private", "secret", "shards", "answers.csv", "task.json", "manifest.json"})
"""Names of files and folders that only the grader or the owner of a release may see. A public folder holds none."""
_EXPECTED = "a folder of public files alone: regular files and folders, no links, no private names"
_HINT = "Pass the folder public/ of the task."


def check_public(public: Path) -> bool:
    """Check that a folder holds public files alone. Returns whether every user of the machine may read all of it.

    Raises:
        InputError: if the path is a link or not a folder, or if the folder holds a private name, a link, a special
            file, too many entries or too deep folders, at any depth.
    """
    try:
        status = public.lstat()
        if not stat.S_ISDIR(status.st_mode):
            saw = f"{public}, a symbolic link" if stat.S_ISLNK(status.st_mode) else f"{public}, which is not a folder"
            raise _refusal(saw)
        if (name := public.resolve().name) in _PRIVATE:
            raise _refusal(f"{public}, a folder called {name}")
        is_open = _is_open(status)
        for entry in _walk(public):
            is_open = _is_open(entry) and is_open
    except (OSError, ValueError) as error:
        # A path with a zero byte causes a ValueError.
        missing = isinstance(error, FileNotFoundError | NotADirectoryError)
        saw = "which does not exist" if missing else getattr(error, "strerror", None) or str(error)
        raise _refusal(f"{public}, {saw}") from None
    return is_open


def _walk(public: Path) -> Iterator[os.stat_result]:
    """Yield the status of every file and folder. Raises InputError at the first entry that is not allowed."""
    waiting = [(os.fspath(public), 1)]
    number = 0
    while waiting:
        folder, depth = waiting.pop()
        with os.scandir(folder) as entries:
            for entry in entries:
                number += 1
                status = entry.stat(follow_symlinks=False)
                if reason := _reason_to_refuse(entry.name, status.st_mode, depth, number):
                    raise _refusal(f"{public}, which holds {shorten(os.path.relpath(entry.path, public))}: {reason}")
                if stat.S_ISDIR(status.st_mode):
                    waiting.append((entry.path, depth + 1))
                yield status


def _reason_to_refuse(name: str, mode: int, depth: int, number: int) -> str:
    """Return why an entry is not allowed, or an empty string."""
    if name in _PRIVATE:
        return "a name of private files"
    if stat.S_ISLNK(mode):
        return "a symbolic link"
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        return "not a regular file"
    if depth > DEEPEST:
        return f"deeper than {DEEPEST} folders"
    return f"more than {MOST_ENTRIES} files and folders" if number > MOST_ENTRIES else ""


def _refusal(saw: str) -> InputError:
    return InputError("run", [Problem("public", saw, _EXPECTED, _HINT)], "Nothing was run.")


@contextmanager
def readable(public: Path, is_readable: bool) -> Iterator[Path]:
    """Yield the public folder, or a copy that every user may read if the run could not read the original."""
    if is_readable:
        yield public
        return
    with TemporaryDirectory(prefix="sandmill-public-") as name:
        copy = Path(name) / "public"
        shutil.copytree(public, copy, symlinks=True, copy_function=shutil.copyfile)
        for path in [copy, *copy.rglob("*")]:
            if not path.is_symlink():
                path.chmod(0o755 if path.is_dir() else 0o644)
        yield copy


def _is_open(status: os.stat_result) -> bool:
    needed = 0o5 if stat.S_ISDIR(status.st_mode) else 0o4
    return status.st_mode & needed == needed


def texts_of(public: Path) -> frozenset[str]:
    """Return the names of the texts of a checked public folder that stand in the prompt alone."""
    try:
        description = (public / DESCRIPTION).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return frozenset()
    return frozenset(name for name in hidden_texts(description) if (public / name).is_file())


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
    """Return the content of the files of a public folder that runs get, by their relative path."""
    paths = sorted(Path(top) / name for top, _, names in os.walk(folder) for name in names)
    return files_of_runs({str(path.relative_to(folder)): path.read_bytes() for path in paths})
