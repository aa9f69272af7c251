"""Reading the one file that a run hands in."""

import os
import stat
from dataclasses import dataclass
from hashlib import blake2b

from sandmill.models.layout import SUBMISSION

_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


@dataclass(frozen=True)
class Submission:
    """What lies in the place of the submission."""

    content: bytes | None = None
    identity: tuple[int, int] | None = None
    """Changes whenever the file is written."""
    tampered: str = ""
    """What is wrong with it, if it is something else than a regular file of its own within the limit."""

    @property
    def fingerprint(self) -> tuple[tuple[int, int], bytes] | None:
        """Identity and hash of the content, to compare with later without keeping the content."""
        if self.content is None or self.identity is None:
            return None
        return self.identity, blake2b(self.content).digest()


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
