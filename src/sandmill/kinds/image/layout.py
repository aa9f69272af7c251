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


IMAGE_ARCHIVE = MediaFiles(
    train_items="train.zip",
    test_items="test.zip",
    train_table=None,
    name="{id}.png",
    train_name="{label}.{id}.png",
    tells_names=False,
)
"""The label of a training picture is in its file name and nowhere else."""

IMAGE_LABELS = MediaFiles(train_items="train.zip", test_items="test.zip", name="{id}.jpg", cell="JPEG picture")
"""Archives, and a table of training labels. Nothing but the archive lists the test pictures."""

IMAGE_GRADES = MediaFiles(
    train_items="train_images/", test_items="test_images/", test_table="test.csv", name="{id}.png"
)

IMAGE_CLASSES = MediaFiles(
    train_items="train/", test_items="test/", train_table="labels.csv", name="{id}.jpg", cell="JPEG picture"
)

IMAGE_TILES = MediaFiles(
    train_items="train/", test_items="test/", train_table="train_labels.csv", name="{id}.tif", cell="TIFF picture"
)

IMAGE_FLAGS = MediaFiles(
    train_items="images/", test_items="images/", test_table="test.csv", name="{id}.jpg", cell="JPEG picture"
)
"""One folder for the pictures of both parts."""

IMAGE_NOTES = MediaFiles(
    train_items="train/",
    test_items="test/",
    train_only_table="train_annotations.csv",
    name="{id}.jpg",
    cell="JPEG picture",
)
"""What annotators measured on training pictures is in a table of its own."""
TABLE_IMAGE = IMAGE_FLAGS
IMAGE_PATIENTS = MediaFiles(
    train_items="jpeg/train/",
    test_items="jpeg/test/",
    name="{id}.jpg",
    test_table="test.csv",
    cell="JPEG picture, and TIFF picture with the same pixels",
    copies=(Copies("train/", "test/", "{id}.tif", tiff_of_jpeg),),
)
