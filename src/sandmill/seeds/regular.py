"""Read regular files only. A link could copy a private file of the user into a seed's texts."""

import os
import stat
from pathlib import Path

from sandmill.seeds.source_problems import SourceProblem, Unsound

MAX_BYTES = 256 * 1024
"""Bytes of a card, a seed.yaml, a config.yaml or a description.md. Real ones have a few kilobytes."""

_REGULAR = "a regular file in the folder itself"
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
        raise Unsound([SourceProblem(file, saw, _REGULAR)])


def require_folder(path: Path, file: str) -> None:
    """Refuse a folder that is a link.

    Raises:
        Unsound: if it is one.
    """
    if path.is_symlink():
        raise Unsound([SourceProblem(file, "a link", "a folder in the folder itself")])


def read_text(path: Path, file: str, limit: int = MAX_BYTES) -> str:
    """Read a UTF-8 file of at most `limit` bytes.

    Raises:
        Unsound: if it is a link, cannot be read, is larger than `limit` bytes or is not UTF-8.
    """
    require_regular(path, file)
    try:
        with os.fdopen(os.open(path, _READ), "rb") as stream:
            if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
                raise Unsound([SourceProblem(file, "no regular file", _REGULAR)])
            content = stream.read(limit + 1)
    except OSError as error:
        raise Unsound([SourceProblem(file, error.strerror or "an unreadable file", "a readable file")]) from None
    if len(content) > limit:
        raise Unsound([SourceProblem(file, f"more than {limit // 1024} kB", f"at most {limit // 1024} kB")])
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise Unsound([SourceProblem(file, "bytes that are not UTF-8", "text in UTF-8", line)]) from None
