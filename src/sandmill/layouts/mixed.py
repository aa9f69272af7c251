"""Layouts of tables under other names, and of tables with other files beside them."""

from sandmill.layouts.media import MediaFiles
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
