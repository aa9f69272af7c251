"""Messages of `sandmill serve` as JSON, encoded in pieces, so that no step holds the interpreter's lock for long."""

import secrets
from base64 import b64encode
from collections.abc import Iterator

from pydantic import BaseModel

from sandmill.models.remote import Contents

PIECE_BYTES = 3 << 16
"""Bytes of a piece. It is a multiple of 3, so that its base64 has no padding inside."""


def json_pieces(message: BaseModel) -> Iterator[bytes]:
    """Encode a message. Its contents become base64 while the pieces are taken."""
    found = Contents(secrets.token_hex(16))
    text = message.model_dump_json(context=found).encode()
    return _weave(text.split(f'"{found.mark}"'.encode()), found.items)


def _weave(parts: list[bytes], contents: list[bytes]) -> Iterator[bytes]:
    for place, part in enumerate(parts):
        if place:
            yield b'"'
            yield from map(b64encode, _cut(contents[place - 1]))
            yield b'"'
        yield from map(bytes, _cut(part))


def _cut(part: bytes) -> Iterator[memoryview]:
    view = memoryview(part)
    return (view[start : start + PIECE_BYTES] for start in range(0, len(view), PIECE_BYTES))
