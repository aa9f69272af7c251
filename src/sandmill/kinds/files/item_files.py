"""What item files hold beside pixels, samples and text, and limits of their sizes. The files may be a stranger's."""

import struct
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

import polars as pl

from sandmill.errors import count

MAX_FILE_BYTES = 20 << 20
"""Of one public file. The largest table has 40,000 test rows; a usual one has 1 MB."""
MAX_ITEM_BYTES = 1 << 20
"""Of the file of one item."""
MAX_SIDE = 512
"""Pixels of the width or height of a picture. Channels draw up to 96, pages of text a few hundred."""
MAX_SAMPLES = 96_000
"""Samples of a sound. Sounds have at most 2 s at 8 kHz."""
MAX_LINES = 2_000
"""Lines of a text or of a file of atoms."""
TEXTS = frozenset({"xyz", "txt", "csv"})
"""Suffixes of files whose content is text."""

_JPEG_SIZES = frozenset({*range(0xC0, 0xD0)} - {0xC4, 0xC8, 0xCC})
"""Markers of JPEG segments that hold height and width."""
_CODES, _COMMENT, _APPLICATION = 0xC4, 0xFE, range(0xE1, 0xF0)
"""Markers of JPEG segments: codes of the pixels, a comment, and metadata of applications beside the usual head."""
_WIDTH, _HEIGHT, _COMPRESSION, _SAMPLES = 256, 257, 259, 277
_PLAIN_TAGS = frozenset({_WIDTH, _HEIGHT, _COMPRESSION, _SAMPLES})
"""Tags of a TIFF directory that have one value."""
_TAGS = _PLAIN_TAGS | {254, 258, 262, 273, 278, 279, 282, 283, 284, 296}
"""Tags of a TIFF file that say how its pixels are stored, and nothing else."""
_PLACES = frozenset({273, 279, 258})
"""Tags whose values are places in the file or lengths of strips."""


@dataclass(frozen=True)
class _Head:
    """What a picture or sound says of itself."""

    form: tuple[object, ...]
    """Format and everything stated of the pixels or samples: the same for all items of a task."""
    sizes: tuple[int, ...]
    """Width and height, or the number of samples."""


def item_fault(path: str, content: bytes) -> str | None:
    """Return why a file is no item of a micro task, judging from its head; None if it may be one.

    What the file holds is known by its suffix: pictures (png, jpg, tif), sounds (wav, aif), texts (xyz, txt, csv). A
    picture or sound holds pixels or samples alone.
    """
    suffix = path.rpartition(".")[2].lower()
    if suffix not in _KINDS:
        return f"files of an unknown kind ({path})"
    if not 0 < len(content) <= MAX_ITEM_BYTES:
        return f"files of no bytes, or of more than {MAX_ITEM_BYTES} ({path})"
    if suffix in TEXTS:
        is_small = _is_small_text(content)
    else:
        head, most = _head(content, [suffix]), MAX_SAMPLES if suffix in ("wav", "aif") else MAX_SIDE
        is_small = head is not None and bool(head.sizes) and all(0 < size <= most for size in head.sizes)
    return None if is_small else f"files that are no {_KINDS[suffix]} ({path})"


def image_findings(train: pl.Series, test: pl.Series) -> Iterator[str]:
    """Check that all pictures have the same size and number of bytes, and hold pixels alone."""
    yield from _findings((*train, *test), "picture", ", pixels and an end alone", "widths, heights or colour types")
    if (sizes := len({len(picture) for picture in (*train, *test)})) > 1:
        yield f"pictures of {sizes} numbers of bytes; expected one, so that sizes of files tell nothing"


def audio_findings(train: pl.Series, test: pl.Series) -> Iterator[str]:
    """Check that all sounds have the same form, rate and length, and hold samples alone."""
    yield from _findings((*train, *test), "sound", " and samples alone", "formats, rates or lengths")


