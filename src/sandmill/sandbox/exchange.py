"""Copying files between the caller's scratch folder and a run's working directory.

The agent's side is only read after every process of the run is dead, so nothing changes under our hands. Whatever lies
there, a copy ends: what cannot be copied is left, counted, and its first path named. Descriptors and memory that a copy
takes do not grow with the tree's depth or with the length of its names.
"""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from sandmill.models.layout import PUBLIC, SCRIPT
from sandmill.sandbox.tree import FOLDER, ROOT, Folder, Tree, list_names

_OURS = frozenset({PUBLIC, SCRIPT})
"""Names at the top that a run lays out by itself: they are not carried from run to run."""

_DEEPEST = 32
_LONGEST = 2048
"""Bytes of a path that is carried, so that a caller whose own folder is not deeper can name it in one call (4096)."""
_BLOCK = 4096
"""In which the run's file system counts: many small files take more room than they have bytes."""
_RESERVED = 16
"""One part in so many of a run's room is never brought out."""
_OWN_INODES = 8
_NAME_BYTES = 200
"""Bytes of names for each entry that may be kept, on average. Names of a whole folder are in memory at a time."""
_SHOWN = 80
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_WRITE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


@dataclass(frozen=True)
class Caps:
    """How much a copy may take along."""

    bytes: int
    """Of files, counted in blocks and as if they had no holes, since the caller's file system may not know holes."""
    entries: int
    """Files and folders."""
    names: int
    """Bytes of all names."""

    @classmethod
    def out(cls, disk_bytes: int, inodes: int) -> "Caps":
        """What is brought out of a run with so much room: less than fits in again, with room for what is new."""
        return cls._less(disk_bytes, inodes, _RESERVED)

    @classmethod
    def into(cls, disk_bytes: int, inodes: int) -> "Caps":
        """What is brought into a run with so much room: half of what `out` leaves free is for files of the caller's.

        The rest is for the script and the folders of the run.
        """
        return cls._less(disk_bytes, inodes, 2 * _RESERVED)

    @classmethod
    def _less(cls, disk_bytes: int, inodes: int, part: int) -> "Caps":
        entries = inodes - inodes // part - _OWN_INODES
        return cls(disk_bytes - disk_bytes // part, entries, entries * _NAME_BYTES)


@dataclass
class Copied:
    """What a copy took along, and what it left."""

    keys: set[bytes] = field(default_factory=set)
    """Hashes of the paths of files and folders that are there now."""
    bytes: int = 0
    left: int = 0
    """Number of paths that were left. What lies in a folder that was left is not counted."""
    first_left: str = ""
    """Path of the first, and why it was left, fit to be shown: the path is the agent's word."""

    def leave(self, path: str, reason: str, number: int = 1) -> None:
        """Count paths that were left; the path is that of the first."""
        if not self.left:
            shown = path if len(path) <= _SHOWN else f"{path[:_SHOWN]}..."
            self.first_left = f"{shown if shown.isprintable() else ascii(shown)} ({reason})"
        self.left += number


def fill(scratch: Path, work: int, uid: int, caps: Caps) -> Copied:
    """Copy regular files and folders from the scratch folder into a run's working directory.

    What does not fit is left in the scratch folder, and `collect` does not touch it. Taken first is what lies in the
    folder itself, in the order of the names, then what lies in its folders.

    Args:
        scratch: the caller's folder.
        work: descriptor of the working directory.
        uid: owner of the copies; 0 or less: ourselves.
        caps: how much a run has room for.

    Raises:
        OSError: if the scratch folder itself cannot be opened.
    """
    copied = Copied()
    with _trees(scratch, work) as (source, target):
        _copy(source, target, uid, caps, copied)
    return copied


def collect(work: int, scratch: Path, filled: Copied, caps: Caps) -> Copied:
    """Make the scratch folder hold what the run left, as far as it is regular files and folders within the caps.

    Files that `fill` brought and the run did not change stay in any case, and count first. Others follow in the order
    of `fill`. What `fill` brought and the run removed, or changed beyond the caps, is removed. What `fill` did not
    bring (links, devices, what did not fit) is left alone.
    """
    copied = Copied()
    try:
        with _trees(scratch, work) as (target, source):
            if filled.keys:
                _keep_unchanged(source, target, filled, caps, copied)
                _remove(target, filled.keys, filled.keys - copied.keys)
            _copy(source, target, 0, caps, copied)
    except OSError as error:
        copied.leave("the scratch folder", _reason(error))
    return copied


@contextmanager
def _trees(scratch: Path, work: int) -> Iterator[tuple[Tree, Tree]]:
    with ExitStack() as stack:
        root = os.open(scratch, FOLDER & ~os.O_NOFOLLOW)
        stack.callback(os.close, root)
        outside, inside = Tree(root), Tree(work)
        stack.callback(outside.close)
        stack.callback(inside.close)
        yield outside, inside


def _copy(source: Tree, target: Tree, uid: int, caps: Caps, copied: Copied) -> None:
    """Copy what `copied` does not have yet."""
    waiting = [ROOT]
    names_left = caps.names
    while waiting:
        folder = waiting.pop()
        try:
            with source.open(folder) as inner, target.open(folder) as outer:
                names, size, passed = list_names(inner, names_left)
                names_left -= size
                found = [name for name in names if _take(folder, name, inner, outer, uid, caps, copied)]
        except OSError as error:
            copied.leave(folder.path_of("."), _reason(error))
            continue
        if passed:
            copied.leave(folder.path_of("*"), f"names of more than {caps.names} bytes", passed)
        waiting += [folder.child(name) for name in reversed(found)]


def _take(folder: Folder, name: str, inner: int, outer: int, uid: int, caps: Caps, copied: Copied) -> bool:
    """Copy a file, or make a folder. Gives whether it is a folder that is to be entered."""
    if folder is ROOT and name in _OURS:
        return False
    key = folder.key_of(name)
    try:
        status = os.stat(name, dir_fd=inner, follow_symlinks=False)
        is_folder = stat.S_ISDIR(status.st_mode)
        if not (is_folder or stat.S_ISREG(status.st_mode)):
            return False
        if key in copied.keys:
            return is_folder
        size = _room(status)
        if reason := _beyond(folder, name, size, caps, copied):
            copied.leave(folder.path_of(name), reason)
            return False
        if is_folder:
            _make_folder(outer, name, uid)
        else:
            _copy_file(inner, outer, name, status, uid)
    except (OSError, OverflowError) as error:
        copied.leave(folder.path_of(name), _reason(error))
        return False
    copied.keys.add(key)
    copied.bytes += size
    return is_folder


def _room(status: os.stat_result) -> int:
    return 0 if stat.S_ISDIR(status.st_mode) else -(-status.st_size // _BLOCK) * _BLOCK


def _beyond(folder: Folder, name: str, size: int, caps: Caps, copied: Copied) -> str:
    """Say which cap an entry is beyond, if any."""
    if folder.depth >= _DEEPEST:
        return f"deeper than {_DEEPEST} folders"
    if folder.prefix_bytes + len(os.fsencode(name)) > _LONGEST:
        return f"a path of more than {_LONGEST} bytes"
    if len(copied.keys) >= caps.entries:
        return f"more than {caps.entries} files and folders"
    if copied.bytes + size > caps.bytes:
        return f"more than {caps.bytes} bytes"
    return ""


def _reason(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or type(error).__name__


def _keep_unchanged(source: Tree, target: Tree, filled: Copied, caps: Caps, copied: Copied) -> None:
    """Count what was brought in and is as it was: it stays where it is."""
    waiting = [ROOT]
    while waiting:
        folder = waiting.pop()
        with suppress(OSError), source.open(folder) as inner, target.open(folder) as outer:
            names, _, _ = list_names(inner, caps.names)
            for name in names:
                key = folder.key_of(name)
                if key not in filled.keys:
                    continue
                with suppress(OSError):
                    status = os.stat(name, dir_fd=inner, follow_symlinks=False)
                    if _is_same(outer, name, status):
                        copied.keys.add(key)
                        copied.bytes += _room(status)
                        if stat.S_ISDIR(status.st_mode):
                            waiting.append(folder.child(name))


def _is_same(folder: int, name: str, status: os.stat_result) -> bool:
    """Whether an entry was neither written nor exchanged: who fakes this only keeps an old file of his own."""
    there = os.stat(name, dir_fd=folder, follow_symlinks=False)
    if stat.S_ISDIR(there.st_mode) or stat.S_ISDIR(status.st_mode):
        return stat.S_ISDIR(there.st_mode) and stat.S_ISDIR(status.st_mode)
    is_regular = stat.S_ISREG(there.st_mode) and stat.S_ISREG(status.st_mode) and there.st_nlink == 1
    return is_regular and (there.st_size, there.st_mtime_ns) == (status.st_size, status.st_mtime_ns)


def _remove(tree: Tree, brought: set[bytes], stale: set[bytes]) -> None:
    """Remove stale files and folders; a folder that still holds what was not brought stays."""
    waiting, stale_folders = [ROOT] if stale else [], []
    while waiting:
        folder = waiting.pop()
        with suppress(OSError), tree.open(folder) as at:
            with os.scandir(at) as entries:
                found = [(entry.name, key) for entry in entries if (key := folder.key_of(entry.name)) in brought]
            for name, key in found:
                with suppress(OSError):
                    if stat.S_ISDIR(os.stat(name, dir_fd=at, follow_symlinks=False).st_mode):
                        waiting.append(folder.child(name))
                        if key in stale:
                            stale_folders.append(waiting[-1])
                    elif key in stale:
                        os.unlink(name, dir_fd=at)
    for folder in reversed(stale_folders):
        with suppress(OSError):
            tree.remove(folder)


def _make_folder(outer: int, name: str, uid: int) -> None:
    """Make a folder, or use the one that is there; anything else of that name goes."""
    try:
        os.mkdir(name, 0o755, dir_fd=outer)
    except FileExistsError:
        if not stat.S_ISDIR(os.stat(name, dir_fd=outer, follow_symlinks=False).st_mode):
            os.unlink(name, dir_fd=outer)
            os.mkdir(name, 0o755, dir_fd=outer)
    if uid > 0:
        os.chown(name, uid, uid, dir_fd=outer, follow_symlinks=False)


def _copy_file(inner: int, outer: int, name: str, status: os.stat_result, uid: int) -> None:
    """Copy a file in place of anything of that name but a folder. One that cannot be copied whole is not left in part.

    Raises:
        OSError: if it cannot be read or written, or a folder is in its place.
    """
    reader = os.open(name, _READ, dir_fd=inner)
    try:
        with suppress(FileNotFoundError):
            os.unlink(name, dir_fd=outer)
        writer = os.open(name, _WRITE, 0o600 | status.st_mode & 0o755, dir_fd=outer)
        try:
            _copy_data(reader, writer, status.st_size)
            if uid > 0:
                os.fchown(writer, uid, uid)
            os.utime(writer, ns=(status.st_mtime_ns, status.st_mtime_ns))
        except (OSError, OverflowError):
            with suppress(OSError):
                os.unlink(name, dir_fd=outer)
            raise
        finally:
            os.close(writer)
    finally:
        os.close(reader)


def _copy_data(reader: int, writer: int, size: int) -> None:
    """Copy what a file holds and keep its holes, so that it takes no more room than it did."""
    os.ftruncate(writer, size)
    at = 0
    while at < size:
        try:
            at = os.lseek(reader, at, os.SEEK_DATA)
        except OSError as error:
            if error.errno == errno.ENXIO:
                # Nothing but a hole is left.
                return
            raise
        end = min(size, os.lseek(reader, at, os.SEEK_HOLE))
        os.lseek(writer, at, os.SEEK_SET)
        while at < end and (sent := os.sendfile(writer, reader, at, end - at)):
            at += sent
        at = max(at, end)
