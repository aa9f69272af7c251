"""Moving files between the caller's scratch folder and a run's working directory, by descriptors, never by links.

The agent's side is only read after every process of the run is dead, so nothing changes under our hands.
"""

import os
import shutil
import stat
from dataclasses import dataclass, field
from pathlib import Path

from sandmill.errors import InputError, Problem

SUBMISSION = "submission.csv"
_OURS = frozenset({"public", "solution.py"})
"""Names at the top that a run lays out by itself: they are not carried from run to run."""

_DEEPEST = 32
_BLOCK = 4096
"""In which the run's file system counts: many small files take more room than they have bytes."""
_RESERVED = 16
_OWN_INODES = 8
_SHOWN = 80
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_WRITE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


@dataclass
class Copied:
    """What a copy took along, and what it left."""

    entries: set[str] = field(default_factory=set)
    """Relative paths of files and folders."""
    left: list[str] = field(default_factory=list)
    """Relative paths that were over a limit, or locked up."""
    bytes: int = 0

    def name_left(self) -> str:
        """Name the first path that was left, fit to be shown: it is the agent's word."""
        name = self.left[0] if len(self.left[0]) <= _SHOWN else f"{self.left[0][:_SHOWN]}..."
        return name if name.isprintable() else ascii(name)


@dataclass(frozen=True)
class Caps:
    """How much a copy may take along: less than a run has room for, so that all that was brought out fits in again."""

    bytes: int
    entries: int

    @classmethod
    def of(cls, disk_bytes: int, inodes: int) -> "Caps":
        """Leave some room for the script and the folders of the run."""
        return cls(disk_bytes - disk_bytes // _RESERVED, inodes - inodes // _RESERVED - _OWN_INODES)


def fill(scratch: Path, work: int, uid: int, caps: Caps) -> Copied:
    """Copy regular files and folders from the scratch folder into a run's working directory.

    Args:
        scratch: the caller's folder.
        work: descriptor of the working directory.
        uid: owner of the copies; 0 or less: ourselves.
        caps: how much a run has room for.

    Raises:
        InputError: if there is more than that.
    """
    source = os.open(scratch, _FOLDER & ~os.O_NOFOLLOW)
    try:
        copied = Copied()
        _copy_folder(source, work, "", uid, caps, copied)
    finally:
        os.close(source)
    if copied.left:
        saw = f"over {caps.bytes} bytes or {caps.entries} entries, first {copied.name_left()}"
        raise InputError(str(scratch), [Problem("scratch", saw, "less than a run's disk_mb and inodes")], "")
    return copied


def collect(work: int, scratch: Path, filled: Copied, caps: Caps) -> Copied:
    """Make the scratch folder hold what the run left, as far as it is regular files and folders within the caps.

    What was brought by `fill` and was not brought back is removed, be it gone or over the caps; what `fill` did not
    bring (links, devices) is left alone.
    """
    target = os.open(scratch, _FOLDER & ~os.O_NOFOLLOW)
    try:
        copied = Copied()
        _copy_folder(work, target, "", 0, caps, copied)
        _forget(target, "", filled.entries - copied.entries)
    finally:
        os.close(target)
    return copied


@dataclass(frozen=True)
class Submission:
    """What lies in the place of the submission."""

    content: bytes | None = None
    identity: tuple[int, int] | None = None
    """Changes whenever the file is written."""
    tampered: str = ""
    """What is wrong with it, if it is something else than a regular file of its own within the limit."""


def read_submission(work: int, limit: int) -> Submission:
    """Read submission.csv without following links or waiting on pipes."""
    try:
        descriptor = os.open(SUBMISSION, _READ, dir_fd=work)
    except FileNotFoundError:
        return Submission()
    except OSError as error:
        return Submission(tampered=f"submission.csv cannot be read as a file: {error.strerror}")
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            return Submission(tampered=f"submission.csv is no regular file: {stat.filemode(status.st_mode)}")
        if status.st_nlink != 1:
            return Submission(tampered=f"submission.csv has {status.st_nlink} names")
        if status.st_size > limit:
            return Submission(tampered=f"submission.csv has {status.st_size} bytes, more than {limit}")
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            return Submission(file.read(limit + 1), (status.st_ino, status.st_ctime_ns))
    finally:
        os.close(descriptor)


def _copy_folder(source: int, target: int, prefix: str, uid: int, caps: Caps, copied: Copied) -> None:
    for name in sorted(os.listdir(source)):
        path = prefix + name
        if not prefix and name in _OURS:
            continue
        try:
            status = os.stat(name, dir_fd=source, follow_symlinks=False)
            is_folder, is_file = stat.S_ISDIR(status.st_mode), stat.S_ISREG(status.st_mode)
            if not (is_folder or is_file):
                continue
            size = 0 if is_folder else -(-status.st_size // _BLOCK) * _BLOCK
            is_deep = path.count("/") >= _DEEPEST
            if is_deep or copied.bytes + size > caps.bytes or len(copied.entries) >= caps.entries:
                copied.left.append(path)
            elif is_folder:
                _enter_folder(source, target, path, uid, caps, copied)
            else:
                _copy_file(source, target, name, status, uid)
                copied.bytes += size
                copied.entries.add(path)
        except PermissionError:
            # As an ordinary user we cannot read what the agent's code locked up for itself.
            copied.left.append(path)


def _enter_folder(source: int, target: int, path: str, uid: int, caps: Caps, copied: Copied) -> None:
    name = path.rpartition("/")[2]
    inner = os.open(name, _FOLDER, dir_fd=source)
    try:
        _make_folder(target, name)
        copied.entries.add(path)
        outer = os.open(name, _FOLDER, dir_fd=target)
        try:
            if uid > 0:
                os.fchown(outer, uid, uid)
            _copy_folder(inner, outer, f"{path}/", uid, caps, copied)
        finally:
            os.close(outer)
    finally:
        os.close(inner)


def _make_folder(target: int, name: str) -> None:
    try:
        os.mkdir(name, 0o755, dir_fd=target)
    except FileExistsError:
        if not stat.S_ISDIR(os.stat(name, dir_fd=target, follow_symlinks=False).st_mode):
            os.unlink(name, dir_fd=target)
            os.mkdir(name, 0o755, dir_fd=target)


def _copy_file(source: int, target: int, name: str, status: os.stat_result, uid: int) -> None:
    if _is_same(target, name, status):
        return
    reader = os.open(name, _READ, dir_fd=source)
    try:
        _remove_at(target, name)
        writer = os.open(name, _WRITE, 0o600 | status.st_mode & 0o755, dir_fd=target)
        try:
            left = status.st_size
            while left > 0 and (sent := os.sendfile(writer, reader, None, left)):
                left -= sent
            if uid > 0:
                os.fchown(writer, uid, uid)
            os.utime(writer, ns=(status.st_mtime_ns, status.st_mtime_ns))
        finally:
            os.close(writer)
    finally:
        os.close(reader)


def _is_same(target: int, name: str, status: os.stat_result) -> bool:
    """Whether a file was neither written nor exchanged: who fakes this only keeps an old file of his own."""
    try:
        there = os.stat(name, dir_fd=target, follow_symlinks=False)
    except FileNotFoundError:
        return False
    is_regular = stat.S_ISREG(there.st_mode) and there.st_nlink == 1
    return is_regular and (there.st_size, there.st_mtime_ns) == (status.st_size, status.st_mtime_ns)


def _remove_at(folder: int, name: str) -> None:
    try:
        is_folder = stat.S_ISDIR(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode)
    except FileNotFoundError:
        return
    if is_folder:
        shutil.rmtree(name, dir_fd=folder)
    else:
        os.unlink(name, dir_fd=folder)


def _forget(folder: int, prefix: str, paths: set[str]) -> None:
    """Remove what lies in a folder and is one of the paths; step by step, since whole paths may be too long."""
    for name in os.listdir(folder) if paths else ():
        path = prefix + name
        is_folder = stat.S_ISDIR(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode)
        if is_folder:
            inner = os.open(name, _FOLDER, dir_fd=folder)
            try:
                _forget(inner, f"{path}/", paths)
            finally:
                os.close(inner)
        if path not in paths:
            continue
        try:
            os.rmdir(name, dir_fd=folder) if is_folder else os.unlink(name, dir_fd=folder)
        except OSError:
            # A folder that still holds what we did not bring.
            continue
