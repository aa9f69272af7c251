"""Samples of items as `sandmill show` prints them, word for word. Write them anew with SANDMILL_WRITE_GOLDEN=1."""

import os
import struct
import wave
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from sandmill.draw import render
from sandmill.models.spec import Sizes
from sandmill.models.structure import MetricName, TargetKind
from sandmill.report.item_samples import describe_item, item_samples
from tests.designs import SECRET, make_image_spec, make_spec, make_text_spec

SIZES = Sizes(train=50, feedback=100, final=100)
TONE = np.round(12_000 * np.sin(np.arange(2000) * 2 * np.pi / 40)).astype("<i2")


def package(spec):
    return render(spec.model_copy(update={"sizes": SIZES}), SECRET).package


def wav():
    out = BytesIO()
    with wave.open(out, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(4000)
        file.writeframes(TONE.tobytes())
    return out.getvalue()


def aiff():
    rate = struct.pack(">hQ", 16383 + 10, 2000 << 53)  # 2000 is 1.95 times 2 to the power of 10
    common = struct.pack(">hIh", 1, len(TONE), 16) + rate
    chunks = [(b"COMM", common), (b"SSND", bytes(8) + TONE.astype(">i2").tobytes())]
    body = b"AIFF" + b"".join(name + struct.pack(">I", len(held)) + held for name, held in chunks)
    return b"FORM" + struct.pack(">I", len(body)) + body


def picture(mode):
    """A bright disc on a ground that grows brighter to the right."""
    down, across = np.indices((32, 40))
    grey = np.where(np.hypot(down - 15, across - 12) < 8, 250, 2 * across + 40).astype(np.uint8)
    out = BytesIO()
    Image.fromarray(grey if mode == "L" else np.stack([grey, grey // 2, grey // 4], axis=-1)).save(out, "png")
    return out.getvalue()


ITEMS = {
    "colour picture": lambda: picture("RGB"),
    "grey picture": lambda: picture("L"),
    "wav": wav,
    "aiff": aiff,
    "atoms": lambda: b"3\nlattice 4.1\nO 0.0 0.0 0.1\nGa 1.0 0.5 0.0\n",
    "text": lambda: "Ein kurzer Satz, größer. ".encode() * 20,
    "broken sound": lambda: wav()[:40],
    "broken picture": lambda: picture("L")[:60],
}


def test_items_read_as_they_did():
    path = Path(__file__).parent / "report" / "items.txt"
    text = "".join(f"{name}: {chr(10).join(describe_item(make()))}\n" for name, make in ITEMS.items())
    if os.environ.get("SANDMILL_WRITE_GOLDEN"):
        path.write_text(text)
    assert text == path.read_text()


@pytest.mark.parametrize(("spec", "item"), [(make_image_spec, "picture"), (make_text_spec, "row")])
def test_the_first_items_of_both_parts_are_shown_with_id_and_target(spec, item):
    made = package(spec())
    lines = [line for line in item_samples(made) if not line.startswith(" ")]
    assert [line.split()[:2] for line in lines] == [["train", item], ["train", item], ["test", item]]
    assert lines[2].split()[2] in made.public["sample_submission.csv"].decode()
    target = made.facts.target_column
    assert [f"  {target} " in line for line in lines] == [True, True, False]


def test_rows_of_plain_tables_and_files_of_a_stranger_are_not_shown():
    assert item_samples(package(make_spec(TargetKind.BINARY, MetricName.LOG_LOSS, 0))) == []
    pictures = package(make_image_spec())
    strange = pictures.model_copy(update={"public": {**pictures.public, "test.zip": b"PK"}})
    assert item_samples(strange) == ["Items are not shown: test.zip is not a zip archive (File is not a zip file)"]
