"""File operations for local folders and S3 behind one interface. Writes are atomic, even if the process is killed."""

import builtins
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
from pathlib import Path, PurePath, PurePosixPath
from typing import TYPE_CHECKING, BinaryIO

from sandmill.errors import SandmillError, StoreError
from sandmill.store.limits import MAX_DEPTH

if TYPE_CHECKING:
    from sandmill.store.bucket import BucketFiles


class FileMissing(StoreError):
    """Nothing is stored under this path."""


class NewerFormat(StoreError):
    """A release was written by a newer Sandmill. Exit code 2, since another release or version is needed."""

    exit_code = 2


class AccessDenied(StoreError):
    """Permissions forbid access to this path. Callers fall back to the public half of a release."""


@contextmanager
def storage_faults(where: str) -> Iterator[None]:
    """Convert errors of the operating system or S3 on `where` to StoreError.

    Raises:
        FileMissing: it does not exist.
        AccessDenied: permissions forbid access.
        StoreError: for any other error, with its cause.
    """
    try:
        yield
    except SandmillError:
        raise
    except FileNotFoundError as error:
        raise FileMissing(f"{where}: nothing is stored here") from error
    except OSError as error:
        cause = error.strerror or str(error) or type(error).__name__
        if isinstance(error, PermissionError):
            said = f"{where}: access denied ({cause}). Check the permissions or credentials."
            raise AccessDenied(said) from error
        raise StoreError(f"{where}: {cause}") from error


@dataclass(frozen=True)
class StoredFile:
    """One file of a dataset, as a listing describes it."""

    path: str
    size: int
    modified: float
    """Seconds since 1970 of its last write, by the clock of the store."""


def cache_folder() -> Path:
    """Return the folder of the cache: `$SANDMILL_CACHE`, or `sandmill` in the user's cache folder."""
    if given := os.environ.get("SANDMILL_CACHE"):
        return Path(given).absolute()
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return cache.absolute() / "sandmill"


STAGING = ".tmp"
"""Folder under the root where files are written before they are renamed. Listings leave it out."""

STALE_SECONDS = 3600
"""Age from which on a temporary file or folder is a leftover of a killed process. Writing one takes seconds."""

OWNER_ONLY = frozenset({"private", "secret", "shards", "llm"})
"""Folders from which answers could be learnt. Only their owner may read them and their content."""


