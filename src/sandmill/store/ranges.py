"""Read an object of a bucket by ranges, so that one task of a large file is read without the others."""

import io
from collections.abc import Callable
from typing import Any

TAIL_BYTES = 64 << 10
"""Bytes at the end that are fetched first. Parquet readers ask for them, since the footer lies there."""


class RangedFile(io.RawIOBase):
    """A file that fetches exactly the bytes that are asked for, or a block of several requests at once.

    The end of the file and the last block stay in memory.
    """

    def __init__(self, fetch: Callable[[int, int], bytes], measure: Callable[[], int], size: int | None) -> None:
        """Fetch the end of the file.

        Args:
            fetch: returns the bytes from a first to before a last position. Fewer come at the end of the object.
            measure: asks for the size of the object.
            size: of the object, where it is known. It saves a request, and is checked.
        """
        super().__init__()
        self._fetch, self._at, self._block, self._block_start = fetch, 0, b"", 0
        self._size = measure() if size is None else size
        self._tail_start = max(0, self._size - TAIL_BYTES)
        # One byte more than there should be, so that a larger object is seen.
        self._tail = fetch(self._tail_start, self._size + 1) if self._size else b""
        if size is not None and len(self._tail) != self._size - self._tail_start:
            self._size, self._tail = measure(), b""
            self._tail_start = self._size

    def prefetch(self, start: int, needed: int, wanted: int) -> None:
        """Fetch a range by one request, and keep it in place of the last one.

        Args:
            start: first byte.
            needed: end of the range that will be read. If that is here already, nothing is fetched.
            wanted: end of the range to fetch otherwise.
        """
        if start < self._tail_start and not self._holds(start, min(needed, self._tail_start)):
            self._block, self._block_start = self._fetch(start, min(wanted, self._tail_start)), start

    def readable(self) -> bool:
        """Reading is possible."""
        return True

    def seekable(self) -> bool:
        """Reading may begin anywhere."""
        return True

    def tell(self) -> int:
        """Return the position."""
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Move to a position."""
        origin = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._size}[whence]
        self._at = max(0, origin + offset)
        return self._at

    def readinto(self, buffer: Any) -> int:
        """Read into a buffer, which is filled unless the file ends before."""
        content = self._range(self._at, min(self._at + len(buffer), self._size))
        buffer[: len(content)] = content
        self._at += len(content)
        return len(content)

    def readall(self) -> bytes:
        """Read to the end by one request."""
        content = self._range(self._at, self._size)
        self._at += len(content)
        return content

    def _range(self, start: int, end: int) -> bytes:
        if start >= end:
            return b""
        if end > self._tail_start:
            before = self._range(start, min(end, self._tail_start))
            return before + self._tail[max(0, start - self._tail_start) : end - self._tail_start]
        if self._holds(start, end):
            return self._block[start - self._block_start : end - self._block_start]
        return self._fetch(start, end)

    def _holds(self, start: int, end: int) -> bool:
        return self._block_start <= start and end <= self._block_start + len(self._block)
