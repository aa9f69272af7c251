"""Bytes of item files that are no pixels, samples or text, such as headers, tags, chunks and tables."""

import struct

from sandmill.kinds.files.item_files import jpeg_segments, sound_chunks, tiff_tags

_FILLING = 0xFE
"""JPEG comment, which may fill files up to one size. The checks of pictures require that it holds zeros alone."""
_STRIPS, _STRIP_BYTES = 273, 279


def head_of(content: bytes) -> bytes:
    """Return all bytes of a file but pixels or samples; nothing if it is of another kind, or broken."""
    try:
        if content.startswith(b"\x89PNG\r\n\x1a\n"):
            return _png_head(content)
        if content.startswith(b"\xff\xd8"):
            return _jpeg_head(content)
        if content.startswith(b"II*\0"):
            return _tiff_head(content)
        if content[:4] in (b"RIFF", b"FORM"):
            return _sound_head(content)
    except (struct.error, LookupError, ValueError):
        return b""
    return b""


def _png_head(content: bytes) -> bytes:
    head, place = content[:8], 8
    while place + 12 <= len(content):
        (length,) = struct.unpack_from(">I", content, place)
        name, end = content[place + 4 : place + 8], place + 12 + length
        head += content[place : place + 8] if name == b"IDAT" else content[place:end]
        place = end
    return head + content[place:]


def _jpeg_head(content: bytes) -> bytes:
    segments = [(marker, content[start:end]) for marker, start, end in jpeg_segments(content)]
    head = b"".join(bytes([marker]) + held for marker, held in segments if marker != _FILLING)
    return head + content[content.rfind(b"\xff\xd9") :]


def _tiff_head(content: bytes) -> bytes:
    tags = {tag: (kind, values, value) for tag, kind, values, value in tiff_tags(content)}
    (_, strips, start), (_, _, length) = tags[_STRIPS], tags[_STRIP_BYTES]
    # Where there are several strips, these two values are places of lists, and all is judged but the strips' own tags.
    return content[:start] + content[start + length :] if strips == 1 else repr(sorted(tags.items())).encode()


def _sound_head(content: bytes) -> bytes:
    chunks = list(sound_chunks(content, "<" if content.startswith(b"RIFF") else ">"))
    whole = 12 + sum(8 + len(held) + len(held) % 2 for _, held in chunks)
    told = b"".join(name + (held if name not in (b"data", b"SSND") else held[:0]) for name, held in chunks)
    return content[:12] + told + content[whole:]
