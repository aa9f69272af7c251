"""Copy files between the caller's scratch folder and a run's working directory.

The working directory is read only after every process of the run is dead, so no file changes during the copy. A copy
never fails because of the files: those that cannot be copied are skipped and counted, and the first path is reported.
The number of descriptors and the memory do not grow with the depth of the tree or with the length of its names.

A folder is named by its path from the root with a slash at the end, the root by an empty path.
"""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path

from sandmill.errors import count
from sandmill.models.layout import PUBLIC, SCRIPT
from sandmill.models.run import RunLimits
from sandmill.sandbox.guest.kernel import open_folder

MADE_BY_EACH_RUN = frozenset({PUBLIC, SCRIPT})
"""Names at the top of the working directory that every run creates itself. They are not copied."""

_MAX_DEPTH = 32
_MAX_PATH_BYTES = 2048
"""Longest path that is copied, in bytes. It is half of what one system call accepts (4096), so that the path of the
scratch folder itself fits in front."""
_BLOCK_BYTES = 4096
"""Block size of the run's file system. A small file takes a whole block."""
INTO_PART, OUT_PART = 32, 16
"""Divisors: the part of a run's disk and inodes that stays free when files are copied in, for its script and folders,
and when they are copied out. It is smaller for copies into a run, so that the caller can add files."""
_OWN_INODES = 8
"""Inodes that a run needs for its own folders and its script."""
_NAME_BYTES = 200
"""Average length of a name, in bytes; it bounds the memory for names, as all names of one folder are in memory."""
_MAX_SHOWN_CHARS = 80
READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
WRITE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


