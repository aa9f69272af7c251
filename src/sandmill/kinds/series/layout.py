"""Files of recordings: one table of readings for each, beside a table of targets."""

from sandmill.kinds.files.media import MediaFiles

SERIES_FILES = MediaFiles(
    train_items="train/",
    test_items="test/",
    name="{id}.csv",
    item="recording",
    cell="table of readings",
)