def _findings(items: Iterable[bytes], item: str, held: str, varied: str) -> Iterator[str]:
    heads = [_head(bytes(content), _READERS) for content in items]
    if broken := heads.count(None):
        yield f"{count(broken, item)} not of a header{held}"
    if (forms := len({head.form for head in heads if head})) > 1:
        yield f"{item}s of {forms} {varied}; expected one"


def _head(content: bytes, suffixes: Iterable[str]) -> _Head | None:
    """Read a file of one of some formats; None if it is broken or says more than it should."""
    for magic, read in map(_READERS.__getitem__, suffixes):
        if content.startswith(magic):
            try:
                return read(content)
            except (struct.error, LookupError, ValueError, OverflowError, ZeroDivisionError):
                return None
    return None


def _is_small_text(content: bytes) -> bool:
    try:
        text = content.decode()
    except UnicodeDecodeError:
        return False
    return "\r" not in text and "\0" not in text and text.count("\n") <= MAX_LINES


def _png(content: bytes) -> _Head:
    place, chunks = 8, list[tuple[bytes, bytes]]()
    while place < len(content):
        (length,) = struct.unpack_from(">I", content, place)
        chunks.append((content[place + 4 : place + 8], content[place + 8 : place + 8 + length]))
        place += 12 + length
    (first, header), *others = chunks
    if first != b"IHDR" or {name for name, _ in others[:-1]} != {b"IDAT"} or others[-1][0] != b"IEND":
        raise ValueError("chunks of remarks, times or other metadata")
    if place != len(content):
        raise ValueError("a chunk that is longer than the file")
    return _Head(("png", header), struct.unpack(">II", header[:8]))


def _jpeg(content: bytes) -> _Head:
    """Codes follow from the pixels; a comment may hold zeros alone."""
    held = [(marker, content[start:end]) for marker, start, end in jpeg_segments(content)]
    told = (marker in _APPLICATION or (marker == _COMMENT and rest.strip(b"\0")) for marker, rest in held)
    if any(told) or not content.endswith(b"\xff\xd9"):
        raise ValueError("metadata, or bytes after the end")
    sizes = (size for marker, rest in held if marker in _JPEG_SIZES for size in struct.unpack_from(">HH", rest, 1))
    return _Head(("jpg", *(one for one in held if one[0] not in (_CODES, _COMMENT))), tuple(sizes))


def jpeg_segments(content: bytes) -> Iterator[tuple[int, int, int]]:
    """Yield marker, first and last byte of the content of each segment before the first scan, that included.

    Raises:
        ValueError: if a segment begins with no marker.
    """
    place = 2
    while True:
        if content[place] != 0xFF:
            raise ValueError("no marker where a JPEG segment begins")
        marker = content[place + 1]
        (length,) = struct.unpack_from(">H", content, place + 2)
        if length < 2 or place + 2 + length > len(content):
            raise ValueError("a JPEG segment of an impossible length")
        yield marker, place + 4, place + 2 + length
        if marker == 0xDA:
            return
        place += 2 + length


def _tiff(content: bytes) -> _Head:
    """Places in the file are left out of the form."""
    tags = list(tiff_tags(content))
    named = {tag for tag, *_ in tags}
    single = {tag: value for tag, kind, values, value in tags if kind in (3, 4) and values == 1}
    if len(named) < len(tags) or not named <= _TAGS or not named & _PLAIN_TAGS <= single.keys():
        raise ValueError("tags that come twice, say more than how pixels are stored, or have several values")
    if single.get(_COMPRESSION, 1) != 1 or single.get(_SAMPLES, 1) > 4:
        raise ValueError("compressed pixels, or too many samples of a pixel")
    form = ((tag, kind, values, None if tag in _PLACES else value) for tag, kind, values, value in tags)
    return _Head(("tif", *form), (single[_WIDTH], single[_HEIGHT]))


