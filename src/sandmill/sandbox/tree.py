"""Folder trees of any depth, read and written with a few descriptors and without keeping their paths.

What an agent's code leaves may be deep, and paths in it longer than the kernel takes in one call. So a folder is opened
from the root, name by name and never through a link, and a path is remembered as a hash of fixed size.
"""

import os
import stat
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from hashlib import blake2b
from itertools import count
from pathlib import Path

FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_KEY_BYTES = 16


@dataclass(frozen=True, slots=True, eq=False)
class Folder:
    """A place in a tree."""

    parent: "Folder | None"
    name: str
    depth: int
    prefix_bytes: int
    """Length of the path of the folder with the slash that follows it."""
    key: bytes

    def key_of(self, name: str) -> bytes:
        """Hash the path of an entry: equal for equal paths, whichever tree they are in."""
        return blake2b(os.fsencode(name), key=self.key, digest_size=_KEY_BYTES).digest()

    def child(self, name: str) -> "Folder":
        """Give the folder of this name in this one."""
        length = self.prefix_bytes + len(os.fsencode(name)) + 1
        return Folder(self, name, self.depth + 1, length, self.key_of(name))

    def path_of(self, name: str) -> str:
        """Spell the path of an entry out."""
        names, at = [name], self
        while at.parent:
            names.append(at.name)
            at = at.parent
        return "/".join(reversed(names))


ROOT = Folder(None, "", 0, 0, b"")


class Tree:
    """Opens the folders below a root, which stays the caller's. Holds one descriptor of its own between two calls."""

    def __init__(self, root: int) -> None:
        self._root = root
        self._near, self._near_at = ROOT, root
        """The parent of the folder that was opened last: most often the next one lies in it or close to it."""

    @contextmanager
    def open(self, folder: Folder) -> Iterator[int]:
        """Open a folder.

        Raises:
            OSError: if it is not there, is no folder (a link is none), or may not be read.
        """
        if folder.parent is None:
            yield self._root
            return
        descriptor = os.open(folder.name, FOLDER, dir_fd=self._approach(folder.parent))
        try:
            yield descriptor
        finally:
            os.close(descriptor)

    def remove(self, folder: Folder) -> None:
        """Remove a folder that is empty.

        Raises:
            OSError: if it is not empty or cannot be removed.
        """
        if folder.parent:
            os.rmdir(folder.name, dir_fd=self._approach(folder.parent))

    def close(self) -> None:
        """Let go of the descriptor in between."""
        self._hold(ROOT, self._root)

    def _approach(self, folder: Folder) -> int:
        """Open a folder and hold it in place of the one that was held."""
        names: list[str] = []
        at = folder
        while at is not self._near and at.parent:
            names.append(at.name)
            at = at.parent
        start = self._near_at if at is self._near else self._root
        current = start
        for name in reversed(names):
            try:
                inner = os.open(name, FOLDER, dir_fd=current)
            finally:
                if current != start:
                    os.close(current)
            current = inner
        self._hold(folder, current)
        return current

    def _hold(self, folder: Folder, descriptor: int) -> None:
        if self._near_at not in (self._root, descriptor):
            os.close(self._near_at)
        self._near, self._near_at = folder, descriptor


def list_names(folder: int, most_bytes: int) -> tuple[list[str], int, int]:
    """List a folder in order, as far as the names have no more bytes together than that.

    Returns:
        The names, their bytes, and how many names were passed over.
    """
    names: list[str] = []
    size = passed = 0
    with os.scandir(folder) as entries:
        for entry in entries:
            length = len(os.fsencode(entry.name))
            if size + length > most_bytes:
                passed += 1
            else:
                size += length
                names.append(entry.name)
    return sorted(names), size, passed


def remove_tree(path: Path) -> None:
    """Remove a folder and what is in it, as far as that can be removed; never an exception.

    `shutil.rmtree` goes one call and one descriptor deeper for each level, and fails in a tree that is deep enough.
    Here a folder in a folder is moved up to the root before its parent is removed, so nothing is ever deep.
    """
    with suppress(OSError):
        path.chmod(0o700)
        root = os.open(path, FOLDER)
        try:
            token = os.urandom(8).hex()
            waiting = deque(_unlink_files(root))
            for number in count():
                if not waiting:
                    break
                name = waiting.popleft()
                with suppress(OSError):
                    inner = os.open(name, FOLDER, dir_fd=root)
                    try:
                        for position, folder in enumerate(_unlink_files(inner)):
                            moved = f"{token}-{number}-{position}"
                            os.rename(folder, moved, src_dir_fd=inner, dst_dir_fd=root)
                            waiting.append(moved)
                    finally:
                        os.close(inner)
                    os.rmdir(name, dir_fd=root)
        finally:
            os.close(root)
        path.rmdir()


def _unlink_files(folder: int) -> list[str]:
    """Remove all files of a folder, and unlock and list its folders."""
    folders: list[str] = []
    for name in os.listdir(folder):
        with suppress(OSError):
            if stat.S_ISDIR(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
                os.chmod(name, 0o700, dir_fd=folder)
                folders.append(name)
            else:
                os.unlink(name, dir_fd=folder)
    return folders
