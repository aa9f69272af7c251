"""Settings of a server, its token, and its folder for temporary files."""

import fcntl
import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import gettempdir, mkdtemp

from sandmill.errors import InputError, Problem
from sandmill.models.remote import SHORTEST_TOKEN, is_token

_LONGEST_TOKEN_FILE = 4096
_PREFIX = "sandmill-serve-"
_LOCK = "lock"


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
    scratch_folders: int = 256
    """Most scratch folders at a time. Each holds at most `disk_mb` of the limits."""
    scratch_ttl_s: float = 3600.0
    """Seconds after its last use at which a scratch folder is removed."""
    reply_bytes: int = 512 << 20
    """Most bytes of a scratch folder that travel back in a reply."""
    srun_root: Path | None = None
    """Folder that a SandMLE trainer shares with the server. None switches the SRUN endpoints off."""


def read_token(path: Path) -> str:
    """Read the token of a server.

    Raises:
        InputError: if the file is not a regular file, other users may read it, or the token is too short.
    """
    try:
        # Opening a pipe must not wait for a writer.
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except (OSError, ValueError) as error:
        raise _token_error(path, getattr(error, "strerror", None) or str(error), "a file with a token") from None
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise _token_error(path, stat.filemode(status.st_mode), "a regular file")
        if status.st_mode & 0o077:
            saw = f"mode {stat.S_IMODE(status.st_mode):04o}, which lets other users read or write it"
            raise _token_error(path, saw, "a file for its owner alone", f"Run: chmod 600 {path}")
        text = os.read(descriptor, _LONGEST_TOKEN_FILE + 1)
    finally:
        os.close(descriptor)
    token = text.strip().decode("ascii", "replace")
    if len(text) > _LONGEST_TOKEN_FILE or not is_token(token):
        saw = f"{len(token)} characters" if token.isascii() else "characters other than ASCII"
        expected = f"one line of at least {SHORTEST_TOKEN} printable ASCII characters without spaces"
        raise _token_error(path, saw, expected, f"Make one: (umask 077; openssl rand -hex 32 > {path})")
    return token


def _token_error(path: Path, saw: str, expected: str, hint: str = "") -> InputError:
    return InputError("sandmill serve", [Problem(f"--token-file {path}", saw, expected, hint)], "Nothing was started.")


@contextmanager
def state_folder() -> Iterator[Path]:
    """Yield a temporary folder, and remove it at the end. Folders that killed servers left are removed first."""
    _remove_stale(Path(gettempdir()))
    folder = Path(mkdtemp(prefix=_PREFIX))
    lock = os.open(folder / _LOCK, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    try:
        # The kernel releases the lock when this process ends in any way.
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)


def _remove_stale(parent: Path) -> None:
    for folder in parent.glob(f"{_PREFIX}*"):
        try:
            if folder.is_symlink() or folder.stat().st_uid != os.geteuid():
                continue
            lock = os.open(folder / _LOCK, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
        except OSError:
            continue
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(folder, ignore_errors=True)
        except OSError:
            pass
        finally:
            os.close(lock)
