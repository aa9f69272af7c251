"""What lies beside a dataset and only its owner may read: the release secret, and guards of seeds.

Every task can be made again with the secret, and no task id or rule can be guessed without it. Guards are salted hashes
of what must not enter a task, so that workers need no table of a seed.
"""

import hmac
import secrets
from collections.abc import Iterable, Mapping
from hashlib import sha256
from pathlib import Path

from sandmill.errors import IntegrityError, Problem, RequestError, StoreError
from sandmill.fingerprint import digest
from sandmill.store.files import FileMissing, Store
from sandmill.store.limits import MAX_SECRET_BYTES

SECRET_PATH = "secret/release.key"
"""Path in the dataset. The file is hexadecimal, and as private as the answers."""

_BYTES = 32


def release_secret(store: Store, secret_file: Path | None = None) -> bytes:
    """Return the dataset's secret, at least 32 bytes. The first run creates it, so that all runs make the same tasks.

    `secret_file` is the operator's own instead: raw bytes, or hexadecimal digits as in `release.key`.

    Raises:
        RequestError: the operator's file cannot be read or is too short.
        StoreError: the stored secret is damaged.
    """
    if secret_file is not None:
        return read_secret_file(secret_file)
    if not store.exists(SECRET_PATH):
        store.create(SECRET_PATH, secrets.token_bytes(_BYTES).hex().encode(), owner_only=True)
    secret = _decode(store.read(SECRET_PATH, limit=MAX_SECRET_BYTES))
    if len(secret) < _BYTES:
        raise StoreError(
            f"{store.where(SECRET_PATH)}: holds {len(secret)} bytes; expected {_BYTES} or more, in hexadecimal. "
            "Restore it from a backup: with another secret, every task would be another task."
        )
    return secret


def secret_id(secret: bytes) -> str:
    """Return the public id of a secret, 12 hexadecimal digits. Releases made with the same secret share it."""
    return hmac.new(secret, b"sandmill release secret id", sha256).hexdigest()[:12]


def read_secret_file(place: str | Path) -> bytes:
    """Read an operator's own secret from a local file, or from `s3://bucket/.../release.key`.

    Raises:
        RequestError: the file cannot be read, is too short or too long.
        StoreError: the object on S3 cannot be read.
    """
    path, is_remote = str(place), "://" in str(place)
    try:
        if is_remote:
            content = Store(path.rpartition("/")[0]).read(path.rpartition("/")[2], limit=MAX_SECRET_BYTES)
        else:
            with Path(path).open("rb") as file:
                content = file.read(MAX_SECRET_BYTES + 1)
    except OSError as error:
        saw = error.strerror or type(error).__name__
        raise RequestError("secret_file", [Problem(path, saw.lower(), "a readable file")]) from error
    secret = _decode(content)
    if len(content) > MAX_SECRET_BYTES:
        problem = Problem(path, f"more than {MAX_SECRET_BYTES} bytes", "a release secret")
    elif len(secret) < _BYTES:
        hint = f"Make one with: python -c 'import secrets; print(secrets.token_hex({_BYTES}))' > {path}"
        expected = f"at least {_BYTES} bytes or {2 * _BYTES} hexadecimal digits"
        problem = Problem(path, f"{len(secret)} bytes", expected, "" if is_remote else hint)
    else:
        return secret
    raise RequestError("secret_file", [problem])


def _decode(content: bytes) -> bytes:
    """Decode hexadecimal text; return anything else unchanged."""
    try:
        return bytes.fromhex(content.decode("ascii").strip())
    except ValueError:
        return content


_FOLDER = "private/guards"
"""Folder of the dataset, readable by its owner alone: hashes of short values can be guessed."""


def keep_guards(store: Store, guards: Mapping[str, bytes]) -> None:
    """Write guards, by their SHA-256, into the folder of a dataset."""
    for name, content in guards.items():
        store.write(f"{_FOLDER}/{name}.bin", content, owner_only=True)


def read_guards(store: Store, names: Iterable[str | None]) -> dict[str, bytes]:
    """Read guards by their SHA-256; None is passed over.

    Raises:
        StoreError: one is not there.
        IntegrityError: one is damaged.
    """
    found = {}
    for name in sorted({name for name in names if name}):
        path = f"{_FOLDER}/{name}.bin"
        try:
            found[name] = store.read(path)
        except FileMissing:
            hint = "It is written when a build reads its seeds: run the build again from its start."
            raise StoreError(f"{store.where(path)}: hashes of a seed's rows are not there. {hint}") from None
        if digest(found[name]) != name:
            raise IntegrityError(f"{store.where(path)} is damaged: its SHA-256 is not its name")
    return found