def tiff_tags(content: bytes) -> Iterator[tuple[int, int, int, int]]:
    """Yield tag, type, number of values, and value or place of the values, for the only directory of a TIFF file.

    Raises:
        ValueError: if the file is no little-endian TIFF of one directory.
    """
    if content[:4] != b"II*\0":
        raise ValueError("no little-endian TIFF")
    (place,) = struct.unpack_from("<I", content, 4)
    (count,) = struct.unpack_from("<H", content, place)
    if struct.unpack_from("<I", content, place + 2 + 12 * count)[0]:
        raise ValueError("a TIFF of several pictures")
    for number in range(count):
        tag, kind, values = struct.unpack_from("<HHI", content, place + 2 + 12 * number)
        # One value of two bytes stands at the start of the field, and whatever follows it is filling.
        form = "<H" if kind == 3 and values == 1 else "<I"
        yield tag, kind, values, struct.unpack_from(form, content, place + 10 + 12 * number)[0]


def _wave(content: bytes) -> _Head:
    head, samples = _sound(content, "<", (b"WAVE", b"fmt ", b"data"))
    form, channels, rate, _, frame, bits = struct.unpack_from("<HHIIHH", head)
    if form != 1 or channels != 1 or bits not in (8, 16) or frame != bits // 8 or rate == 0:
        raise ValueError("samples that are no plain PCM of one channel")
    return _Head(("wav", head, len(samples)), (len(samples) // frame,))


def _aiff(content: bytes) -> _Head:
    head, samples = _sound(content, ">", (b"AIFF", b"COMM", b"SSND"))
    channels, frames, bits = struct.unpack_from(">hIh", head)
    if channels != 1 or bits not in (8, 16) or frames != (len(samples) - 8) // (bits // 8):
        raise ValueError("samples that are no plain PCM of one channel")
    return _Head(("aif", head, len(samples)), (frames,))


def _sound(content: bytes, order: str, names: tuple[bytes, bytes, bytes]) -> tuple[bytes, bytes]:
    """Return the contents of the two chunks of a sound that has no others."""
    chunks = list(sound_chunks(content, order))
    whole = 12 + sum(8 + len(held) + len(held) % 2 for _, held in chunks)
    if (content[8:12], *(name for name, _ in chunks)) != names or whole != len(content):
        raise ValueError("remarks, markers or other metadata")
    return chunks[0][1], chunks[1][1]


def sound_chunks(content: bytes, order: str) -> Iterator[tuple[bytes, bytes]]:
    """Yield name and content of the chunks of a WAV (order `<`) or AIFF (`>`) file.

    Raises:
        ValueError: if a chunk is longer than the file, or comes twice.
    """
    place, seen = 12, set()
    while place + 8 <= len(content):
        name, (length,) = content[place : place + 4], struct.unpack_from(f"{order}I", content, place + 4)
        if place + 8 + length > len(content) or name in seen:
            raise ValueError("a chunk that is longer than the file, or comes twice")
        seen.add(name)
        yield name, content[place + 8 : place + 8 + length]
        place += 8 + length + length % 2


_READERS: Mapping[str, tuple[bytes, Callable[[bytes], _Head]]] = {
    "png": (b"\x89PNG\r\n\x1a\n", _png),
    "jpg": (b"\xff\xd8\xff", _jpeg),
    "tif": (b"II*\0", _tiff),
    "wav": (b"RIFF", _wave),
    "aif": (b"FORM", _aiff),
}
"""First bytes of each format, and what reads its head."""
_PICTURE, _SOUND = f"of at most {MAX_SIDE} pixels a side", f"of one channel and at most {MAX_SAMPLES} samples"
_KINDS: Mapping[str, str] = {
    "png": f"PNG {_PICTURE}",
    "jpg": f"JPEG {_PICTURE}",
    "tif": f"little-endian TIFF {_PICTURE}",
    "wav": f"WAV {_SOUND}",
    "aif": f"AIFF {_SOUND}",
    **dict.fromkeys(TEXTS, f"UTF-8 text of at most {MAX_LINES} lines"),
}
