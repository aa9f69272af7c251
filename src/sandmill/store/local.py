"""Files in a local folder. A file appears whole or not at all, whenever the process is killed."""

import errno
import os
import secrets
import shutil
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePath
from typing import BinaryIO

from sandmill.store.limits import MAX_DEPTH

STAGING = ".tmp"
"""Folder under the root where files are written before they get their name; hidden from every listing."""

STALE_SECONDS = 3600
"""A staged file older than this was left by a killed process: writing one takes seconds."""

OWNER_ONLY = frozenset({"private", "secret", "shards", "llm"})
"""Folders of a dataset that answers could be learnt from: they and all below are readable by their owner alone."""


@dataclass(frozen=True)
class LocalFiles:
    """One folder. Names beginning with a dot are never content."""

    root: Path

    def read(self, path: str, limit: int | None) -> bytes:
        """Return the whole content, or as much as shows that it is longer than `limit`."""
        with self.open(path) as file:
            return file.read(-1 if limit is None else limit + 1)

    def open(self, path: str) -> BinaryIO:
        """Open a regular file for reading at any position; a pipe or a device would block or never end."""
        descriptor = os.open(self.root / path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            os.close(descriptor)
            raise OSError(errno.EINVAL, "not a regular file")
        return os.fdopen(descriptor, "rb")

    def write(self, path: str, content: bytes, owner_only: bool) -> None:
        """Put content under a path, over what was there."""
        with self._staged(path, lambda file: file.write(content), owner_only) as staged:
            staged.replace(self._target(path))
        self._sync_folder(path)

    def create(self, path: str, content: bytes, owner_only: bool) -> bool:
        """Put content under a path unless something is there. A hard link is the one atomic way that has no race."""
        target = self._target(path)
        if target.exists():
            return False
        with self._staged(path, lambda file: file.write(content), owner_only) as staged:
            try:
                os.link(staged, target)
            except FileExistsError:
                return False
        self._sync_folder(path)
        return True

    def copy(self, source: str, target: str) -> None:
        """Copy in small blocks, so that size does not matter."""
        with (
            self.open(source) as original,
            self._staged(target, lambda file: shutil.copyfileobj(original, file), owner_only=False) as staged,
        ):
            staged.replace(self._target(target))
        self._sync_folder(target)

    def exists(self, path: str) -> bool:
        """Whether a file is there."""
        return (self.root / path).is_file()

    def size(self, path: str) -> int:
        """Bytes of a file."""
        return (self.root / path).stat().st_size

    def files(self, folder: str) -> list[str]:
        """Sorted paths of all files below a folder, relative to the root."""
        # With a list of folders to visit: `os.walk` calls itself for each level, and levels may be a stranger's.
        found, waiting = [], [folder]
        while waiting:
            here = waiting.pop()
            if here.count("/") > MAX_DEPTH:
                raise OSError(errno.ELOOP, f"more than {MAX_DEPTH} folders within each other")
            for entry in self._entries(here):
                inner = f"{here}/{entry.name}" if here else entry.name
                if not entry.is_dir():
                    found.append(inner)
                elif not entry.is_symlink():
                    waiting.append(inner)
        return sorted(found)

    def _entries(self, folder: str) -> list[os.DirEntry[str]]:
        """What lies directly in a folder; nothing if there is no such folder."""
        try:
            with os.scandir(self.root / folder) as entries:
                return [entry for entry in entries if not entry.name.startswith(".")]
        except FileNotFoundError:
            return []

    def folders(self, folder: str) -> list[str]:
        """Sorted names of the folders directly in a folder."""
        base = self.root / folder
        if not base.is_dir():
            return []
        return sorted(entry.name for entry in base.iterdir() if entry.is_dir() and not entry.name.startswith("."))

    def _target(self, path: str) -> Path:
        """Make the folders that a file lies in, and give its full path."""
        target = self.root / path
        if not target.parent.is_dir():
            self.root.mkdir(parents=True, exist_ok=True)
            for folder in reversed(PurePath(path).parents[:-1]):
                (self.root / folder).mkdir(mode=0o700 if _is_owner_only(folder) else 0o777, exist_ok=True)
        return target

    @contextmanager
    def _staged(self, path: str, fill: Callable[[BinaryIO], object], owner_only: bool) -> Iterator[Path]:
        """Write a hidden file down to the disk, lend it, and take away what is left of it.

        It has the mode of the path that it is for from the start, so that nobody can open it in between.
        """
        mode = 0o600 if owner_only or _is_owner_only(PurePath(path)) else 0o666
        staging = self.root / STAGING
        staging.mkdir(parents=True, exist_ok=True)
        self._is_swept  # noqa: B018  once, when there is a folder to sweep
        staged = staging / f"{os.getpid()}-{secrets.token_hex(8)}"
        try:
            descriptor = os.open(staged, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
            with os.fdopen(descriptor, "wb") as file:
                fill(file)
                file.flush()
                os.fsync(file.fileno())
            yield staged
        finally:
            staged.unlink(missing_ok=True)

    @cached_property
    def _is_swept(self) -> bool:
        """Take away what killed processes left, once: to look at all that is being written at each write is dear."""
        _sweep(self.root / STAGING)
        return True

    def _sync_folder(self, path: str) -> None:
        """Write the new name itself down to the disk, so that order survives a power cut."""
        descriptor = os.open((self.root / path).parent, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _is_owner_only(path: PurePath) -> bool:
    return not OWNER_ONLY.isdisjoint(path.parts)


def _sweep(staging: Path) -> None:
    oldest = time.time() - STALE_SECONDS
    for staged in staging.iterdir():
        try:
            if staged.stat().st_mtime < oldest:
                staged.unlink()
        except FileNotFoundError:
            continue  # another process finished or swept it
