"""Write docs/gallery.md and its pictures: one task of each kind of a release, as an agent sees it.

Run from the repository root: python -m benchmarks.gallery --release releases/micro --to docs. It reads public files and
the facts of `public/` alone, and shows training rows only.
"""

import argparse
import re
import struct
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from PIL import Image

from sandmill.kinds.files.base import layout_of
from sandmill.kinds.files.item_files import sound_chunks
from sandmill.models.release import TaskRecord
from sandmill.store.release import StoredRelease, load

PICTURES, SOUNDS, ROWS, COLUMNS = 8, 4, 3, 7
"""Items of a sheet, and rows and columns of a table, that are shown."""
HEIGHT, GAP, COLOURS, WIDTH = 96, 6, 64, 1000
"""Pixels of a sheet's row, pixels between items, colours of a sheet, widest sheet in pixels."""
WINDOW, STEP = 256, 64
"""Samples of one column of a spectrogram, and from one column to the next."""
LONGEST = 220
"""Characters of a text that is shown."""

HEAD = """# Gallery

One task of each kind of the demo, as an agent sees it: {made}. Pictures and tables show training items only.
Under scanned pages stands what they look like when clean; sounds are drawn as spectrograms.

{command}

[structures.md](structures.md) lists all kinds.
"""
COMMAND = "Made by `python -m benchmarks.gallery --release releases/micro --to docs` from a release of `make demo`."


def write_gallery(release: StoredRelease, folder: Path) -> list[str]:
    """Write the page and its pictures. Returns the names of the kinds."""
    (folder / "gallery").mkdir(parents=True, exist_ok=True)
    sections, kinds = [], []
    for task_id in release.task_ids:
        record = release.record(task_id)
        kind = record.facts.kind or "table"
        if kind not in kinds:
            kinds.append(kind)
            sections.append(_section(record, kind, release.files("public", task_id), folder))
    made = f"{len(kinds)} of {release.manifest.tasks} tasks of `{release.manifest.dataset}@{release.version}`"
    page = "\n".join([HEAD.format(made=made, command=COMMAND), *sections])
    (folder / "gallery.md").write_text(page, encoding="utf-8")
    return kinds


def _section(record: TaskRecord, kind: str, files: dict[str, bytes], folder: Path) -> str:
    """Describe one task: its title and first paragraph, its size and metric, and some of its items."""
    spec, facts = record.spec, record.facts
    title, paragraph = _opening(files["description.md"].decode())
    train = layout_of(spec).read(files, facts, spec.feature_columns, spec.only_in_training).train
    size = f"{train.height} training items, metric `{facts.metric.value}`, {facts.target.value}"
    text = f"## {title}\n\nKind `{kind}`. {size}.\n\n> {paragraph}\n"
    column = spec.channel.column if spec.channel else ""
    content = train[column].to_list() if column else []
    if content and isinstance(content[0], bytes):
        names = [str(name) for name in train[facts.id_column].head(PICTURES)]
        place = f"gallery/{kind}.png"
        sheet = _sheet(content, [files.get(f"train_cleaned/{name}.png") for name in names])
        sheet.save(folder / place, optimize=True)
        return f"{text}\n![Training items of {title}]({place})\n"
    return f"{text}\n{_table(train, column, facts.target_column)}"


def _opening(description: str) -> tuple[str, str]:
    """Return the title and the first paragraph of prose."""
    title = description.partition("\n")[0].removeprefix("# ")
    parts = description.split("\n\n")
    prose = [part for part in parts if len(part) > 120 and not re.search(r"public/|^[#`|-]|^Submissions are", part)]
    return title, (prose or [""])[0].replace("\n", " ")


def _table(train: pl.DataFrame, item: str, target: str) -> str:
    """Write the first rows, with the first columns, the item itself and the target."""
    others = [name for name in train.columns if name not in (item, target)]
    names = [*others[: COLUMNS - 2], *([item] if item else []), *([target] if target in train.columns else [])]
    rows = [[_cell(value) for value in row] for row in train.select(names).head(ROWS).rows()]
    shown = [[f"`{name}`" for name in names], ["---"] * len(names), *rows]
    left_out = train.width - len(names)
    more = f"\nand {left_out} more columns.\n" if left_out else ""
    return "\n".join(f"| {' | '.join(row)} |" for row in shown) + f"\n{more}"


def _cell(value: Any) -> str:
    words = " ".join(map(str, value)) if isinstance(value, list) else str(value)
    text = " ".join(words.split()) if value is not None else ""
    text = text if len(text) <= LONGEST else f"{text[:LONGEST]} ..."
    return text.replace("|", "\\|").replace("<", "&lt;").replace("`", "'")


def _sheet(contents: Sequence[bytes], cleaned: Sequence[bytes | None]) -> Image.Image:
    """Put the first items side by side; below pages, what they look like when clean."""
    if contents[0][:4] in (b"RIFF", b"FORM"):
        rows = [[_spectrogram(content) for content in contents[:SOUNDS]]]
    else:
        rows = [[_picture(content) for content in contents[:PICTURES]]]
        rows += [[_picture(content) for content in cleaned if content]] if any(cleaned) else []
    fitting = next(n for n in range(len(rows[0]), 0, -1) if n == 1 or _width(rows[0][:n]) <= WIDTH)
    rows = [row[:fitting] for row in rows]
    sheet = Image.new("RGB", (max(map(_width, rows)), len(rows) * (HEIGHT + GAP) - GAP), (128, 128, 128))
    for number, row in enumerate(rows):
        left = 0
        for item in row:
            sheet.paste(item, (left, number * (HEIGHT + GAP)))
            left += item.width + GAP
    return sheet.quantize(COLOURS)


def _width(row: Sequence[Image.Image]) -> int:
    return sum(item.width + GAP for item in row) - GAP


def _picture(content: bytes) -> Image.Image:
    with Image.open(BytesIO(content)) as opened:
        picture = opened.convert("RGB")
    return picture.resize((round(picture.width * HEIGHT / picture.height), HEIGHT))


def _spectrogram(content: bytes) -> Image.Image:
    """Draw loudness by time (across) and frequency (upwards), in decibels below the loudest part."""
    is_wave = content.startswith(b"RIFF")
    chunks = dict(sound_chunks(content, "<" if is_wave else ">"))
    if is_wave:
        bits = struct.unpack_from("<H", chunks[b"fmt "], 14)[0]
        samples = np.frombuffer(chunks[b"data"], dtype="<i2" if bits == 16 else "u1")
    else:
        bits = struct.unpack_from(">h", chunks[b"COMM"], 6)[0]
        samples = np.frombuffer(chunks[b"SSND"][8:], dtype=">i2" if bits == 16 else "i1")
    frames = np.lib.stride_tricks.sliding_window_view(samples - samples.mean(), WINDOW)[::STEP]
    power = np.abs(np.fft.rfft(frames * np.hanning(WINDOW)))[:, ::-1].T
    decibels = 20 * np.log10(np.maximum(power / power.max(), 1e-3))
    grey = np.round(255 * (decibels + 60) / 60).astype(np.uint8)
    return Image.fromarray(grey).convert("RGB").resize((2 * HEIGHT, HEIGHT))


def main() -> None:
    """Write the gallery of a release."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.gallery", description=__doc__)
    parser.add_argument("--release", required=True, help="release to show, local or s3://")
    parser.add_argument("--to", type=Path, required=True, help="folder of the page, such as docs")
    given = parser.parse_args()
    print(*write_gallery(load(given.release), given.to), sep="\n")


if __name__ == "__main__":
    main()
