"""Layouts of tables under other names, and of tables with other files beside them."""

from sandmill.layouts.media import Copies, MediaFiles
from sandmill.layouts.tables import Tables

LABELS_AND_TEST = Tables(train="labels.csv")
TABLE_GEOMETRY = MediaFiles(
    train_items="train/",
    test_items="test/",
    name="{id}/geometry.xyz",
    test_table="test.csv",
    item="crystal",
    cell="list of atoms",
)
TABLE_IMAGE = MediaFiles(
    train_items="images/",
    test_items="images/",
    name="{id}.jpg",
    test_table="test.csv",
    cell="JPEG picture",
)
IMAGE_PATIENTS = MediaFiles(
    train_items="jpeg/train/",
    test_items="jpeg/test/",
    name="{id}.jpg",
    test_table="test.csv",
    cell="JPEG picture, and TIFF picture with the same pixels",
    copies=(Copies("train/", "test/", "{id}.tif", "sandmill.layouts.encodings:tiff_of_jpeg"),),
)
