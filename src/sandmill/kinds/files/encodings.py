"""The same pictures in another format."""

from functools import cache, lru_cache
from io import BytesIO

_KEPT = 12_000
"""Pictures whose other form is remembered: calibration writes the same test items after every training draw."""


def tiff_of_jpeg(contents: list[bytes]) -> list[bytes]:
    """Decode JPEG files and write their pixels as TIFF files without compression."""
    return [_tiff(content) for content in contents]


@lru_cache(_KEPT)
def _tiff(content: bytes) -> bytes:
    from PIL import Image

    with Image.open(BytesIO(content)) as picture:
        pixels = picture.tobytes()
        before, after = _around(picture.mode, picture.size, len(pixels))
    return before + pixels + after


@cache
def _around(mode: str, size: tuple[int, int], count: int) -> tuple[bytes, bytes]:
    """Return what stands before and after the bytes of the pixels in a TIFF file of a size.

    Writing it anew for each picture takes longer than to decode the picture.
    """
    saved = [_saved(mode, size, value) for value in (b"\0" * count, b"\xff" * count)]
    start = next(place for place, (one, other) in enumerate(zip(*saved, strict=True)) if one != other)
    return saved[0][:start], saved[0][start + count :]


def _saved(mode: str, size: tuple[int, int], pixels: bytes) -> bytes:
    from PIL import Image

    out = BytesIO()
    Image.frombytes(mode, size, pixels).save(out, "tiff")
    return out.getvalue()
