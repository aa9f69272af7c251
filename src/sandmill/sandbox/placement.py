"""Refuse to run a task whose files lie in a folder that every run can read: runs could read its answers."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from sandmill.errors import InputError, Problem
from sandmill.sandbox.view import is_inside

_MOUNTS = Path("/proc/self/mountinfo")
_ADVICE = "Move it to another folder. If it lies in the agent environment, move that instead"


def refuse_exposed(places: Mapping[str, Path], shown: tuple[Path, ...]) -> None:
    """Check that no run can read these paths through the folders that every run sees, also under another name.

    Args:
        places: absolute paths, by their name in messages. Paths that do not exist are ignored.
        shown: files and folders of the machine that every run can read.

    Raises:
        InputError: if a path lies in one of the shown folders.
    """
    problems = []
    mounts = _MOUNTS.read_bytes()
    for name, path in places.items():
        try:
            status = path.stat()
        except FileNotFoundError:
            continue
        if through := _find_exposing_folder(path, (status.st_dev, status.st_ino), shown, mounts):
            saw = f"{path}, which lies in {through}" if path.is_relative_to(through) else f"{path}, a part of {through}"
            problems.append(Problem(name, saw, "a place outside the folders that every run can read", _ADVICE))
    if problems:
        raise InputError("run", problems, "Nothing was run.")


@lru_cache(maxsize=4096)
def _find_exposing_folder(
    path: Path, identity: tuple[int, int], shown: tuple[Path, ...], mount_list: bytes
) -> Path | None:
    """Return the shown folder through which a path can be read, or None.

    The result is cached until the path is another folder or the list of mounts changes.
    """
    real, place = path.resolve(), _locate(path, _parse_mounts(mount_list))
    for tree in _locate_trees(shown, mount_list):
        is_part = place and any(place.is_inside(part) for part in tree.parts)
        if is_part or is_inside(real, (tree.path, tree.real)):
            return tree.path
    return None


@dataclass(frozen=True)
class _Place:
    """A folder in a file system, independent of where that is mounted."""

    device: str
    path: Path
    """Path from the root of the file system."""

    def is_inside(self, other: "_Place") -> bool:
        return self.device == other.device and self.path.is_relative_to(other.path)


@dataclass(frozen=True)
class _Mount:
    """A mount: the folder of the file system that is mounted, and where."""

    root: _Place
    at: Path


@dataclass(frozen=True)
class _Tree:
    """A file or folder that every run can read."""

    path: Path
    real: Path
    """The path with all links resolved."""
    parts: tuple[_Place, ...]
    """The folder itself and everything that is mounted below it."""


@lru_cache(maxsize=8)
def _locate_trees(shown: tuple[Path, ...], mount_list: bytes) -> tuple[_Tree, ...]:
    """Find the file systems in which shown files and folders lie, for one state of the list of mounts."""
    mounts = _parse_mounts(mount_list)
    found = []
    for path in shown:
        real, place = path.resolve(), _locate(path, mounts)
        inner = [mount.root for mount in mounts.values() if is_inside(mount.at, (path, real))]
        found.append(_Tree(path, real, tuple([place, *inner] if place else inner)))
    return tuple(found)


def _locate(path: Path, mounts: Mapping[int, _Mount]) -> _Place | None:
    """Find the place of a path in its file system. Returns None if its mount is not listed, as after a chroot."""
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
def _parse_mounts(mount_list: bytes) -> dict[int, _Mount]:
    """Parse the content of /proc/self/mountinfo. Returns mounts by their number."""
    found = {}
    for line in mount_list.splitlines():
        number, _, device, root, at, *_ = line.split()
        found[int(number)] = _Mount(_Place(device.decode(), _unescape(root)), _unescape(at))
    return found


def _unescape(field: bytes) -> Path:
    """Decode the octal escapes that mountinfo uses for spaces, line feeds and backslashes."""
    return Path(os.fsdecode(field.decode("unicode_escape").encode("latin-1") if b"\\" in field else field))