@dataclass(frozen=True)
class Caps:
    """Limits of one copy."""

    bytes: int
    """Bytes of all files, in whole blocks. Holes count, since the caller's file system may not support them."""
    entries: int
    names: int

    @classmethod
    def of(cls, limits: RunLimits, part: int) -> "Caps":
        """Return the limits of a copy that leaves this part of a run's room free: `INTO_PART` or `OUT_PART`."""
        disk_bytes = limits.disk_mb << 20
        entries = limits.inodes - limits.inodes // part - _OWN_INODES
        return cls(disk_bytes - disk_bytes // part, entries, entries * _NAME_BYTES)


@dataclass
class Copied:
    """Result of a copy: what was copied and what was skipped."""

    keys: set[bytes] = field(default_factory=set)
    """Hashes of the paths of the copied files and folders."""
    bytes: int = 0
    skipped: int = 0
    """Number of skipped paths. The contents of a skipped folder are not counted."""
    first_skipped: str = ""
    """First skipped path and the reason. The agent chose the path, so it is shortened and escaped for display."""

    def skip(self, path: str, reason: str, number: int = 1) -> None:
        """Count skipped paths. `path` is the first of them."""
        if not self.skipped:
            shown = path if len(path) <= _MAX_SHOWN_CHARS else f"{path[:_MAX_SHOWN_CHARS]}..."
            self.first_skipped = f"{shown if shown.isprintable() else ascii(shown)} ({reason})"
        self.skipped += number


def skipped_note(skipped: int, what: str, first: str) -> str:
    """Return a message such as `; 2 paths were not kept, first a/b`. It is empty if no path was skipped."""
    verb = "was" if skipped == 1 else "were"
    return f"; {count(skipped, 'path')} {verb} not {what}, first {first}" if skipped else ""


def fill(scratch: Path, work: int, uid: int, caps: Caps) -> Copied:
    """Copy regular files and folders from the scratch folder into a run's working directory.

    Entries of a folder are copied in the order of their names, then the contents of its folders. Files that exceed the
    caps are skipped; `collect` does not change them. `uid` owns the copies; 0 or less means the current user. Raises
    `OSError` if the scratch folder itself cannot be opened.
    """
    with _opened(scratch) as source:
        copy = _Copy(source, work, uid, caps)
        copy.copy_folder()
        return copy.copied


def collect(work: int, scratch: Path, filled: Copied, caps: Caps) -> Copied:
    """Copy regular files and folders from the working directory back into the scratch folder, within the caps.

    Files that `fill` copied and the run did not change stay in place and count first. Other files follow in the order
    of `fill`. A file that `fill` copied is removed from the scratch folder if the run removed it, or if the changed
    version exceeds the caps. Entries that `fill` did not copy (links, devices, files that did not fit) stay unchanged.
    """
    try:
        with _opened(scratch) as target:
            copy = _Copy(work, target, 0, caps)
            copy.keep_unchanged(filled.keys)
            if stale := filled.keys - copy.copied.keys:
                copy.remove_stale(filled.keys, stale)
            copy.copy_folder()
            return copy.copied
    except OSError as error:
        return Copied(skipped=1, first_skipped=f"the scratch folder ({_reason(error)})")


@contextmanager
def _opened(folder: Path) -> Iterator[int]:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


class _Copy:
    """One copy from a tree into another. Folders nest at most `_MAX_DEPTH` deep, so the methods may recurse."""

    def __init__(self, source: int, target: int, uid: int, caps: Caps) -> None:
        self._source, self._target, self._uid, self._caps = source, target, uid, caps
        self._names_left = caps.names
        self.copied = Copied()

    @contextmanager
    def _open(self, folder: str, *roots: int) -> Iterator[list[int]]:
        """Open the folder of this path below each root, never through a link."""
        with ExitStack() as stack:
            found = []
            for root in roots:
                found.append(open_folder(root, folder or "."))
                stack.callback(os.close, found[-1])
            yield found

    def copy_folder(self, folder: str = "") -> None:
        """Copy all entries of a folder that `copied` does not contain yet, and add them to it."""
        try:
            with self._open(folder, self._source, self._target) as (inner, outer):
                names, size, passed = _list_names(inner, self._names_left)
                self._names_left -= size
                found = [name for name in names if self._copy_entry(folder, name, inner, outer)]
        except OSError as error:
            self.copied.skip(f"{folder}.", _reason(error))
            return
        if passed:
            self.copied.skip(f"{folder}*", f"names of more than {self._caps.names} bytes", passed)
        for name in found:
            self.copy_folder(f"{folder}{name}/")

    def keep_unchanged(self, brought: set[bytes], folder: str = "") -> None:
        """Add the brought files that the run did not change to `copied`. Their originals stay in place."""
        found: list[str] = []
        with suppress(OSError), self._open(folder, self._source, self._target) as (inner, outer):
            for name in _list_names(inner, self._caps.names)[0]:
                if (key := _key_of(folder + name)) in brought:
                    with suppress(OSError):
                        status = os.stat(name, dir_fd=inner, follow_symlinks=False)
                        if _is_unchanged(os.stat(name, dir_fd=outer, follow_symlinks=False), status):
                            self.copied.keys.add(key)
                            self.copied.bytes += _bytes_on_disk(status)
                            found += [name] if stat.S_ISDIR(status.st_mode) else []
        for name in found:
            self.keep_unchanged(brought, f"{folder}{name}/")

    def remove_stale(self, brought: set[bytes], stale: set[bytes], folder: str = "") -> None:
        """Remove stale files and folders among the brought ones. A folder that holds other entries stays."""
        inner = []
        with suppress(OSError):
            with self._open(folder, self._target) as (at,):
                with os.scandir(at) as entries:
                    keys = {entry.name: _key_of(folder + entry.name) for entry in entries}
                for name, key in keys.items():
                    with suppress(OSError):
                        if key in brought and stat.S_ISDIR(os.stat(name, dir_fd=at, follow_symlinks=False).st_mode):
                            inner.append(name)
                        elif key in stale:
                            os.unlink(name, dir_fd=at)
            for name in inner:
                self.remove_stale(brought, stale, f"{folder}{name}/")
            with self._open(folder, self._target) as (at,):
                for name in inner:
                    if keys[name] in stale:
                        with suppress(OSError):
                            os.rmdir(name, dir_fd=at)

    def _copy_entry(self, folder: str, name: str, inner: int, outer: int) -> bool:
        """Copy a file or create a folder. Returns whether it is a folder whose contents are to be copied."""
        path = folder + name
        if path in MADE_BY_EACH_RUN:
            return False
        key = _key_of(path)
        try:
            status = os.stat(name, dir_fd=inner, follow_symlinks=False)
            is_folder = stat.S_ISDIR(status.st_mode)
            if not (is_folder or stat.S_ISREG(status.st_mode)):
                return False
            if key in self.copied.keys:
                return is_folder
            size = _bytes_on_disk(status)
            if reason := self._exceeded_cap(path, size):
                self.copied.skip(path, reason)
                return False
            if is_folder:
                make_folder(outer, name, self._uid)
            else:
                _copy_file(inner, outer, name, status, self._uid)
        except (OSError, OverflowError) as error:
            self.copied.skip(path, _reason(error))
            return False
        self.copied.keys.add(key)
        self.copied.bytes += size
        return is_folder

    def _exceeded_cap(self, path: str, size: int) -> str:
        if path.count("/") >= _MAX_DEPTH:
            return f"deeper than {_MAX_DEPTH} folders"
        if len(os.fsencode(path)) > _MAX_PATH_BYTES:
            return f"a path of more than {_MAX_PATH_BYTES} bytes"
        if len(self.copied.keys) >= self._caps.entries:
            return f"more than {self._caps.entries} files and folders"
        return f"more than {self._caps.bytes} bytes" if self.copied.bytes + size > self._caps.bytes else ""


def _key_of(path: str) -> bytes:
    return blake2b(os.fsencode(path), digest_size=16).digest()


def _list_names(folder: int, most_bytes: int) -> tuple[list[str], int, int]:
    """Return the sorted names in a folder, up to `most_bytes` bytes of them, their bytes, and the number of others."""
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


def _bytes_on_disk(status: os.stat_result) -> int:
    return 0 if stat.S_ISDIR(status.st_mode) else -(-status.st_size // _BLOCK_BYTES) * _BLOCK_BYTES


def _reason(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or type(error).__name__


def _is_unchanged(there: os.stat_result, status: os.stat_result) -> bool:
    """Whether an entry has the same type, size and time as before. An agent that fakes this only keeps an old file."""
    if stat.S_IFMT(there.st_mode) != stat.S_IFMT(status.st_mode):
        return False
    is_regular = stat.S_ISREG(status.st_mode) and there.st_nlink == 1
    return stat.S_ISDIR(status.st_mode) or (
        is_regular and (there.st_size, there.st_mtime_ns) == (status.st_size, status.st_mtime_ns)
    )


def make_folder(outer: int, name: str, uid: int = 0) -> None:
    """Create a folder unless it exists. Anything else of that name is removed."""
    try:
        os.mkdir(name, 0o755, dir_fd=outer)
    except FileExistsError:
        if not stat.S_ISDIR(os.stat(name, dir_fd=outer, follow_symlinks=False).st_mode):
            os.unlink(name, dir_fd=outer)
            os.mkdir(name, 0o755, dir_fd=outer)
    if uid > 0:
        os.chown(name, uid, uid, dir_fd=outer, follow_symlinks=False)


def _copy_file(inner: int, outer: int, name: str, status: os.stat_result, uid: int) -> None:
    """Copy a file and replace anything of that name; a folder of that name is an error. A partial copy is removed."""
    with ExitStack() as stack:
        reader = os.open(name, READ, dir_fd=inner)
        stack.callback(os.close, reader)
        with suppress(FileNotFoundError):
            os.unlink(name, dir_fd=outer)
        writer = os.open(name, WRITE, 0o600 | status.st_mode & 0o755, dir_fd=outer)
        stack.callback(os.close, writer)
        try:
            _copy_data(reader, writer, status.st_size)
            if uid > 0:
                os.fchown(writer, uid, uid)
            os.utime(writer, ns=(status.st_mtime_ns, status.st_mtime_ns))
        except (OSError, OverflowError):
            with suppress(OSError):
                os.unlink(name, dir_fd=outer)
            raise


def _copy_data(reader: int, writer: int, size: int) -> None:
    """Copy the data of a file and keep its holes, so that the copy takes no more disk space."""
    os.ftruncate(writer, size)
    at = 0
    while at < size:
        try:
            at = os.lseek(reader, at, os.SEEK_DATA)
        except OSError as error:
            if error.errno == errno.ENXIO:
                # The rest of the file is a hole.
                return
            raise
        end = min(size, os.lseek(reader, at, os.SEEK_HOLE))
        os.lseek(writer, at, os.SEEK_SET)
        while at < end and (sent := os.sendfile(writer, reader, at, end - at)):
            at += sent
        at = max(at, end)
