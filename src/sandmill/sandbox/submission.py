"""Read submission.csv from the working directory of a run."""

import os
import stat
from dataclasses import dataclass
from hashlib import blake2b

from sandmill.models.layout import SUBMISSION

_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


@dataclass(frozen=True)
class Submission:
    """What the working directory holds under the name submission.csv."""

    content: bytes | None = None
    fingerprint: tuple[int, int, bytes] | None = None
    """Inode number, change time and hash of the content. They differ whenever the file has been written."""
    tampered: str = ""
    """Why the file is refused, if it is not a regular file with one name within the size limit; else empty."""


def read_submission(work: int, limit: int) -> Submission:
    """Read submission.csv, of at most `limit` bytes. Links are not followed, and a pipe does not block."""
    try:
        descriptor = os.open(SUBMISSION, _READ, dir_fd=work)
    except FileNotFoundError:
        return Submission()
    except OSError as error:
        return Submission(tampered=f"submission.csv cannot be read as a file: {error.strerror}")
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            return Submission(tampered=f"submission.csv is not a regular file: {stat.filemode(status.st_mode)}")
        if status.st_nlink != 1:
            return Submission(tampered=f"submission.csv has {status.st_nlink} names (hard links), expected one")
        if status.st_size > limit:
            return Submission(tampered=f"submission.csv has {status.st_size} bytes, more than the limit of {limit}")
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            content = file.read(limit + 1)
        return Submission(content, (status.st_ino, status.st_ctime_ns, blake2b(content).digest()))
    finally:
        os.close(descriptor)
