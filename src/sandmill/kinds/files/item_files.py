"""Size limits of item files, read off their first bytes. The files may be a stranger's."""

import struct
from collections.abc import Callable, Iterator, Mapping

MAX_FILE_BYTES = 20 << 20
"""Of one public file. The largest table has 40,000 test rows; a usual one has 1 MB."""
MAX_ITEM_BYTES = 1 << 20
"""Of the file of one item."""
MAX_SIDE = 512
"""Pixels of the width or height of a picture. Channels draw up to 96, pages of text a few hundred."""
MAX_SAMPLES = 96_000
"""Samples of a sound, over all its channels. Sounds have at most 2 s at 8 kHz."""
MAX_LINES = 2_000
"""Lines of a text or of a file of atoms."""

_JPEG_SIZES = frozenset({*range(0xC0, 0xD0)} - {0xC4, 0xC8, 0xCC})
"""Markers of JPEG segments that hold height and width."""
_WIDTH, _HEIGHT, _COMPRESSION, _SAMPLES = 256, 257, 259, 277
_PLAIN_TAGS = frozenset({_WIDTH, _HEIGHT, _COMPRESSION, _SAMPLES})
"""Tags of a TIFF directory that have one value."""


def item_fault(path: str, content: bytes) -> str | None:
    """Return why a file is no item of a micro task, judging from its first bytes; None if it may be one.

    What the file holds is known by its suffix: pictures (png, jpg, tif), sounds (wav, aif), texts (xyz, txt, csv).
    """
    suffix = path.rpartition(".")[2].lower()
    if suffix not in _CHECKS:
        return f"files of an unknown kind ({path})"
    if not 0 < len(content) <= MAX_ITEM_BYTES:
        return f"files of no bytes, or of more than {MAX_ITEM_BYTES} ({path})"
    what, check = _CHECKS[suffix]
    try:
        is_small = check(content)
    except (struct.error, LookupError, ValueError, OverflowError, ZeroDivisionError):
        is_small = False
    return None if is_small else f"files that are no {what} ({path})"


def _is_small_png(content: bytes) -> bool:
    if content[:8] != b"\x89PNG\r\n\x1a\n" or content[12:16] != b"IHDR":
        return False
    return _is_small(*struct.unpack(">II", content[16:24]))


def _is_small_jpeg(content: bytes) -> bool:
    return content[:3] == b"\xff\xd8\xff" and all(_is_small(*size) for size in _at_least_one(_jpeg_sizes(content)))


def _jpeg_sizes(content: bytes) -> Iterator[tuple[int, int]]:
    """Yield the sizes that the segments before the first scan give."""
    for marker, start, _ in jpeg_segments(content):
        if marker in _JPEG_SIZES:
            height, width = struct.unpack_from(">HH", content, start + 1)
            yield width, height


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


def _is_small_tiff(content: bytes) -> bool:
    listed = list(tiff_tags(content))
    tags = {tag: value for tag, kind, values, value in listed if kind in (3, 4) and values == 1}
    is_plain = (
        tags.get(_COMPRESSION, 1) == 1
        and tags.get(_SAMPLES, 1) <= 4
        and len({tag for tag, *_ in listed}) == len(listed)
    )
    is_plain &= {tag for tag, *_ in listed} & _PLAIN_TAGS <= tags.keys()
    return is_plain and _is_small(tags[_WIDTH], tags[_HEIGHT])


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


def _is_small(width: int, height: int) -> bool:
    return 0 < width <= MAX_SIDE and 0 < height <= MAX_SIDE


def _is_small_wave(content: bytes) -> bool:
    if content[:4] != b"RIFF" or content[8:12] != b"WAVE":
        return False
    chunks = dict(sound_chunks(content, "<"))
    form, channels, rate, _, frame, bits = struct.unpack_from("<HHIIHH", chunks[b"fmt "])
    is_plain = form == 1 and channels == 1 and bits in (8, 16) and frame == bits // 8 and rate > 0
    return is_plain and len(chunks[b"data"]) // frame <= MAX_SAMPLES


def _is_small_aiff(content: bytes) -> bool:
    if content[:4] != b"FORM" or content[8:12] != b"AIFF":
        return False
    chunks = dict(sound_chunks(content, ">"))
    channels, frames, bits = struct.unpack_from(">hIh", chunks[b"COMM"])
    held = (len(chunks[b"SSND"]) - 8) // (bits // 8)
    return channels == 1 and bits in (8, 16) and frames == held and frames <= MAX_SAMPLES


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


def _is_small_text(content: bytes) -> bool:
    try:
        text = content.decode()
    except UnicodeDecodeError:
        return False
    return "\r" not in text and "\0" not in text and text.count("\n") <= MAX_LINES


def _at_least_one(sizes: Iterator[tuple[int, int]]) -> list[tuple[int, int]]:
    found = list(sizes)
    if not found:
        raise ValueError("no size")
    return found


_PICTURE, _SOUND = f"of at most {MAX_SIDE} pixels a side", f"of one channel and at most {MAX_SAMPLES} samples"
_TEXT = f"UTF-8 text of at most {MAX_LINES} lines"
_CHECKS: Mapping[str, tuple[str, Callable[[bytes], bool]]] = {
    "png": (f"PNG {_PICTURE}", _is_small_png),
    "jpg": (f"JPEG {_PICTURE}", _is_small_jpeg),
    "tif": (f"little-endian TIFF {_PICTURE}", _is_small_tiff),
    "wav": (f"WAV {_SOUND}", _is_small_wave),
    "aif": (f"AIFF {_SOUND}", _is_small_aiff),
    "xyz": (_TEXT, _is_small_text),
    "txt": (_TEXT, _is_small_text),
    "csv": (_TEXT, _is_small_text),
}
TEXTS = frozenset({"xyz", "txt", "csv"})
"""Suffixes of files whose content is text."""
