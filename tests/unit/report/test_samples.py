import io
import wave
from base64 import b64decode
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile

import numpy as np
import pytest

from sandmill.kinds.audio.render import aiff_bytes
from sandmill.report.samples import sample_files

PIL = pytest.importorskip("PIL.Image")


def picture(side: int = 8) -> bytes:
    out = io.BytesIO()
    PIL.new("L", (side, side), 128).save(out, "png")
    return out.getvalue()


def archive(files: dict[str, bytes], compression: int = ZIP_STORED) -> bytes:
    out = io.BytesIO()
    with ZipFile(out, "w", compression) as packed:
        for name, content in files.items():
            packed.writestr(name, content)
    return out.getvalue()


def test_first_rows_and_pictures_are_taken():
    public = {
        "description.md": b"# Title",
        "train.csv": b"id,size,kind\na,1,x\nb,2,x\nc,,y\n",
        "test.csv": b"id,size,kind\nd,3,x\n",
        "sample_submission.csv": b"id,t\nd,0\n",
        "train_images.zip": archive({"a.png": picture()}),
    }
    found = sample_files(public, 10_000)
    assert [table.path for table in found.tables] == ["train.csv", "test.csv"]
    assert found.tables[0].rows == (("a", "1", "x"), ("b", "2", "x"), ("c", "", "y"))
    (item,) = found.media
    assert b64decode(item.uri.removeprefix("data:image/png;base64,")) == picture()


def test_media_stay_within_their_bytes_and_the_page_says_so():
    found = sample_files({"train/a.png": picture()}, 10)
    assert found.media[0].uri == ""
    assert "left out" in found.media[0].note


def test_strange_files_are_named_and_not_embedded():
    public = {
        "train.zip": archive({"a.png": bytes(1_000_000)}, ZIP_DEFLATED),
        "train/b.png": b"<svg onload=alert(1)>",
        "train/c.svg": b"<svg onload=alert(1)>",
    }
    found = sample_files(public, 10_000)
    assert [item.uri for item in found.media] == ["", ""]


@pytest.mark.parametrize(("kind", "most"), [(np.int8, 90), (np.int16, 9000)])
def test_sounds_that_browsers_cannot_play_are_rewritten(kind, most):
    samples = (most * np.sin(np.arange(500) / 9)).astype(kind)
    found = sample_files({"train/a.aif": aiff_bytes(samples, 2000)}, 100_000)
    assert found.media[0].uri.startswith("data:audio/wav;base64,")
    with wave.open(io.BytesIO(b64decode(found.media[0].uri.partition(",")[2]))) as file:
        assert (file.getframerate(), file.getsampwidth()) == (8000, 2)
        heard = np.frombuffer(file.readframes(file.getnframes()), "<i2")
    assert (heard[::4] == samples * (1.0 if kind is np.int16 else 256.0)).all()


def test_pictures_and_sounds_come_before_texts_and_a_picture_of_each_folder_first():
    names = [f"train/{folder}/{number}.png" for folder in ("images", "masks") for number in range(4)]
    public = {"train/names.txt": b"x", **dict.fromkeys(names, picture())}
    shown = [item.path for item in sample_files(public, 10_000).media]
    assert shown[:3] == ["train/images/0.png", "train/masks/0.png", "train/images/1.png"]
    assert "train/names.txt" not in shown


def test_a_sound_of_an_impossible_rate_is_named_and_not_embedded():
    sound = aiff_bytes(np.zeros(100, np.int16), 2000)
    place = sound.index(b"COMM") + 16
    found = sample_files({"train/a.aif": sound[:place] + b"\x3f\xff" + bytes(8) + sound[place + 10 :]}, 10_000)
    assert (found.media[0].uri, found.media[0].note) == ("", "an item that cannot be shown")


@pytest.mark.parametrize("mode", ["L", "RGB"])
def test_tiff_pictures_are_shown_as_png(mode):
    out = io.BytesIO()
    drawn = PIL.new(mode, (6, 4), 100)
    drawn.save(out, "tiff")
    (item,) = sample_files({"train/a.tif": out.getvalue()}, 10_000).media
    shown = PIL.open(io.BytesIO(b64decode(item.uri.removeprefix("data:image/png;base64,"))))
    assert (shown.mode, shown.size, shown.tobytes()) == (mode, (6, 4), drawn.tobytes())


def test_damaged_items_are_named_and_never_an_error():
    out = io.BytesIO()
    PIL.new("RGB", (6, 4), 100).save(out, "tiff")
    items = {"a.tif": out.getvalue(), "a.aif": aiff_bytes(np.zeros(50, np.int16), 2000)}
    rng = np.random.Generator(np.random.PCG64(1))
    for name, whole in items.items():
        for _ in range(300):
            content = bytearray(whole)
            for place in rng.integers(0, len(content), 3):
                content[place] = rng.choice((0, 1, 2, 128, 255))
            (item,) = sample_files({f"train/{name}": bytes(content)}, 10_000).media
            assert bool(item.uri) != bool(item.note)
