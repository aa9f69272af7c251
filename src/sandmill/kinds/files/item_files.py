"""Size limits of item files, and what they give away beside what they show. The files may be a stranger's."""

import struct
from collections.abc import Callable, Iterator, Mapping

import polars as pl

from sandmill.errors import count

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
    starts = [start for marker, start, _ in jpeg_segments(content) if marker in _JPEG_SIZES]
    sizes = [struct.unpack_from(">HH", content, start + 1) for start in starts]
    return content[:3] == b"\xff\xd8\xff" and bool(sizes) and all(_is_small(*size) for size in sizes)


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


_PNG, _JPEG, _TIFF = b"\x89PNG\r\n\x1a\n", b"\xff\xd8", b"II*\0"
_CHUNKS = (b"IHDR", b"IDAT", b"IEND")
"""Chunks of a PNG file without remarks, times or other metadata."""
_CODES, _COMMENT, _APPLICATION = 0xC4, 0xFE, range(0xE1, 0xF0)
"""Markers of JPEG segments: codes of the pixels, a comment, and metadata of applications beside the usual head."""
_TAGS = frozenset({254, 256, 257, 258, 259, 262, 273, 277, 278, 279, 282, 283, 284, 296})
"""Tags of a TIFF file that say how its pixels are stored, and nothing else."""
_PLACES = frozenset({273, 279, 258})
"""Tags whose values are places in the file or lengths of strips."""


def image_findings(train: pl.Series, test: pl.Series) -> Iterator[str]:
    """Check that all pictures have the same size and number of bytes, and hold pixels alone."""
    pictures = [bytes(picture) for picture in (*train, *test)]
    headers = [_header(picture) for picture in pictures]
    if broken := headers.count(None):
        yield f"{count(broken, 'picture')} not of a header, pixels and an end alone"
    if (forms := len(set(headers) - {None})) > 1:
        yield f"pictures of {forms} widths, heights or colour types; expected one"
    if (sizes := len({len(picture) for picture in pictures})) > 1:
        yield f"pictures of {sizes} numbers of bytes; expected one, so that sizes of files tell nothing"


def _header(picture: bytes) -> tuple[object, ...] | None:
    """Return what a file says of itself, the same for all pictures of a task; None if it says more than it should."""
    try:
        if picture.startswith(_PNG):
            return _png_header(picture)
        if picture.startswith(_JPEG):
            return _jpeg_header(picture)
        return _tiff_header(picture) if picture.startswith(_TIFF) else None
    except (struct.error, IndexError, ValueError):
        return None


def _png_header(picture: bytes) -> tuple[object, ...] | None:
    """Return width, height and colour type."""
    place, header, name = len(_PNG), None, b""
    while place + 12 <= len(picture):
        (length,) = struct.unpack_from(">I", picture, place)
        name, content = picture[place + 4 : place + 8], picture[place + 8 : place + 8 + length]
        if name not in _CHUNKS or (name == b"IHDR") != (header is None):
            return None
        header = content if name == b"IHDR" else header
        place += 12 + length
    return ("png", header) if place == len(picture) and name == b"IEND" else None


def _jpeg_header(picture: bytes) -> tuple[object, ...] | None:
    """Return the segments before the pixels. Codes follow from the pixels; a comment may hold zeros alone."""
    held = []
    for marker, start, end in jpeg_segments(picture):
        content = picture[start:end]
        if marker in _APPLICATION or (marker == _COMMENT and content.strip(b"\0")):
            return None
        if marker not in (_CODES, _COMMENT):
            held.append((marker, content))
    return ("jpg", *held) if picture.endswith(b"\xff\xd9") else None


def _tiff_header(picture: bytes) -> tuple[object, ...] | None:
    """Return all tags that say how pixels are stored, places in the file left out."""
    tags = list(tiff_tags(picture))
    if not {tag for tag, *_ in tags} <= _TAGS:
        return None
    return ("tif", *((tag, kind, values, None if tag in _PLACES else value) for tag, kind, values, value in tags))


_SOUND_CHUNKS = {b"FORM": (b"COMM", b"SSND"), b"RIFF": (b"fmt ", b"data")}
"""Chunks of a file without remarks, markers or other metadata, in their order."""


def audio_findings(train: pl.Series, test: pl.Series) -> Iterator[str]:
    """Check that all sounds have the same form, rate and length, and hold samples alone."""
    sounds = [bytes(sound) for sound in (*train, *test)]
    forms = [_form(sound) for sound in sounds]
    if broken := forms.count(None):
        yield f"{count(broken, 'sound')} not of a header and samples alone"
    if (kinds := len(set(forms) - {None})) > 1:
        yield f"sounds of {kinds} formats, rates or lengths; expected one, so that sizes of files tell nothing"


def _form(sound: bytes) -> tuple[bytes, int] | None:
    """Return the bytes that state format, rate and length, or None if the file holds anything else."""
    order, expected = ("<" if sound.startswith(b"RIFF") else ">"), _SOUND_CHUNKS.get(sound[:4])
    try:
        chunks = list(sound_chunks(sound, order))
    except ValueError:
        return None
    whole = 12 + sum(8 + len(content) + len(content) % 2 for _, content in chunks)
    if tuple(name for name, _ in chunks) != expected or whole != len(sound):
        return None
    return sound[8:12] + chunks[0][1], len(sound)
