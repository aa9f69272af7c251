"""Messages with large contents: a JSON head, then the contents as raw bytes, to which the head refers by number.

| bytes | content of a frame |
|---|---|
| 4 | `SMF1` |
| 4, 4 | bytes of the head, number of contents; big-endian |
| 8 for each content | its bytes |
| the rest | the head, then all contents |

A frame is written and read in pieces, so no step of either holds the interpreter's lock for long.
"""

import secrets
import struct
from base64 import b64encode
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeVar

from pydantic import BaseModel

from sandmill.models.remote import Contents

FRAMES = "application/x-sandmill-frames"
"""Media type of a frame, in the headers Content-Type and Accept."""
PIECE_BYTES = 3 << 16
"""Bytes of a piece. It is a multiple of 3, so that its base64 has no padding inside."""
_START = struct.Struct(">4sII")
_MAGIC = b"SMF1"
_MOST_CONTENTS = 1 << 20

Model = TypeVar("Model", bound=BaseModel)


class FrameError(Exception):
    """The bytes are no message of the expected size."""


@dataclass(frozen=True)
class Frame:
    """A message that is ready to be sent. Iterating yields its pieces."""

    head: bytes
    contents: tuple[bytes, ...]

    @classmethod
    def of(cls, message: BaseModel) -> "Frame":
        """Encode a message."""
        found = Contents()
        text = message.model_dump_json(context=found).encode()
        start = _START.pack(_MAGIC, len(text), len(found.items))
        lengths = struct.pack(f">{len(found.items)}Q", *map(len, found.items))
        return cls(start + lengths + text, tuple(found.items))

    @property
    def size(self) -> int:
        """Bytes of the frame."""
        return len(self.head) + sum(map(len, self.contents))

    def __iter__(self) -> Iterator[bytes]:
        small = bytearray()
        for part in (self.head, *self.contents):
            for piece in _cut(part):
                small += piece
                if len(small) >= PIECE_BYTES:
                    yield bytes(small)
                    small.clear()
        if small:
            yield bytes(small)


def json_pieces(message: BaseModel) -> Iterator[bytes]:
    """Encode a message as JSON. Its contents become base64 while the pieces are taken."""
    mark = secrets.token_hex(16)
    found = Contents(mark)
    text = message.model_dump_json(context=found).encode()
    return _weave(text.split(f'"{mark}"'.encode()), found.items)


class MessageReader:
    """Collects a frame or a JSON text piece by piece."""

    def __init__(self, most_bytes: int, is_framed: bool) -> None:
        self._left, self._most_bytes = most_bytes, most_bytes
        self._is_framed = is_framed
        self._lengths = deque([_START.size] if is_framed else [])
        self._part = bytearray()
        self._parts: list[bytes] = []
        """The parts that are complete: the start, the lengths, the head, then the contents."""

    def feed(self, piece: bytes) -> None:
        """Take the next bytes. Raises `FrameError` if there are too many, or they are no frame."""
        self._left -= len(piece)
        if self._left < 0:
            raise FrameError(f"more than {self._most_bytes} bytes")
        if not self._is_framed:
            self._part += piece
            return
        view = memoryview(piece)
        while view:
            if not self._lengths:
                raise FrameError("bytes after its end")
            taken = view[: self._lengths[0] - len(self._part)]
            self._part += taken
            view = view[len(taken) :]
            self._end_parts()

    def message(self, model: type[Model]) -> Model:
        """Return the message.

        Raises `FrameError` if its end is missing. Raises `ValidationError` if it is not of this model.
        """
        if not self._is_framed:
            return model.model_validate_json(bytes(self._part))
        if self._lengths:
            raise FrameError("its end is missing")
        _, _, head, *contents = self._parts
        return model.model_validate_json(head, context=dict(enumerate(contents)))

    def _end_parts(self) -> None:
        while self._lengths and len(self._part) == self._lengths[0]:
            self._lengths.popleft()
            self._parts.append(bytes(self._part))
            self._part = bytearray()
            if len(self._parts) == 1:
                magic, head, number = _START.unpack(self._parts[0])
                if magic != _MAGIC or number > _MOST_CONTENTS:
                    raise FrameError("not the start of a frame")
                self._lengths += [8 * number, head]
            elif len(self._parts) == 2:
                lengths = struct.unpack(f">{len(self._parts[1]) // 8}Q", self._parts[1])
                if sum(lengths) > self._most_bytes:
                    raise FrameError(f"more than {self._most_bytes} bytes")
                self._lengths += lengths


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
