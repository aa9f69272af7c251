"""Files of tasks whose items are pictures."""

from functools import lru_cache
from io import BytesIO

from sandmill.kinds.files.media import Copies, MediaFiles

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


IMAGE_PATIENTS = MediaFiles(
    train_items="jpeg/train/",
    test_items="jpeg/test/",
    name="{id}.jpg",
    test_table="test.csv",
    cell="JPEG picture, and TIFF picture with the same pixels",
    copies=(Copies("train/", "test/", "{id}.tif", tiff_of_jpeg),),
)
