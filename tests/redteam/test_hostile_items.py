"""Item files of strangers: what would fill memory, lead out of a folder or crash our own code is refused unread."""

import io
import struct
import wave
import zipfile
from contextlib import suppress

import numpy as np
import pytest
from PIL import Image

from sandmill.kinds.files.archives import archive_excess, pack, unpack
from sandmill.kinds.files.base import Fault
from sandmill.kinds.files.item_files import MAX_SIDE, item_fault
from sandmill.kinds.files.media import MediaFiles
from sandmill.models.spec import Sizes

FOLDERS = MediaFiles(train_items="train/", test_items="test/", test_table="test.csv", name="{id}.png")


def picture(kind, side=8, **options):
    out = io.BytesIO()
    Image.fromarray(np.arange(side * side, dtype=np.uint8).reshape(side, side)).save(out, kind, **options)
    return out.getvalue()


def sound(channels=1, frames=100):
    out = io.BytesIO()
    with wave.open(out, "wb") as file:
        file.setnchannels(channels)
        file.setsampwidth(2)
        file.setframerate(2000)
        file.writeframes(bytes(2 * channels * frames))
    return out.getvalue()


def aiff(bits=16, frames=4):
    chunks = [(b"COMM", struct.pack(">hIh", 1, frames, bits) + bytes(10)), (b"SSND", bytes(16))]
    body = b"AIFF" + b"".join(name + struct.pack(">I", len(held)) + held for name, held in chunks)
    return b"FORM" + struct.pack(">I", len(body)) + body


def resized_jpeg(side):
    """A small JPEG whose head says that it is large."""
    content = picture("jpeg")
    place = content.index(b"\xff\xc0") + 5
    return content[:place] + struct.pack(">HH", side, side) + content[place + 4 :]


def tiff_with(tag, value):
    out = io.BytesIO()
    Image.new("RGB", (8, 8)).save(out, "tiff")
    content = bytearray(out.getvalue())
    (place,) = struct.unpack_from("<I", content, 4)
    for number in range(struct.unpack_from("<H", content, place)[0]):
        entry = place + 2 + 12 * number
        if struct.unpack_from("<H", content, entry)[0] == tag:
            struct.pack_into("<HII", content, entry + 2, 4, 1, value)
    return bytes(content)


SOUND = {"a.png": picture("png"), "a.jpg": picture("jpeg"), "a.tif": picture("tiff"), "a.wav": sound(), "a.aif": aiff()}
BOMBS = {
    "a picture of 25 million pixels in 4 kB": ("a.png", picture("png", 1)[:16] + struct.pack(">II", 5000, 5000)),
    "a JPEG head of 65,000 pixels a side": ("a.jpg", resized_jpeg(65_000)),
    "a JPEG without a size": ("a.jpg", b"\xff\xd8\xff\xe0\0\x04ab" + b"\xff\xda\0\x02"),
    "a TIFF of 100,000 pixels a side": ("a.tif", tiff_with(256, 100_000)),
    "a TIFF of 60,000 samples a pixel": ("a.tif", tiff_with(277, 60_000)),
    "a compressed TIFF": ("a.tif", picture("tiff", compression="tiff_lzw")),
    "a TIFF whose directory is the file": ("a.tif", b"II*\0\0\0\0\0" + bytes(100)),
    "a recording of many channels": ("a.wav", sound(channels=200)),
    "a recording of minutes": ("a.wav", sound(frames=200_000)),
    "a recording of no bits": ("a.aif", aiff(bits=0)),
    "a recording with more frames than bytes": ("a.aif", aiff(frames=2**31)),
    "a chunk of four gigabytes": ("a.wav", b"RIFF\xff\xff\xff\xffWAVEfmt \xff\xff\xff\xff"),
    "a million lines": ("a.xyz", b"\n" * 1_000_000),
    "a text that is none": ("a.txt", b"\xff\xfe\0"),
    "a program": ("a.exe", b"MZ"),
    "a picture that is a text": ("a.png", b"hello"),
    "a picture of no bytes": ("a.png", b""),
}


@pytest.mark.parametrize("name", BOMBS)
def test_an_item_that_would_fill_memory_is_refused_by_its_first_bytes(name):
    path, content = BOMBS[name]
    assert item_fault(path, content)
    public = {"train.csv": b"id,y\n", "test.csv": b"id\n", f"train/{path}": content}
    assert any("train/ holds" in fault for fault in FOLDERS.excess(public, Sizes(train=50, feedback=100, final=100)))
    assert any("holds" in fault for fault in archive_excess("train.zip", pack([(path, content)]), 1))


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("path", SOUND)
def test_no_damaged_item_crashes_our_own_code(path):
    content, rng = SOUND[path], np.random.default_rng(5)
    assert item_fault(path, content) is None
    for _ in range(100):
        broken = bytearray(content[: int(rng.integers(1, len(content) + 1))])
        for place in rng.integers(0, min(len(broken), 120), 3):
            broken[place] = rng.integers(0, 256)
        if item_fault(path, bytes(broken)) is None and path.endswith(("png", "jpg", "tif")):
            with suppress(OSError, SyntaxError, ValueError, TypeError, struct.error):
                assert max(Image.open(io.BytesIO(broken)).size) <= MAX_SIDE


def archive_of(**attributes):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        info = zipfile.ZipInfo("a.png", (2020, 1, 1, 0, 0, 0))
        for name, value in attributes.items():
            setattr(info, name, value)
        archive.writestr(info, picture("png"))
    return out.getvalue()


@pytest.mark.parametrize(
    "content",
    [
        archive_of(external_attr=0o120777 << 16),  # a symbolic link
        archive_of(filename="../../a.png"),
        archive_of(filename="/etc/passwd"),
        archive_of(extra=b"\x01\0\x02\0ab"),
        pack([("a.png", picture("png"))]) + b"more",
        pack([("a.png", picture("png"))])[:-30],
    ],
)
def test_an_archive_that_leads_out_or_holds_more_is_a_fault(content):
    layout = MediaFiles(train_items="train.zip", test_items="test.zip", name="{id}.png")
    with suppress(Fault):
        names = [name for name, _ in unpack({"train.zip": content}, "train.zip")]
        assert any(layout.shows_target({"test.zip": pack([(name, b"x")])}, None) for name in names)


@pytest.mark.parametrize(
    "path", ["train/../a.png", "train//a.png", "train/a/b.png", "train/.a.png", "train/a.png/", "up/a.png"]
)
def test_a_path_that_only_looks_like_an_items_is_none(path):
    assert not FOLDERS.is_item_file(path)
    assert FOLDERS.is_item_file("train/a.png")
