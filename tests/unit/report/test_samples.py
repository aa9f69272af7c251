import io
from base64 import b64decode
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile

import pytest

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
