"""Read the tables and pictures of a task, here and in scripts."""

import re
from collections.abc import Iterable
from functools import wraps
from io import BytesIO
from typing import Any
from zipfile import ZipFile

import numpy as np
import pandas as pd

from sandmill.kinds.files.media import MediaFiles
from sandmill.kinds.memo import once_a_file
from sandmill.kinds.script_text import functions_source, quoted
from sandmill.models.kind import kind_named
from sandmill.models.package import TaskFacts


def reading_lines(facts: TaskFacts) -> list[str]:
    """Read both parts in the order of their tables, or of the names of files where there is none, as lines of a script.

    It then has `train`, `test`, `train_pixels` and `test_pixels`.
    """
    layout: MediaFiles = kind_named(facts.kind).load("layout")
    parts = layout.places[:2]
    is_named = facts.classes and not (facts.is_binary or facts.is_wide)
    types = "{ID: str, TARGET: str}" if is_named else "{ID: str}"
    functions: list[Any] = [named] if any(part.table is None for part in parts) else []
    functions += [unzipped] if any(part.place.endswith(".zip") for part in parts) else []
    lines = [*functions_source(*functions, pixels), "", "", 'public = sys.argv[1] if len(sys.argv) > 1 else "public"']
    if any(part.table for part in parts):
        lines.append(f'cells = {{"dtype": {types}, "keep_default_na": False, "na_values": [""]}}')
    for part, name in zip(parts, ("train", "test"), strict=True):
        path, is_zip = f'f"{{public}}/{part.place}"', part.place.endswith(".zip")
        if part.table:
            before, after = part.name.text.split("{id}")
            names = " + ".join([*([quoted(before)] if before else []), f"{name}[ID]", quoted(after)])
            lines.append(f'{name} = pd.read_csv(f"{{public}}/{part.table}", **cells)')
        else:
            columns = {"label": "TARGET", "id": "ID"}
            renamed = ", ".join(f'"{field}": {columns[field]}' for field in part.name.fields)
            lines.append(f"names = ZipFile({path}).namelist()" if is_zip else f"names = sorted(os.listdir({path}))")
            lines.append(f'{name} = named(names, r"{part.name.pattern().pattern}", {{{renamed}}})')
            names = "names"
        files = f"unzipped({path}, {names})" if is_zip else f"[{path} + name for name in {names}]"
        lines.append(f"{name}_pixels = pixels({files})")
    if parts[0].table is None and not is_named:
        lines.append("train[TARGET] = train[TARGET].astype(int)")
    if layout.train_table:
        targets = "[TARGET]" if facts.target_columns == (facts.target_column,) else "CLASSES"
        lines.append(f"train = train[[name for name in train if name in test or name in {targets}]]")
    return lines


def named(names: list[str], pattern: str, columns: dict[str, str]) -> pd.DataFrame:
    """Make a table of the parts of file names."""
    parts = [found.groupdict() for name in names if (found := re.fullmatch(pattern, name))]
    return pd.DataFrame(parts, dtype=object).rename(columns=columns)


def unzipped(path: str, names: Iterable[str]) -> list[BytesIO]:
    """Read files of an archive."""
    with ZipFile(path) as archive:
        return [BytesIO(archive.read(name)) for name in names]


def pixels(files: Iterable[Any]) -> np.ndarray:
    """Read pictures as one array: (pictures, height, width, colours)."""
    from PIL import Image

    return np.stack([np.asarray(Image.open(file).convert("RGB"), dtype=np.float32) for file in files])


_plain = pixels


@wraps(pixels)
def _remembering(files: Iterable[Any]) -> np.ndarray:
    """Return the same as `pixels`. Calibration reads the same files several times, so each is decoded once."""
    return np.stack([_decoded(file) for file in files]).astype(np.float32)


@once_a_file
def _decoded(file: Any) -> np.ndarray:
    return _plain([file])[0].astype(np.uint8)


pixels = _remembering
