"""Messages of `sandmill serve` as JSON, encoded in pieces, so that no step holds the interpreter's lock for long."""

import secrets
from base64 import b64encode
from collections.abc import Iterator
from typing import TypeVar

from pydantic import BaseModel

from sandmill.models.remote import Contents

PIECE_BYTES = 3 << 16
"""Bytes of a piece. It is a multiple of 3, so that its base64 has no padding inside."""

Model = TypeVar("Model", bound=BaseModel)


class TooLong(Exception):
    """A message has more bytes than expected."""


def json_pieces(message: BaseModel) -> Iterator[bytes]:
    """Encode a message. Its contents become base64 while the pieces are taken."""
    found = Contents(secrets.token_hex(16))
    text = message.model_dump_json(context=found).encode()
    return _weave(text.split(f'"{found.mark}"'.encode()), found.items)


class MessageReader:
    """Collects a JSON text piece by piece."""

    def __init__(self, most_bytes: int) -> None:
        self._most_bytes, self._text = most_bytes, bytearray()

    def feed(self, piece: bytes) -> None:
        """Take the next bytes. Raises `TooLong` if there are too many."""
        if len(self._text) + len(piece) > self._most_bytes:
            raise TooLong(f"more than {self._most_bytes} bytes")
        self._text += piece

    def message(self, model: type[Model]) -> Model:
        """Return the message. Raises `ValidationError` if it is not of this model."""
        return model.model_validate_json(bytes(self._text))


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
