"""Read files of untrusted writers: regular files only, no links, limited size."""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from sandmill.errors import InputError, Problem
from sandmill.scoring.submission import MAX_SUBMISSION_BYTES

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
        with _opened(path) as (file, status):
            if status.st_nlink > 1:
                raise _Unfit(f"{status.st_nlink} hard links to one file")
            return file.read(limit + 1)
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        expected = "a regular file of its own, not a link, folder or pipe"
        raise InputError(str(path), [Problem("submission", _reason(error), expected)], "") from None


def read_pulled_file(task: Path, side: str, name: str, limit: int, hint: str = "") -> bytes:
    """Read a file of a pulled task, without following links or blocking on pipes.

    The path to the folder of the task may hold links; `side`, the folder in it, may not be one.

    Raises:
        InputError: if there is no such file, it is anything but a regular file, or it has more than `limit` bytes.
    """

    def refusal(where: str, error: OSError | ValueError, expected: str) -> InputError:
        return InputError(str(task), [Problem(where, _reason(error), expected, hint)], "")

    where = f"{side}/{name}"
    try:
        folder = os.open(task / side, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except FileNotFoundError as error:
        raise refusal(where, error, "a pulled task") from None
    except (OSError, ValueError) as error:
        raise refusal(side, error, "a folder, not a link") from None
    try:
        with _opened(name, folder) as (file, status):
            content = file.read(limit + 1)
            if (size := max(status.st_size, len(content))) > limit:
                raise _Unfit(f"{size} bytes")
            return content
    except _Unfit as error:
        raise refusal(where, error, f"a regular file of at most {limit} bytes") from None
    except (OSError, ValueError) as error:
        raise refusal(where, error, "a regular file, not a link") from None
    finally:
        os.close(folder)


class _Unfit(ValueError):
    """A file is not regular, has other names, or is too large."""


@contextmanager
def _opened(path: Path | str, folder: int | None = None) -> Iterator[tuple[BinaryIO, os.stat_result]]:
    descriptor = os.open(path, _READ, dir_fd=folder)
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise _Unfit(_KINDS.get(stat.S_IFMT(status.st_mode), "a special file"))
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            yield file, status
    finally:
        os.close(descriptor)


def _reason(error: OSError | ValueError) -> str:
    """Return why a path cannot be opened. A path with a zero byte is a ValueError."""
    number = getattr(error, "errno", None)
    if number == errno.ELOOP:
        return "a symbolic link"
    return getattr(error, "strerror", None) or str(error)
