"""A cache of JSON values in memory and in a file of lines, which a process may be killed over at any time."""

import json
import os
from pathlib import Path
from threading import Lock
from typing import Any

from sandmill.store.files import storage_faults


class LineCache:
    """Values by key. Each new value is appended to the file at once, as one line.

    A line that is not whole, as after a kill, is ignored. Several processes may use one file: each sees the values that
    were there when it started, and its own.
    """

    def __init__(self, path: Path | None) -> None:
        """Read the file if it exists.

        Args:
            path: of the file; its folder is made at the first value. None keeps values in memory alone.

        Raises:
            StoreError: the file cannot be read.
        """
        self._path, self._lock = path, Lock()
        self._file: int | None = None
        self._lines: dict[str, bytes] = {}
        if path is not None and path.exists():
            with storage_faults(str(path)):
                content = path.read_bytes()
            for line in content.splitlines():
                self._remember(line)

    def __len__(self) -> int:
        return len(self._lines)

    def get(self, key: str) -> Any:
        """Return the value of a key; None if there is none."""
        line = self._lines.get(key)
        return None if line is None else json.loads(line)["value"]

    def put(self, key: str, value: Any) -> None:
        """Keep a value, which is plain JSON data and not None. A key that has a value keeps it.

        Raises:
            StoreError: the file cannot be written.
        """
        line = json.dumps({"key": key, "value": value}, separators=(",", ":")).encode()
        with self._lock:
            if key in self._lines:
                return
            self._lines[key] = line
            if self._path is not None:
                self._append(self._path, line + b"\n")

    def _append(self, path: Path, line: bytes) -> None:
        with storage_faults(str(path)):
            if self._file is None:
                path.parent.mkdir(parents=True, exist_ok=True)
                self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
                size = os.fstat(self._file).st_size
                # A torn last line must not swallow the first new one.
                if size and os.pread(self._file, 1, size - 1) != b"\n":
                    line = b"\n" + line
            os.write(self._file, line)

    def _remember(self, line: bytes) -> None:
        try:
            found = json.loads(line)
            if found["value"] is not None:
                self._lines.setdefault(str(found["key"]), line)
        except (ValueError, TypeError, KeyError):
            return

    def close(self) -> None:
        """Close the file. A later value opens it again."""
        with self._lock:
            if self._file is not None:
                os.close(self._file)
                self._file = None
