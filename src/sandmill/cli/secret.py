"""Read the release secret that a user names, and check that it is the one of the release."""

from typing import TYPE_CHECKING

from sandmill.errors import InputError, Problem

if TYPE_CHECKING:
    from sandmill.store.release import StoredRelease


def matching_secret(release: "StoredRelease", place: str) -> bytes:
    """Return the secret in a file, local or on S3.

    A secret in the release's own folder is not used unless the user names it: an untrusted release may have one for a
    design that takes forever to render.

    Raises:
        InputError: it cannot be read, or belongs to another release.
    """
    from sandmill.store.secret import read_secret_at, secret_id

    secret = read_secret_at(place)
    if secret_id(secret) == release.manifest.secret_id:
        return secret
    seen, wanted = f"secret {secret_id(secret)}", f"secret {release.manifest.secret_id}"
    raise InputError(place, [Problem("--secret-file", seen, wanted)], footer="Nothing ran again.")
