"""Read the tables and pictures of a task, here and in scripts."""

import re
from collections.abc import Iterable
from functools import lru_cache
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import numpy as np
import pandas as pd

from sandmill.kinds.files.media import MediaFiles, template
from sandmill.kinds.script_text import functions_source, quoted
from sandmill.models.kind import kind_named
from sandmill.models.package import TaskFacts

_KEPT = 12_000
"""Pictures that are remembered: those of the pilot and of the package of one design."""
Part = tuple[pd.DataFrame, np.ndarray]
"""Ids, cells and targets, and pixels of shape (pictures, height, width, 3) from 0 to 255."""


def read_pictures(folder: Path, facts: TaskFacts) -> tuple[Part, Part]:
    """Read both parts in the order of their tables, or of the names of files where there is none."""
    layout: MediaFiles = kind_named(facts.kind).load("layout")
    exact = {facts.id_column: str} | (dict.fromkeys(facts.target_columns, str) if facts.classes else {})
    found = []
    for table, place, name, is_train in _parts(layout):
        if table:
            rows = pd.read_csv(folder / table, dtype=exact, keep_default_na=False, na_values=[""])
            names = [name.replace("{id}", one) for one in rows[facts.id_column]]
        else:
            names = _listed(folder / place)
            rows = named(names, _pattern(name), _columns(facts))
        wanted = [column for column in rows if is_train or column not in facts.target_columns]
        files = (
            unzipped(f"{folder}/{place}", names) if place.endswith(".zip") else [f"{folder}/{place}{n}" for n in names]
        )
        found.append((rows[wanted], _known_pixels(files)))
    (train, train_pixels), (test, test_pixels) = found
    shown = [column for column in train if column in test or column in facts.target_columns]
    return (train[shown], train_pixels), (test, test_pixels)


def reading_lines(facts: TaskFacts) -> list[str]:
    """The same as lines of a script, which then has `train`, `test`, `train_pixels` and `test_pixels`."""
    layout: MediaFiles = kind_named(facts.kind).load("layout")
    parts = _parts(layout)
    is_named = facts.classes and not (facts.is_binary or facts.is_wide)
    types = "{ID: str, TARGET: str}" if is_named else "{ID: str}"
    functions: list[Any] = [named] if any(table is None for table, *_ in parts) else []
    functions += [unzipped] if any(place.endswith(".zip") for _, place, *_ in parts) else []
    lines = [*functions_source(*functions, pixels), "", "", 'public = sys.argv[1] if len(sys.argv) > 1 else "public"']
    if any(table for table, *_ in parts):
        lines.append(f'cells = {{"dtype": {types}, "keep_default_na": False, "na_values": [""]}}')
    for (table, place, name, _), part in zip(parts, ("train", "test"), strict=True):
        path = f'f"{{public}}/{place}"'
        if table:
            before, after = name.split("{id}")
            names = " + ".join([*([quoted(before)] if before else []), f"{part}[ID]", quoted(after)])
            lines.append(f'{part} = pd.read_csv(f"{{public}}/{table}", **cells)')
        else:
            columns = {key: {"label": "TARGET", "id": "ID"}[key] for key in template(name).fields}
            renamed = ", ".join(f'"{key}": {value}' for key, value in columns.items())
            names = "names"
            lines += [
                f"names = ZipFile({path}).namelist()"
                if place.endswith(".zip")
                else f"names = sorted(os.listdir({path}))",
                f'{part} = named(names, r"{_pattern(name)}", {{{renamed}}})',
            ]
        files = f"unzipped({path}, {names})" if place.endswith(".zip") else f"[{path} + name for name in {names}]"
        lines.append(f"{part}_pixels = pixels({files})")
    if parts[0][0] is None and not is_named:
        lines.append("train[TARGET] = train[TARGET].astype(int)")
    if layout.train_table:
        lines.append(f"train = train[[name for name in train if name in test or name in {_targets(facts)}]]")
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


def _known_pixels(files: Iterable[Any]) -> np.ndarray:
    """Return the same as `pixels`. Calibration reads the same files several times, so each is decoded once."""
    contents = (file.getvalue() if isinstance(file, BytesIO) else Path(file).read_bytes() for file in files)
    return np.stack([_decoded(content) for content in contents]).astype(np.float32)


@lru_cache(_KEPT)
def _decoded(content: bytes) -> np.ndarray:
    return pixels([BytesIO(content)])[0].astype(np.uint8)


def _listed(place: Path) -> list[str]:
    """Names of the files in a folder or an archive."""
    if place.suffix == ".zip":
        with ZipFile(place) as archive:
            return archive.namelist()
    return sorted(file.name for file in place.iterdir())


def _parts(layout: MediaFiles) -> list[tuple[str | None, str, str, bool]]:
    """Return table, place, template of names of both parts, and whether it is the training part."""
    return [
        (layout.train_table, layout.train_items, layout.train_name or layout.name, True),
        (layout.test_table, layout.test_items, layout.name, False),
    ]


def _columns(facts: TaskFacts) -> dict[str, str]:
    return {"label": facts.target_column, "id": facts.id_column}


def _pattern(name: str) -> str:
    return template(name).pattern().pattern


def _targets(facts: TaskFacts) -> str:
    return "[TARGET]" if facts.target_columns == (facts.target_column,) else "CLASSES"
