"""Refuse to run a task whose files lie in a folder that every run can read: runs could read its answers.

A *place* is a path in a file system, independent of where that is mounted. It begins with the number of the device, as
in `8:1/home/task`.
"""

import os
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

from sandmill.errors import InputError, Problem
from sandmill.sandbox.view import is_inside

_MOUNTS = Path("/proc/self/mountinfo")
_ADVICE = "Move it to another folder. If it lies in the agent environment, move that instead"


def refuse_exposed(places: Mapping[str, Path], shown: tuple[Path, ...]) -> None:
    """Check that no run can read these paths through the folders that every run sees, also under another name.

    `places` are absolute paths, by their name in messages. Paths that do not exist are ignored.

    Raises:
        InputError: if a path lies in one of the shown files and folders.
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
    for tree, (names, parts) in _locate_trees(shown, mount_list).items():
        if is_inside(real, names) or (place and is_inside(place, parts)):
            return tree
    return None


@lru_cache(maxsize=8)
def _locate_trees(shown: tuple[Path, ...], mount_list: bytes) -> dict[Path, tuple[list[Path], list[Path]]]:
    """Return, for each shown path, its names without and with links resolved, and its places.

    Its places are its own and those of everything that is mounted below it.
    """
    mounts, found = _parse_mounts(mount_list), {}
    for path in shown:
        names, place = [path, path.resolve()], _locate(path, mounts)
        inner = [root for root, at in mounts.values() if is_inside(at, names)]
        found[path] = names, [place, *inner] if place else inner
    return found


def _locate(path: Path, mounts: Mapping[int, tuple[Path, Path]]) -> Path | None:
    """Find the place of a path. Returns None if its mount is not listed, as after a chroot."""
    descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        facts = Path(f"/proc/self/fdinfo/{descriptor}").read_text().splitlines()
        real = Path(f"/proc/self/fd/{descriptor}").readlink()
    finally:
        os.close(descriptor)
    number = next(int(line.split()[1]) for line in facts if line.startswith("mnt_id:"))
    root, at = mounts.get(number, (None, Path("/")))
    return root / real.relative_to(at) if root and real.is_relative_to(at) else None


@lru_cache(maxsize=8)
def _parse_mounts(mount_list: bytes) -> dict[int, tuple[Path, Path]]:
    """Parse the content of /proc/self/mountinfo. Returns the mounted place and the mount point by number."""
    found = {}
    for line in mount_list.splitlines():
        number, _, device, root, at, *_ = line.split()
        found[int(number)] = Path(f"{device.decode()}/{_unescape(root)}"), _unescape(at)
    return found


def _unescape(field: bytes) -> Path:
    """Decode the octal escapes that mountinfo uses for spaces, line feeds and backslashes."""
    return Path(os.fsdecode(field.decode("unicode_escape").encode("latin-1") if b"\\" in field else field))
