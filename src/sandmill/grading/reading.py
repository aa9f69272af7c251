"""Read files of untrusted writers: regular files only, no links, limited size."""

import errno
import os
import stat
from pathlib import Path

from sandmill.errors import InputError, Problem
from sandmill.metrics.submission import MAX_SUBMISSION_BYTES

_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_KINDS = {stat.S_IFDIR: "a folder", stat.S_IFIFO: "a pipe", stat.S_IFCHR: "a device", stat.S_IFBLK: "a device"}


def read_regular_file(path: Path, limit: int = MAX_SUBMISSION_BYTES) -> bytes | None:
    """Read a submission, without following links or blocking on pipes.

    Returns:
        At most `limit + 1` bytes, so that the caller sees that a file is too large; None if there is no file.

    Raises:
        InputError: if the path is a link, a folder, a device or a pipe.
    """
    try:
        descriptor = os.open(path, _READ)
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise _not_regular(path, _reason(error)) from None
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise _not_regular(path, _KINDS.get(stat.S_IFMT(status.st_mode), "a special file"))
        if status.st_nlink > 1:
            raise _not_regular(path, f"{status.st_nlink} hard links to one file")
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            return file.read(limit + 1)
    finally:
        os.close(descriptor)


def read_pulled_file(task: Path, side: str, name: str, limit: int, hint: str = "") -> bytes:
    """Read a file of a pulled task, without following links or blocking on pipes.

    Args:
        task: folder of the task; the path to it may hold links.
        side: folder in it, which may not be a link.
        name: file in that folder.
        limit: bytes that the file may have at most.
        hint: what to do if the file is not as it should be.

    Raises:
        InputError: if there is no such file, it is anything but a regular file, or it is too large.
    """
    try:
        folder = os.open(task / side, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except FileNotFoundError as error:
        raise _not_pulled(task, f"{side}/{name}", _reason(error), "a pulled task", hint) from None
    except (OSError, ValueError) as error:
        raise _not_pulled(task, side, _reason(error), "a folder, not a link", hint) from None
    try:
        return _read_capped(folder, name, limit)
    except (OSError, ValueError) as error:
        raise _not_pulled(task, f"{side}/{name}", _reason(error), "a regular file, not a link", hint) from None
    except _Unfit as unfit:
        expected = f"a regular file of at most {limit} bytes"
        raise _not_pulled(task, f"{side}/{name}", str(unfit), expected, hint) from None
    finally:
        os.close(folder)


class _Unfit(Exception):
    """A file is not regular or too large."""


def _read_capped(folder: int, name: str, limit: int) -> bytes:
    descriptor = os.open(name, _READ, dir_fd=folder)
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise _Unfit(_KINDS.get(stat.S_IFMT(status.st_mode), "a special file"))
        if status.st_size > limit:
            raise _Unfit(f"{status.st_size} bytes")
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            content = file.read(limit + 1)
    finally:
        os.close(descriptor)
    if len(content) > limit:
        raise _Unfit(f"more than {limit} bytes")
    return content


def _reason(error: OSError | ValueError) -> str:
    """Return why a path cannot be opened. A path with a zero byte is a ValueError."""
    number = getattr(error, "errno", None)
    if number == errno.ELOOP:
        return "a symbolic link"
    return getattr(error, "strerror", None) or str(error)


def _not_pulled(task: Path, where: str, saw: str, expected: str, hint: str) -> InputError:
    return InputError(str(task), [Problem(where, saw, expected, hint)], "")


def _not_regular(path: Path, saw: str) -> InputError:
    return InputError(
        str(path), [Problem("submission", saw, "a regular file of its own, not a link, folder or pipe")], ""
    )
