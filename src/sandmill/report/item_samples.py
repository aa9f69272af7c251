"""Items of a task as facts: what a picture, a sound, a text or a file of atoms is like, in a few lines."""

import struct
import warnings
from io import BytesIO

import numpy as np
from numpy.typing import NDArray

from sandmill.errors import shorten
from sandmill.kinds.files.base import layout_of
from sandmill.kinds.files.item_files import MAX_SIDE, sound_chunks
from sandmill.models.package import TaskPackage

TRAIN_SHOWN, TEST_SHOWN = 2, 1
_CHARACTERS = 160  # of a text that is shown
_LINES = 3  # lines of a file of atoms that are shown
_SHADES = " ░▒▓█"
_WIDE, _HIGH = 24, 12
"""Characters of a thumbnail. A character is about twice as high as it is wide."""


def item_samples(package: TaskPackage) -> list[str]:
    """Describe the first items of both parts, with ids, cells and targets; nothing if items are rows of plain tables.

    The task may be a stranger's: its files are judged before any of them is read.
    """
    spec, facts = package.spec, package.facts
    if spec.channel is None:
        return []
    layout = layout_of(spec)
    faults = [*layout.path_faults(spec, package.public)] or [*layout.excess(package.public, spec.file_sizes)]
    if not faults:
        items = layout.read(package.public, facts, spec.feature_columns, spec.only_in_training)
        faults = [*items.faults]
    if faults:
        return [f"Items are not shown: {shorten(faults[0])}"]
    lines = []
    for part, frame, shown in (("train", items.train, TRAIN_SHOWN), ("test", items.test, TEST_SHOWN)):
        for row in frame.head(shown).iter_rows(named=True):
            content = row.pop(spec.channel.column)
            name = shorten(str(row.pop(facts.id_column))) if facts.id_column in row else ""
            cells = ", ".join(f"{key} {shorten(_cell(value))}" for key, value in row.items())
            first, *more = describe_item(content if isinstance(content, bytes) else str(content).encode())
            lines.append("  ".join(filter(None, [f"{part} {layout.item} {name}".rstrip(), cells, first])))
            lines += [f"    {line}" for line in more]
    return lines


def _cell(value: object) -> str:
    if isinstance(value, bytes):
        return f"({len(value)} bytes)"
    return " ".join(map(str, value)) if isinstance(value, list) else str(value)


def describe_item(content: bytes) -> list[str]:
    """Return the facts of one item, and below them what can be shown of it in characters."""
    try:
        if content[:4] in (b"\x89PNG", b"II*\0") or content[:2] == b"\xff\xd8":
            return _describe_picture(content)
        if content[:4] in (b"RIFF", b"FORM"):
            return _describe_sound(content)
    except Exception:  # noqa: BLE001 - Pillow raises errors of any kind on damaged files
        return [f"{len(content)} bytes that cannot be decoded"]
    text = content.decode(errors="replace")
    lines = text.splitlines()
    if len(lines) > 1:
        return [f"{len(lines)} lines, {len(text)} characters", *(shorten(line) for line in lines[:_LINES])]
    return [f"{len(text)} characters: {shorten(text, _CHARACTERS)}"]


def _describe_picture(content: bytes) -> list[str]:
    from PIL import Image

    with warnings.catch_warnings(action="ignore"), Image.open(BytesIO(content)) as opened:
        if max(opened.size) > MAX_SIDE:
            raise ValueError("a picture that is larger than its head says")
        picture = opened.convert("L" if opened.mode in ("1", "L", "I;16") else "RGB")
        kind = opened.format or "picture"
    pixels = np.asarray(picture, dtype=np.float64)
    colours = len(np.unique(pixels.reshape(len(pixels) * pixels.shape[1], -1), axis=0))
    grey = pixels if pixels.ndim == 2 else pixels.mean(axis=2)
    means = "" if pixels.ndim == 2 else f" (red, green, blue {', '.join(f'{one:.0f}' for one in pixels.mean((0, 1)))})"
    told = f"{kind}, {picture.width} x {picture.height} pixels, {colours} colours, mean brightness {grey.mean():.0f}"
    return [f"{told}{means}", *_thumbnail(grey)]


def _thumbnail(grey: NDArray[np.float64]) -> list[str]:
    """Draw brightness in characters, from dark to bright parts of the picture."""
    high, wide = (min(most, side) for most, side in zip((_HIGH, _WIDE), grey.shape, strict=True))
    rows, columns = (np.arange(side) * cells // side for side, cells in zip(grey.shape, (high, wide), strict=True))
    cells = np.zeros((high, wide))
    np.add.at(cells, (rows[:, None], columns[None, :]), grey)
    cells /= np.bincount(rows)[:, None] * np.bincount(columns)[None, :]
    # Single dark and bright parts would leave no shades for the others.
    dark, bright = np.percentile(cells, (5, 95))
    levels = np.clip((cells - dark) / (bright - dark), 0, 1) if bright > dark else np.zeros_like(cells)
    return ["".join(_SHADES[round(level * (len(_SHADES) - 1))] for level in row) for row in levels]


def _describe_sound(content: bytes) -> list[str]:
    is_wave = content.startswith(b"RIFF")
    chunks = dict(sound_chunks(content, "<" if is_wave else ">"))
    if is_wave:
        _, channels, rate, _, _, bits = struct.unpack_from("<HHIIHH", chunks[b"fmt "])
        samples = np.frombuffer(chunks[b"data"], dtype="<i2" if bits == 16 else "u1").astype(np.float64)
        samples -= 0 if bits == 16 else 128
    else:
        # AIFF writes its rate as a number of 80 bits.
        channels, _, bits, exponent, fraction = struct.unpack_from(">hIhhQ", chunks[b"COMM"])
        rate = float(fraction * 2.0 ** (exponent - 16383 - 63))
        samples = np.frombuffer(chunks[b"SSND"][8:], dtype=">i2" if bits == 16 else "i1").astype(np.float64)
    full = 2.0 ** (bits - 1)
    loudness = float(np.sqrt(np.mean(samples**2))) / full if len(samples) else 0.0
    peak = float(np.abs(samples).max(initial=0)) / full
    told = f"{'WAV' if is_wave else 'AIFF'}, {len(samples) / channels / rate:.2f} s at {rate:g} samples a second"
    return [f"{told}, {bits} bits, loudness {loudness:.3f}, peak {peak:.3f} of the most"]
