"""Folders that a server keeps for its clients: uploaded public files, and scratch folders of episodes."""

import shutil
import threading
from collections import Counter, OrderedDict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkdtemp
from time import monotonic

from sandmill.errors import InputError, Problem
from sandmill.sandbox.public_folder import check_names, check_public, digest_of


class PublicFolders:
    """Public folders by the digest of their content. The least recently used are removed when there is no room."""

    def __init__(self, root: Path, most_bytes: int) -> None:
        self._root, self._most_bytes = root, most_bytes
        self._lock = threading.Lock()
        self._sizes: OrderedDict[str, int] = OrderedDict()
        self._users: Counter[str] = Counter()
        root.mkdir(mode=0o755)

    def add(self, files: Mapping[str, bytes]) -> str:
        """Store the files and return their digest.

        Raises `InputError` if the files cannot be a public folder, or are larger than all room of the server.
        """
        check_names(files)
        size = sum(map(len, files.values()))
        if not files or size > self._most_bytes:
            saw, expected = f"{len(files)} files of {size} bytes", f"files of at most {self._most_bytes} bytes together"
            raise InputError("public", [Problem("files", saw, expected)], "Nothing was stored.")
        digest = digest_of(files)
        with self._lock:
            if digest in self._sizes:
                self._sizes.move_to_end(digest)
                return digest
        draft = Path(mkdtemp(dir=self._root, prefix="draft-"))
        try:
            for name, content in files.items():
                path = draft / digest / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)
            for path in (draft / digest, *(draft / digest).rglob("*")):
                path.chmod(0o755 if path.is_dir() else 0o644)
            check_public(draft / digest)
            with self._lock:
                if digest not in self._sizes:
                    self._make_room(size)
                    (draft / digest).rename(self._root / digest)
                    self._sizes[digest] = size
        finally:
            shutil.rmtree(draft, ignore_errors=True)
        return digest

    @contextmanager
    def lend(self, digest: str) -> Iterator[Path | None]:
        """Yield the folder, which is not removed inside the block; None if the server does not have it."""
        with self._lock:
            if has_it := digest in self._sizes:
                self._sizes.move_to_end(digest)
                self._users[digest] += 1
        try:
            yield self._root / digest if has_it else None
        finally:
            if has_it:
                with self._lock:
                    self._users[digest] -= 1

    def find(self, digest: str) -> Path | None:
        """Return a folder that may be removed at any time; None if the server does not have it."""
        with self._lock:
            return self._root / digest if digest in self._sizes else None

    def _make_room(self, size: int) -> None:
        for digest in [digest for digest in self._sizes if not self._users[digest]]:
            if sum(self._sizes.values()) + size <= self._most_bytes:
                return
            del self._sizes[digest]
            shutil.rmtree(self._root / digest, ignore_errors=True)


class ScratchBusy(Exception):
    """Another run uses this scratch folder now."""


class ScratchFull(Exception):
    """The server keeps as many scratch folders as it may."""


@dataclass
class _Scratch:
    path: Path
    used_at: float
    is_busy: bool = False


class ScratchFolders:
    """Scratch folders by an id that the client chooses. One run at a time uses a folder."""

    def __init__(self, root: Path, most_folders: int, ttl_s: float) -> None:
        self._root, self._most_folders, self._ttl_s = root, most_folders, ttl_s
        self._lock = threading.RLock()
        self._folders: dict[str, _Scratch] = {}
        root.mkdir(mode=0o700)

    def claim(self, scratch_id: str) -> Path:
        """Reserve the folder of an id for one run, and make it at its first use.

        Raises `ScratchBusy` if another run uses it. Raises `ScratchFull` if there is no room for a new one.
        """
        with self._lock:
            self.expire()
            if scratch_id not in self._folders:
                if len(self._folders) >= self._most_folders:
                    raise ScratchFull
                self._folders[scratch_id] = _Scratch(Path(mkdtemp(dir=self._root)), monotonic())
            known = self._idle(scratch_id)
            known.is_busy = True
            return known.path

    def release(self, scratch_id: str) -> None:
        """End a reservation."""
        with self._lock:
            known = self._folders[scratch_id]
            known.is_busy, known.used_at = False, monotonic()

    def delete(self, scratch_id: str) -> bool:
        """Remove a folder. Returns whether there was one. Raises `ScratchBusy` if a run uses it."""
        with self._lock:
            if scratch_id not in self._folders:
                return False
            path = self._idle(scratch_id).path
            del self._folders[scratch_id]
        shutil.rmtree(path, ignore_errors=True)
        return True

    def expire(self) -> None:
        """Remove the folders that nobody has used for a while."""
        with self._lock:
            limit = monotonic() - self._ttl_s
            for name in [name for name, one in self._folders.items() if not one.is_busy and one.used_at < limit]:
                shutil.rmtree(self._folders.pop(name).path, ignore_errors=True)

    def _idle(self, scratch_id: str) -> _Scratch:
        if (known := self._folders[scratch_id]).is_busy:
            raise ScratchBusy
        return known
