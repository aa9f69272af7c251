"""Folders of public files that clients upload to a server."""

import shutil
import threading
from collections import Counter, OrderedDict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import mkdtemp

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
