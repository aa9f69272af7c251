"""Take a file out of reach of whoever wrote it: regular files only, no links followed, size capped."""

import errno
import os
import stat
from pathlib import Path

from sandmill.errors import InputError, Problem
from sandmill.metrics.submission import MAX_SUBMISSION_BYTES

_KINDS = {stat.S_IFDIR: "a folder", stat.S_IFIFO: "a pipe", stat.S_IFCHR: "a device", stat.S_IFBLK: "a device"}


def read_regular_file(path: Path, limit: int = MAX_SUBMISSION_BYTES) -> bytes | None:
    """Read a submission without following links or waiting on pipes.

    Returns:
        At most `limit + 1` bytes, so that a reader can tell that the file was too large; None if there is no file.

    Raises:
        InputError: if the path is a link, a folder, a device or a pipe.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        # A path with a zero byte is a ValueError.
        is_link = getattr(error, "errno", None) == errno.ELOOP
        saw = "a symbolic link" if is_link else getattr(error, "strerror", None) or str(error)
        raise _not_regular(path, saw) from None
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


def _not_regular(path: Path, saw: str) -> InputError:
    return InputError(
        str(path), [Problem("submission", saw, "a regular file of its own, not a link, folder or pipe")], ""
    )
