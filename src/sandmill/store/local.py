"""Files in a local folder. Writes are atomic, even if the process is killed."""

import errno
import os
import secrets
import shutil
import stat
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePath
from typing import BinaryIO

from sandmill.store.faults import storage_faults
from sandmill.store.limits import MAX_DEPTH
from sandmill.store.stored import StoredFile

STAGING = ".tmp"
"""Folder under the root where files are written before they are renamed. Listings leave it out."""

STALE_SECONDS = 3600
"""Age from which on a temporary file or folder is a leftover of a killed process. Writing one takes seconds."""

OWNER_ONLY = frozenset({"private", "secret", "shards", "llm"})
"""Folders from which answers could be learnt. Only their owner may read them and their content."""


@dataclass(frozen=True)
class LocalFiles:
    """One folder. Names that begin with a dot are not content."""

    root: Path
    faults = staticmethod(storage_faults)

    def read(self, path: str, limit: int | None) -> bytes:
        """Return the whole content, or `limit` + 1 bytes if it is longer than `limit`."""
        with self.open(path) as file:
            return file.read(-1 if limit is None else limit + 1)

    def read_start(self, path: str, most: int) -> bytes:
        """Return at most the first `most` bytes of a regular file."""
        with self.open(path) as file:
            return file.read(most)

    def open(self, path: str, size: int | None = None) -> BinaryIO:
        """Open a regular file for reading. Pipes and devices are refused, since they may block."""
        descriptor = os.open(self.root / path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            os.close(descriptor)
            raise OSError(errno.EINVAL, "not a regular file")
        return os.fdopen(descriptor, "rb")

    def write(self, path: str, content: bytes, owner_only: bool) -> None:
        """Write a file, replacing an older one."""
        with self._staged(path, lambda file: file.write(content), owner_only) as staged:
            staged.replace(self._target(path))
        self._sync_folder(path)

    def create(self, path: str, content: bytes, owner_only: bool) -> bool:
        """Write a file unless it exists. A hard link is the only way without a race."""
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
        """Copy in small blocks."""
        with (
            self.open(source) as original,
            self._staged(target, lambda file: shutil.copyfileobj(original, file), owner_only=False) as staged,
        ):
            staged.replace(self._target(target))
        self._sync_folder(target)

    def remove(self, path: str) -> None:
        """Remove a file, if it is there, and the folders that it leaves empty."""
        (self.root / path).unlink(missing_ok=True)
        for folder in PurePath(path).parents[:-1]:
            try:
                (self.root / folder).rmdir()
            except OSError:
                return

    def exists(self, path: str) -> bool:
        """Whether a file is there."""
        return (self.root / path).is_file()

    def size(self, path: str) -> int:
        """Bytes of a file."""
        return (self.root / path).stat().st_size

    def files(self, folder: str) -> list[str]:
        """Sorted paths of all files below a folder, relative to the root."""
        # `os.walk` is recursive, and the depth of a stranger's folders is not known.
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

    def details(self, folder: str) -> list[StoredFile]:
        """Return size and age of all files below a folder, in the order of their paths."""
        return list(self._describe(self.files(folder)))

    def staging(self) -> list[StoredFile]:
        """Return the temporary files of writers, dead or alive."""
        found = self.root / STAGING
        names = sorted(path.name for path in found.iterdir()) if found.is_dir() else []
        return list(self._describe([f"{STAGING}/{name}" for name in names]))

    def remove_staging(self, path: str) -> None:
        """Remove one temporary file."""
        (self.root / path).unlink(missing_ok=True)

    def _describe(self, paths: Iterable[str]) -> Iterator[StoredFile]:
        for path in paths:
            with suppress(FileNotFoundError):  # another process removed it
                found = (self.root / path).lstat()
                yield StoredFile(path, found.st_size, found.st_mtime)

    def _entries(self, folder: str) -> list[os.DirEntry[str]]:
        """Return the entries of a folder; none if it does not exist or is a file."""
        try:
            with os.scandir(self.root / folder) as entries:
                return [entry for entry in entries if not entry.name.startswith(".")]
        except (FileNotFoundError, NotADirectoryError):
            return []

    def folders(self, folder: str) -> list[str]:
        """Sorted names of the folders directly in a folder."""
        return sorted(entry.name for entry in self._entries(folder) if entry.is_dir())

    def _target(self, path: str) -> Path:
        """Make the parent folders of a file, and return its full path."""
        target = self.root / path
        if not target.parent.is_dir():
            self.root.mkdir(parents=True, exist_ok=True)
            for folder in reversed(PurePath(path).parents[:-1]):
                (self.root / folder).mkdir(mode=0o700 if _is_owner_only(folder) else 0o777, exist_ok=True)
        return target

    @contextmanager
    def _staged(self, path: str, fill: Callable[[BinaryIO], object], owner_only: bool) -> Iterator[Path]:
        """Write and sync a hidden file, yield its path, and remove it at the end.

        It has the final mode from the start, so that no other user can open it.
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
        """Remove leftovers of killed processes, once, since a scan at each write would be slow."""
        for left in leftovers((self.root / STAGING).iterdir()):
            left.unlink(missing_ok=True)
        return True

    def _sync_folder(self, path: str) -> None:
        """Sync the folder, so that the new name survives a power cut."""
        descriptor = os.open((self.root / path).parent, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _is_owner_only(path: PurePath) -> bool:
    return not OWNER_ONLY.isdisjoint(path.parts)


def leftovers(paths: Iterable[Path]) -> Iterator[Path]:
    """Yield the temporary files or folders that a killed process left."""
    for path in paths:
        with suppress(FileNotFoundError):  # another process finished or swept it
            if path.stat().st_mtime < time.time() - STALE_SECONDS:
                yield path