@dataclass(frozen=True)
class _LocalFiles:
    """One folder. Names that begin with a dot are not content. Methods are those of `Store`."""

    root: Path
    faults = staticmethod(storage_faults)

    def read(self, path: str, most: int | None) -> bytes:
        with self.open(path) as file:
            return file.read(-1 if most is None else most)

    def open(self, path: str) -> BinaryIO:
        """Open a regular file. Pipes and devices are refused, since they may block."""
        descriptor = os.open(self.root / path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            os.close(descriptor)
            raise OSError(errno.EINVAL, "not a regular file")
        return os.fdopen(descriptor, "rb")

    def write(self, path: str, content: bytes, owner_only: bool) -> None:
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
        with (
            self.open(source) as original,
            self._staged(target, lambda file: shutil.copyfileobj(original, file), owner_only=False) as staged,
        ):
            staged.replace(self._target(target))
        self._sync_folder(target)

    def remove(self, path: str) -> None:
        """Remove a file, if it is there, and the folders that it leaves empty."""
        (self.root / path).unlink(missing_ok=True)
        with suppress(OSError):
            for folder in PurePath(path).parents[:-1]:
                (self.root / folder).rmdir()

    def exists(self, path: str) -> bool:
        return (self.root / path).is_file()

    def size(self, path: str) -> int:
        return (self.root / path).stat().st_size

    def details(self, folder: str) -> list[StoredFile]:
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
        described = []
        for path in sorted(found):
            with suppress(FileNotFoundError):  # another process removed it
                noted = (self.root / path).lstat()
                described.append(StoredFile(path, noted.st_size, noted.st_mtime))
        return described

    def folders(self, folder: str) -> list[str]:
        return sorted(entry.name for entry in self._entries(folder) if entry.is_dir())

    def _entries(self, folder: str) -> list[os.DirEntry[str]]:
        try:
            with os.scandir(self.root / folder) as entries:
                return [entry for entry in entries if not entry.name.startswith(".")]
        except (FileNotFoundError, NotADirectoryError):
            return []

    def _target(self, path: str) -> Path:
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


@dataclass(frozen=True)
class Store:
    """The files of one dataset, rooted at `<root>/<dataset>`: a local folder or `s3://bucket/prefix`.

    Every operation raises StoreError with the path and the cause: FileMissing if nothing is there, AccessDenied if
    permissions forbid it. Nothing is cached, so that other processes' writes are seen at once. Safe to share between
    threads, to pickle and to fork.
    """

    root: str
    ref: str = ""
    """Reference of the version that was asked for, where `<root>@<version>` names a copy on this machine alone."""

    def __post_init__(self) -> None:
        if not self.root.endswith("://"):
            object.__setattr__(self, "root", self.root.rstrip("/") or "/")
        self.backend  # noqa: B018  raises for a bad scheme now, not at first use

    @cached_property
    def backend(self) -> "_LocalFiles | BucketFiles":
        """The backend for the root. Its paths are relative, with forward slashes; the empty path is the root."""
        scheme, separator, rest = self.root.partition("://")
        if not separator:
            return _LocalFiles(Path(self.root).expanduser())
        if scheme == "file":
            return _LocalFiles(Path(rest))
        bucket, _, prefix = rest.partition("/")
        if scheme not in ("s3", "s3a") or not bucket:
            raise StoreError(f"{self.root}: cannot store here; expected a local folder or s3://bucket/prefix")
        from sandmill.store.bucket import BucketFiles

        return BucketFiles(bucket, prefix.strip("/"))

    def where(self, path: str = "") -> str:
        """Full name of a path, for messages."""
        return f"{self.root}/{path}" if path else self.root

    @contextmanager
    def _checked(self, path: str) -> Iterator[str]:
        with self.backend.faults(self.where(path)):
            yield _relative(path)

    def read(self, path: str, limit: int | None = None) -> bytes:
        """Return the whole content of a file. One with more bytes than `limit` raises StoreError."""
        with self._checked(path) as place:
            content = self.backend.read(place, None if limit is None else limit + 1)
            if limit is not None and len(content) > limit:
                raise StoreError(f"{self.where(path)}: more than {limit} bytes, so it was not read")
            return content

    def read_start(self, path: str, most: int) -> bytes:
        """Return at most the first `most` bytes of a file; on S3 by one request."""
        with self._checked(path) as place:
            return self.backend.read(place, most)

    def open(self, path: str) -> BinaryIO:
        """Open a file for reading at any position, so that Parquet readers fetch only what they need."""
        with self._checked(path) as place:
            return self.backend.open(place)

    def write(self, path: str, content: bytes, *, owner_only: bool = False) -> None:
        """Write a file atomically, replacing an older one."""
        with self._checked(path) as place:
            self.backend.write(place, content, owner_only)

    def create(self, path: str, content: bytes, *, owner_only: bool = False) -> bool:
        """Write a file unless it exists, and return whether this call made it. If not, the existing one is complete.

        If several processes try at once, one succeeds.
        """
        with self._checked(path) as place:
            return self.backend.create(place, content, owner_only)

    def copy(self, source: str, target: str) -> None:
        """Copy within the dataset without bringing the content into memory; on S3 the server copies."""
        with self._checked(source) as place:
            self.backend.copy(place, _relative(target))

    def remove(self, path: str) -> None:
        """Remove a file. A file that is gone already is no error."""
        with self._checked(path) as place:
            self.backend.remove(place)

    def exists(self, path: str) -> bool:
        """Whether a file is there."""
        with self._checked(path) as place:
            return self.backend.exists(place)

    def size(self, path: str) -> int:
        """Bytes of a file."""
        with self._checked(path) as place:
            return self.backend.size(place)

    def list(self, prefix: str = "") -> builtins.list[str]:
        """Sorted paths of all files below a folder, relative to the root; empty if there is no such folder."""
        return [file.path for file in self.details(prefix)]

    def details(self, prefix: str = "") -> builtins.list[StoredFile]:
        """Return size and age of all files below a folder, in the order of their paths."""
        with self._checked(prefix) as place:
            return self.backend.details(place)

    def folders(self, prefix: str = "") -> builtins.list[str]:
        """Sorted names of the folders directly in a folder; empty if there is no such folder."""
        with self._checked(prefix) as place:
            return self.backend.folders(place)


def _relative(path: str) -> str:
    parts = PurePosixPath(path.rstrip("/")).parts
    has_odd_character = "\\" in path or not path.isprintable()
    if path.startswith("/") or has_odd_character or any(part.startswith(".") for part in parts):
        raise StoreError(
            f"{path!r} is not a path inside a dataset: no leading slash, backslash, control character or part with a "
            "leading dot"
        )
    return "/".join(parts)
