"""Read regular files only. A link could copy a private file of the user into a seed's texts."""

import os
import stat
from pathlib import Path

from sandmill.seeds.source_problems import SourceProblem, Unsound

_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def require_regular(path: Path, file: str) -> None:
    """Refuse links, which can point outside the folder, and pipes and devices, which may never end.

    A missing file is not refused here; opening it fails.

    Raises:
        Unsound: if something is there and it is no regular file.
    """
    try:
        mode = path.lstat().st_mode
    except OSError:
        return
    if not stat.S_ISREG(mode):
        saw = "a link" if stat.S_ISLNK(mode) else "no regular file"
        raise Unsound([SourceProblem(file, saw, "a regular file in the folder itself")])


def require_folder(path: Path, file: str) -> None:
    """Refuse a folder that is a link.

    Raises:
        Unsound: if it is one.
    """
    if path.is_symlink():
        raise Unsound([SourceProblem(file, "a link", "a folder in the folder itself")])


def read_regular(path: Path, file: str, limit: int) -> bytes:
    """Read at most `limit` bytes of a regular file.

    Raises:
        Unsound: if it is a link or no regular file.
        OSError: if it cannot be read.
    """
    require_regular(path, file)
    with os.fdopen(os.open(path, _READ), "rb") as stream:
        if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
            raise Unsound([SourceProblem(file, "no regular file", "a regular file in the folder itself")])
        return stream.read(limit)
