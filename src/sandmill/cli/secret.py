"""Read the release secret, from the file that a user names or of an own dataset, and check that it is the right one."""

import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING

from sandmill.errors import InputError, Problem

if TYPE_CHECKING:
    from sandmill.store.release import StoredRelease


def matching_secret(release: "StoredRelease", place: str) -> bytes:
    """Return the secret in a file, local or on S3.

    Raises:
        InputError: it cannot be read, or belongs to another release.
    """
    from sandmill.store.secret import read_secret_at, secret_id

    secret = read_secret_at(place)
    if secret_id(secret) == release.manifest.secret_id:
        return secret
    seen, wanted = f"secret {secret_id(secret)}", f"secret {release.manifest.secret_id}"
    raise InputError(place, [Problem("--secret-file", seen, wanted)], footer="Nothing ran again.")


def own_secret(release: "StoredRelease") -> bytes | None:
    """Return the secret that a build on this machine keeps beside a local release, or None.

    It must be as builds write it: a file of this user that nobody else can read, with the secret of this release.
    """
    from sandmill.store.secret import SECRET_PATH, read_secret_file, secret_id

    path = Path(release.store.root) / SECRET_PATH
    try:
        status = path.lstat()
    except OSError:
        return None
    is_own = stat.S_ISREG(status.st_mode) and status.st_uid == os.geteuid() and not status.st_mode & 0o077
    secret = read_secret_file(path) if is_own else b""
    return secret if secret_id(secret) == release.manifest.secret_id else None
