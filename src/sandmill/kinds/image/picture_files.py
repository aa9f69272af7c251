"""Write pictures as PNG, JPEG or TIFF files, all of one size in bytes and without metadata."""

from io import BytesIO

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from sandmill.kinds.image.channel import ImageChannel

JPEG_QUALITY = 75
_JPEG_BYTES = {True: (250, 0.42), False: (400, 0.65)}
"""Bytes of a JPEG file, and of each of its pixels, in grey and in colour. A picture with more detail is smoothed until
it fits."""
_COMMENT_HEAD = 4


def picture_files(pictures: NDArray[np.uint8], channel: ImageChannel) -> list[bytes]:
    """Return a file for each picture."""
    shown = pictures[..., 0] if channel.is_grey else pictures
    if channel.file == "jpg":
        head, pixel = _JPEG_BYTES[channel.is_grey]
        size = head + round(pixel * channel.side**2)
        return [_jpeg(picture, size) for picture in shown]
    # No compression: all files of a task have the same number of bytes, whatever they show.
    return [_plain(picture, channel.file) for picture in shown]


def _plain(picture: NDArray[np.uint8], file: str) -> bytes:
    out = BytesIO()
    if file == "png":
        Image.fromarray(picture).save(out, "png", compress_level=0)
    else:
        Image.fromarray(picture).save(out, "tiff")
    return out.getvalue()


def _jpeg(picture: NDArray[np.uint8], size: int) -> bytes:
    """Write a JPEG file and fill it up to a size with a comment."""
    content = _encoded(picture)
    while len(content) + _COMMENT_HEAD > size:
        picture = _smoother(picture)
        content = _encoded(picture)
    length = size - len(content) - 2
    # A segment of a comment: its mark, its length without the mark, and zeros. It follows the start of the file.
    return content[:2] + b"\xff\xfe" + length.to_bytes(2, "big") + bytes(length - 2) + content[2:]


def _encoded(picture: NDArray[np.uint8]) -> bytes:
    out = BytesIO()
    Image.fromarray(picture).save(out, "jpeg", quality=JPEG_QUALITY, subsampling=0, optimize=True)
    return out.getvalue()


def _smoother(picture: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Average each pixel with the next one in its row, half and half."""
    numbers = picture.astype(np.int64)
    return np.asarray((numbers + np.roll(numbers, 1, axis=1)) // 2, np.uint8)
