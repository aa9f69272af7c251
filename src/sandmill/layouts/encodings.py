"""The same pictures in another format."""

from functools import lru_cache
from io import BytesIO

_KEPT = 12_000
"""Pictures whose other form is remembered: calibration writes the same test items after every training draw."""


def tiff_of_jpeg(contents: list[bytes]) -> list[bytes]:
    """Decode JPEG files and write their pixels as TIFF files without compression."""
    return [_tiff(content) for content in contents]


@lru_cache(_KEPT)
def _tiff(content: bytes) -> bytes:
    from PIL import Image

    out = BytesIO()
    with Image.open(BytesIO(content)) as picture:
        Image.frombytes(picture.mode, picture.size, picture.tobytes()).save(out, "tiff")
    return out.getvalue()
