"""Settings of a server, its token, and its folder for temporary files."""

import fcntl
import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import gettempdir, mkdtemp

from sandmill.errors import InputError, Problem
from sandmill.models.remote import SHORTEST_TOKEN, is_token

_LONGEST_TOKEN_FILE = 4096
_PREFIX = "sandmill-serve-"
_LOCK = "lock"


@dataclass(frozen=True)
class SessionSettings:
    """How sessions of the Open Reward Standard are played, and when they end."""

    most: int = 256
    """Sessions at a time, of all clients that have the token."""
    idle_s: float = 900.0
    """Seconds without a request of its client after which a session ends."""
    wall_clock_s: float | None = None
    """Longest time of an episode; see `EpisodeLimits.wall_clock`."""
    reward: str = "ladder"


@dataclass(frozen=True)
class ServerSettings:
    """How much a server accepts and keeps."""

    timeout_s: float = 300.0
    """Longest wall time of a run, and the wall time of a request that names none, in seconds."""
    max_request_bytes: int = 256 << 20
    grace_s: float = 10.0
    """Seconds in which running code may end after SIGTERM."""
    public_bytes: int = 2 << 30
    """Bytes of all uploaded public folders. The least recently used are removed first."""
    reply_bytes: int = 512 << 20
    """Most bytes of a scratch folder that travel back in a reply."""
    sessions: SessionSettings | None = None
    """None: the server does not speak the Open Reward Standard."""


def read_token(path: Path) -> str:
    """Read the token of a server.

    Raises `InputError` if the file is not a regular file, other users may read it, or the token is too short.
    """

    def refuse(saw: str, expected: str, hint: str = "") -> InputError:
        problem = Problem(f"--token-file {path}", saw, expected, hint)
        return InputError("sandmill serve", [problem], "Nothing was started.")

    try:
        # Opening a pipe must not wait for a writer.
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except (OSError, ValueError) as error:
        raise refuse(getattr(error, "strerror", None) or str(error), "a file with a token") from None
    try:
        mode = os.fstat(descriptor).st_mode
        if not stat.S_ISREG(mode):
            raise refuse(stat.filemode(mode), "a regular file")
        if mode & 0o077:
            saw = f"mode {stat.S_IMODE(mode):04o}, which lets other users read or write it"
            raise refuse(saw, "a file for its owner alone", f"Run: chmod 600 {path}")
        text = os.read(descriptor, _LONGEST_TOKEN_FILE + 1)
    finally:
        os.close(descriptor)
    token = text.strip().decode("ascii", "replace")
    if len(text) > _LONGEST_TOKEN_FILE or not is_token(token):
        saw = f"{len(token)} characters" if token.isascii() else "characters other than ASCII"
        expected = f"one line of at least {SHORTEST_TOKEN} printable ASCII characters without spaces"
        raise refuse(saw, expected, f"Make one: (umask 077; openssl rand -hex 32 > {path})")
    return token


@contextmanager
def state_folder() -> Iterator[Path]:
    """Yield a temporary folder, and remove it at the end. Folders that killed servers left are removed first."""
    for left in Path(gettempdir()).glob(f"{_PREFIX}*"):
        with suppress(OSError):
            if not left.is_symlink() and left.stat().st_uid == os.geteuid():
                lock = os.open(left / _LOCK, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
                with os.fdopen(lock):
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    shutil.rmtree(left, ignore_errors=True)
    folder = Path(mkdtemp(prefix=_PREFIX))
    lock = os.open(folder / _LOCK, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    try:
        # The kernel releases the lock when this process ends in any way.
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)
