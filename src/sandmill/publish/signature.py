"""Detached Ed25519 signatures, as `openssl pkeyutl -rawin` makes and checks them."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from sandmill.errors import Problem, RequestError, require_extra

_BYTES = 4096


def sign(key: Path, content: bytes) -> bytes:
    """Sign with a private key. Equal content gives an equal signature of 64 bytes.

    Raises:
        InputError: the key cannot be read or is of another kind, or `cryptography` is not installed.
    """
    with require_extra("sign", "--sign-key"):
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
        from cryptography.hazmat.primitives.serialization import load_pem_private_key
    expected = "an Ed25519 private key in PEM, without a password"
    hint = f"Make one with: openssl genpkey -algorithm ed25519 -out {key}"
    found = _load(partial(load_pem_private_key, password=None), key, Ed25519PrivateKey, expected, hint)
    return bytes(found.sign(content))


def signature_fault(key: Path, content: bytes, signature: bytes | None) -> str:
    """Say what is wrong with a signature by a public key; empty if it holds.

    Raises:
        InputError: the key cannot be read or is of another kind, or `cryptography` is not installed.
    """
    with require_extra("sign", "--public-key"):
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
        from cryptography.hazmat.primitives.serialization import load_pem_public_key
    hint = f"Make one with: openssl pkey -in PRIVATE_KEY -pubout -out {key}"
    found = _load(load_pem_public_key, key, Ed25519PublicKey, "an Ed25519 public key in PEM", hint)
    if signature is None:
        return f"qc.json.sig: the version has no signature; expected one by the key {key}"
    try:
        found.verify(signature, content)
    except InvalidSignature:
        return f"qc.json.sig: the signature of qc.json is not by the key {key}"
    return ""


def _load(load: Callable[[bytes], Any], key: Path, kind: Any, expected: str, hint: str) -> Any:
    try:
        with key.open("rb") as file:
            found = load(file.read(_BYTES))
    except OSError as error:
        saw = (error.strerror or type(error).__name__).lower()
        raise RequestError("key", [Problem(str(key), saw, "a readable file")]) from error
    except (ValueError, TypeError):
        found = None
    if isinstance(found, kind):
        return found
    raise RequestError("key", [Problem(str(key), "something else", expected, hint)])
