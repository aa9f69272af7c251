"""File operations for local folders and S3 behind one interface."""

import builtins
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from sandmill.errors import StoreError
from sandmill.store.bucket import BucketFiles
from sandmill.store.local import LocalFiles
from sandmill.store.stored import StoredFile


@dataclass(frozen=True)
class Store:
    """The files of one dataset, rooted at `<root>/<dataset>`: a local folder or `s3://bucket/prefix`.

    Every operation raises StoreError with the path and the cause: FileMissing if nothing is there, AccessDenied if
    permissions forbid it. Nothing is cached, so that other processes' writes are seen at once. Safe to share between
    threads, to pickle and to fork.
    """

    root: str

    def __post_init__(self) -> None:
        if not self.root.endswith("://"):
            object.__setattr__(self, "root", self.root.rstrip("/") or "/")
        self.backend  # noqa: B018  raises for a bad scheme now, not at first use

    @cached_property
    def backend(self) -> LocalFiles | BucketFiles:
        """The backend for the root. Its paths are relative, with forward slashes; the empty path is the root."""
        scheme, separator, rest = self.root.partition("://")
        if not separator:
            return LocalFiles(Path(self.root).expanduser())
        if scheme == "file":
            return LocalFiles(Path(rest))
        if scheme in ("s3", "s3a"):
            bucket, _, prefix = rest.partition("/")
            if bucket:
                return BucketFiles(bucket, prefix.strip("/"))
        raise StoreError(f"{self.root}: cannot store here; expected a local folder or s3://bucket/prefix")

    @property
    def is_remote(self) -> bool:
        """Whether reading asks another machine."""
        return isinstance(self.backend, BucketFiles)

    def where(self, path: str = "") -> str:
        """Full name of a path, for messages."""
        return f"{self.root}/{path}" if path else self.root

    @contextmanager
    def _checked(self, path: str) -> Iterator[str]:
        with self.backend.faults(self.where(path)):
            yield _relative(path)

    def read(self, path: str, limit: int | None = None) -> bytes:
        """Return the whole content of a file.

        Args:
            path: of the file.
            limit: most bytes of the file, if it is untrusted. A longer one raises StoreError.
        """
        with self._checked(path) as place:
            content = self.backend.read(place, limit)
            if limit is not None and len(content) > limit:
                raise StoreError(f"{self.where(path)}: more than {limit} bytes, so it was not read")
            return content

    def read_start(self, path: str, most: int) -> bytes:
        """Return at most the first `most` bytes of a file that is not empty; on S3 by one request."""
        with self._checked(path) as place:
            return self.backend.read_start(place, most)

    def open(self, path: str, size: int | None = None) -> BinaryIO:
        """Open a file for reading at any position, so that Parquet readers fetch only what they need.

        Args:
            path: of the file.
            size: that the file should have, where it is known. It saves a request on S3; `seek` tells the true size.
        """
        with self._checked(path) as place:
            return self.backend.open(place, size)

    def write(self, path: str, content: bytes, *, owner_only: bool = False) -> None:
        """Write a file atomically, replacing an older one."""
        with self._checked(path) as place:
            self.backend.write(place, content, owner_only)

    def create(self, path: str, content: bytes, *, owner_only: bool = False) -> bool:
        """Write a file unless it exists. If several processes try at once, one succeeds.

        Returns:
            Whether this call made the file. If not, the existing file is complete.
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
        with self._checked(prefix) as place:
            return self.backend.files(place)

    def details(self, prefix: str = "") -> builtins.list[StoredFile]:
        """Return size and age of all files below a folder, in the order of their paths."""
        with self._checked(prefix) as place:
            return self.backend.details(place)

    def staging(self) -> builtins.list[StoredFile]:
        """Return unfinished writes: temporary files, or multipart uploads on S3. Their writers may be alive."""
        with self.backend.faults(self.where()):
            return self.backend.staging()

    def remove_staging(self, path: str) -> None:
        """Remove one unfinished write, by its path in `staging`. One that is gone already is no error."""
        with self.backend.faults(self.where(path)):
            self.backend.remove_staging(path)

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
