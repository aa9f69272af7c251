"""Two zip archives of PNG pictures. The label of a training picture is in its file name and nowhere else."""

from sandmill.layouts.media import MediaFiles

IMAGE_ARCHIVE = MediaFiles(
    train_items="train.zip",
    test_items="test.zip",
    train_table=None,
    name="{id}.png",
    train_name="{label}.{id}.png",
    tells_names=False,
)
