"""Refuse to run where a task's files lie in a folder that every run can read: its answers would be readable too."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from sandmill.errors import InputError, Problem
from sandmill.sandbox.view import is_inside

_MOUNTS = Path("/proc/self/mountinfo")
_ADVICE = "Move it, or the agent environment if that is the folder it lies in"


def refuse_exposed(places: Mapping[str, Path], shown: tuple[Path, ...]) -> None:
    """Check that no run could read these places through what it is shown, under whatever name.

    Args:
        places: absolute paths by what they are called in the message. Those that do not exist are passed over.
        shown: files and folders of the machine that every run can read.

    Raises:
        InputError: if one of the places lies in one of them.
    """
    problems = []
    mounts = _MOUNTS.read_bytes()
    for name, path in places.items():
        try:
            status = path.stat()
        except FileNotFoundError:
            continue
        if through := _exposing(path, (status.st_dev, status.st_ino), shown, mounts):
            saw = f"{path}, which lies in {through}" if path.is_relative_to(through) else f"{path}, a part of {through}"
            problems.append(Problem(name, saw, "a place outside the folders that every run can read", _ADVICE))
    if problems:
        raise InputError("run", problems, "Nothing was run.")


@lru_cache(maxsize=4096)
def _exposing(path: Path, identity: tuple[int, int], shown: tuple[Path, ...], listed: bytes) -> Path | None:
    """Name the shown folder through which a path can be reached, if there is one.

    It is looked up anew only if the path is another folder by now or the list of mounts has changed.
    """
    real, place = path.resolve(), _locate(path, _parse_mounts(listed))
    for tree in _locate_trees(shown, listed):
        is_part = place and any(place.is_inside(part) for part in tree.parts)
        if is_part or is_inside(real, (tree.path, tree.real)):
            return tree.path
    return None


@dataclass(frozen=True)
class _Place:
    """A folder, independent of where it is mounted."""

    device: str
    path: Path
    """From the root of the file system."""

    def is_inside(self, other: "_Place") -> bool:
        return self.device == other.device and self.path.is_relative_to(other.path)


@dataclass(frozen=True)
class _Mount:
    root: _Place
    at: Path


@dataclass(frozen=True)
class _Tree:
    path: Path
    real: Path
    """Without links on the way."""
    parts: tuple[_Place, ...]
    """Where it lies: its top, and whatever is mounted below it."""


@lru_cache(maxsize=8)
def _locate_trees(shown: tuple[Path, ...], listed: bytes) -> tuple[_Tree, ...]:
    """Find where shown files and folders lie, for one state of the list of mounts."""
    mounts = _parse_mounts(listed)
    found = []
    for path in shown:
        real, place = path.resolve(), _locate(path, mounts)
        inner = [mount.root for mount in mounts.values() if is_inside(mount.at, (path, real))]
        found.append(_Tree(path, real, tuple([place, *inner] if place else inner)))
    return tuple(found)


def _locate(path: Path, mounts: Mapping[int, _Mount]) -> _Place | None:
    """Find the place of a path in its file system; None if its mount is not listed, as in a changed root."""
    descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        facts = Path(f"/proc/self/fdinfo/{descriptor}").read_text().splitlines()
        real = Path(f"/proc/self/fd/{descriptor}").readlink()
    finally:
        os.close(descriptor)
    number = next(int(line.split()[1]) for line in facts if line.startswith("mnt_id:"))
    mount = mounts.get(number)
    if not mount or not real.is_relative_to(mount.at):
        return None
    return _Place(mount.root.device, mount.root.path / real.relative_to(mount.at))


@lru_cache(maxsize=8)
def _parse_mounts(listed: bytes) -> dict[int, _Mount]:
    """Read a list of mounts, as /proc/self/mountinfo gives it, by number."""
    found = {}
    for line in listed.splitlines():
        number, _, device, root, at, *_ = line.split()
        found[int(number)] = _Mount(_Place(device.decode(), _unescape(root)), _unescape(at))
    return found


def _unescape(field: bytes) -> Path:
    """Undo the escapes of spaces, line ends and backslashes, which are octal numbers."""
    return Path(os.fsdecode(field.decode("unicode_escape").encode("latin-1") if b"\\" in field else field))
