"""Read, write and remove folder trees of any depth with few descriptors and little memory.

An agent's code can create paths that are longer than the kernel accepts in one call. So a folder is opened from the
root, name by name and never through a link, and a path is stored as a hash of fixed size.
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
"""Flags that open a folder, and nothing else, without following a link."""
_KEY_BYTES = 16


@dataclass(frozen=True, slots=True, eq=False)
class Folder:
    """A folder in a tree, linked to its parent."""

    parent: "Folder | None"
    name: str
    depth: int
    prefix_bytes: int
    """Length of the folder's path, including the slash at its end."""
    key: bytes
    """Hash of the folder's path."""

    def key_of(self, name: str) -> bytes:
        """Return the hash of an entry's path. Equal relative paths in different trees have equal hashes."""
        return blake2b(os.fsencode(name), key=self.key, digest_size=_KEY_BYTES).digest()

    def child(self, name: str) -> "Folder":
        """Return the folder of this name in this folder."""
        length = self.prefix_bytes + len(os.fsencode(name)) + 1
        return Folder(self, name, self.depth + 1, length, self.key_of(name))

    def path_of(self, name: str) -> str:
        """Return the path of an entry, relative to the root."""
        names, at = [name], self
        while at.parent:
            names.append(at.name)
            at = at.parent
        return "/".join(reversed(names))


ROOT = Folder(None, "", 0, 0, b"")


class Tree:
    """Opens the folders below a root descriptor, which the caller owns. Keeps at most one more descriptor open."""

    def __init__(self, root: int) -> None:
        self._root = root
        self._near, self._near_at = ROOT, root
        """Parent of the folder that was opened last, and its descriptor. The next folder often lies close to it."""

    @contextmanager
    def open(self, folder: Folder) -> Iterator[int]:
        """Open a folder.

        Raises:
            OSError: if the folder does not exist or may not be read, or if it is something else, such as a link.
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
        """Remove an empty folder.

        Raises:
            OSError: if the folder is not empty or cannot be removed.
        """
        if folder.parent:
            os.rmdir(folder.name, dir_fd=self._approach(folder.parent))

    def close(self) -> None:
        """Close the kept descriptor."""
        self._hold(ROOT, self._root)

    def _approach(self, folder: Folder) -> int:
        """Open a folder, keep its descriptor, and close the one that was kept before."""
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
    """List the names in a folder, up to `most_bytes` bytes of names.

    Returns:
        The sorted names, their total bytes, and how many names were skipped.
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
    """Remove a folder and its contents. Entries that cannot be removed stay; no exception is raised.

    `shutil.rmtree` recurses and opens a descriptor for each level, so it fails in a very deep tree. This function moves
    each inner folder up to the root before it removes the parent, so the depth stays constant.
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
    """Remove all files of a folder, make its inner folders writable, and return their names."""
    folders: list[str] = []
    for name in os.listdir(folder):
        with suppress(OSError):
            if stat.S_ISDIR(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
                os.chmod(name, 0o700, dir_fd=folder)
                folders.append(name)
            else:
                os.unlink(name, dir_fd=folder)
    return folders
