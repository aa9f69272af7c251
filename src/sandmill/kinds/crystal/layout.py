"""Layout of a table with a file of atoms beside each row."""

from sandmill.kinds.files.media import MediaFiles

TABLE_GEOMETRY = MediaFiles(
    train_items="train/",
    test_items="test/",
    name="{id}/geometry.xyz",
    test_table="test.csv",
    item="crystal",
    cell="list of atoms",
)
