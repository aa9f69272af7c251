"""Pictures: each follows from its own row, shows the latent values, and gives nothing away beside them."""

import inspect
import io
import re
import zipfile
from copy import copy
from io import BytesIO

import numpy as np
import polars as pl
import pytest
from PIL import Image, PngImagePlugin

from sandmill.check import check_package
from sandmill.draw import render
from sandmill.kinds.files.archives import archive_excess, pack
from sandmill.kinds.files.item_files import image_findings
from sandmill.kinds.image import files as image_files
from sandmill.kinds.image.channel import ImageChannel, Seen
from sandmill.kinds.image.render import render_images
from sandmill.mechanism.row_numbers import RowNumbers
from sandmill.models.spec import Sizes
from sandmill.rng import Streams
from tests.designs import SECRET, make_image_spec

ROWS = RowNumbers.of(Streams(SECRET, "pictures"), range(200))
SIGHTS = (
    *("light", "warmth", "slope", "stripes", "size", "height", "across", "width", "glow", "colour", "specks", "spots"),
    *("shape", "corner", "floor"),
)
LATENTS = {"light": np.linspace(0, 1, 200), "colour": np.tile([0.0, 1.0], 100), "corner": np.arange(200) % 4.0}
CHANNEL = ImageChannel(
    column="picture",
    meaning="A picture",
    side=20,
    grain=6.0,
    seen=tuple(Seen(sight=sight, column=sight if sight in LATENTS else None) for sight in SIGHTS),
)


def pixels_of(pictures):
    return np.stack([np.asarray(Image.open(io.BytesIO(picture))) for picture in pictures]).astype(float)


@pytest.fixture(scope="module")
def rendered():
    spec = make_image_spec()
    return render(spec.model_copy(update={"sizes": Sizes(train=120, feedback=200, final=300)}), SECRET)


def test_pictures_show_what_their_row_holds():
    pixels = pixels_of(render_images(CHANNEL, LATENTS, ROWS))
    ground = pixels[:, 4:12, 1:3].mean(axis=(1, 2, 3))
    assert np.corrcoef(ground, LATENTS["light"])[0, 1] > 0.8
    marked = pixels[:, [0, 0, -1, -1], [0, -1, 0, -1]]
    np.testing.assert_array_equal((marked[..., 1] - marked[..., 0]).argmax(axis=1), LATENTS["corner"])


def test_a_turned_thing_shows_little_where_its_column_is_large():
    turned = CHANNEL.model_copy(
        update={"seen": (Seen(sight="light", column="light", is_turned=True), *CHANNEL.seen[1:])}
    )
    ground = pixels_of(render_images(turned, LATENTS, ROWS))[:, 4:12, 1:3].mean(axis=(1, 2, 3))
    assert np.corrcoef(ground, LATENTS["light"])[0, 1] < -0.8


def repacked(content, **changes):
    """The same archive with one entry that tells more than the others."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(out, "w") as new:
        for number, info in enumerate(old.infolist()):
            changed = changes if number == 0 else {}
            told = zipfile.ZipInfo(changed.get("filename", info.filename), changed.get("date_time", info.date_time))
            told.create_system, told.external_attr = info.create_system, info.external_attr
            told.comment = changed.get("comment", b"")
            told.compress_type = changed.get("compress_type", zipfile.ZIP_STORED)
            new.writestr(told, old.read(info))
    return out.getvalue()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"date_time": (2021, 1, 1, 0, 0, 0)}, "test.zip: holds times, comments"),
        ({"comment": b"1"}, "test.zip: holds times, comments"),
        ({"compress_type": zipfile.ZIP_DEFLATED}, "test.zip: holds times, comments"),
        ({"filename": "1.abcdef.png"}, "test.zip: files with names of another form (1.abcdef.png)"),
    ],
)
def test_an_archive_that_tells_more_is_refused(rendered, changes, message):
    public = {**rendered.package.public, "test.zip": repacked(rendered.package.public["test.zip"], **changes)}
    found = check_package(rendered.package.model_copy(update={"public": public}))
    assert any(message in str(finding) for finding in found), found


def zipped(*contents, compression=zipfile.ZIP_STORED):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", compression) as archive:
        for number, content in enumerate(contents):
            archive.writestr(f"{number}.png", content)
    return out.getvalue()


def shared(content):
    """An archive of which two entries are the same bytes."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("a.png", content)
        archive.filelist.append(copy(archive.filelist[0]))
        archive.filelist[1].filename = "b.png"
    return out.getvalue()


def plain_png(side, **remarks):
    out, info = io.BytesIO(), PngImagePlugin.PngInfo()
    for name, text in remarks.items():
        info.add_text(name, text)
    Image.new("RGB", (side, side)).save(out, "png", compress_level=0, pnginfo=info)
    return out.getvalue()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"no archive", "not a zip archive"),
        (b"x" * (20 << 20) + b"y", "has 20971521 bytes; the most is 20971520"),
        (zipped(bytes(1 << 20), compression=zipfile.ZIP_DEFLATED), "are compressed"),
        (shared(bytes(1 << 20)), "share bytes"),
        (zipped(b"1", b"2", b"3"), "has 3 files; its design has 2"),
        (pack([("a.png", plain_png(600))]), "has 1 files; its design has 2"),
        (pack([("a.png", plain_png(513)), ("b.png", plain_png(16))]), "no PNG of at most 512 pixels a side .a.png"),
    ],
)
def test_a_strangers_archive_is_judged_before_a_picture_is_decoded(content, message):
    assert re.search(message, next(archive_excess("test.zip", content, 2)))


def test_pictures_of_several_sizes_or_with_remarks_are_found():
    assert list(image_findings(pl.Series([plain_png(16)]), pl.Series([plain_png(16)]))) == []
    found = list(
        image_findings(pl.Series([plain_png(16), plain_png(17)]), pl.Series([plain_png(16, label="1"), b"no picture"]))
    )
    assert found == [
        "2 pictures not of a header, pixels and an end alone",
        "pictures of 2 widths, heights or colour types; expected one",
        "pictures of 4 numbers of bytes; expected one, so that sizes of files tell nothing",
    ]


def test_a_file_that_is_read_again_gives_the_pixels_that_scripts_read(tmp_path):
    paths = []
    for number in range(3):
        drawn = np.random.default_rng(number).integers(0, 256, (20, 20, 3)).astype(np.uint8)
        paths.append(tmp_path / f"{number}.jpg")
        Image.fromarray(drawn).save(paths[-1])
    for files in (paths, [BytesIO(path.read_bytes()) for path in reversed(paths)], paths):
        known = image_files.pixels(files)
        assert known.dtype == np.float32
        np.testing.assert_array_equal(known, inspect.unwrap(image_files.pixels)(files))
