"""Read archives of pictures as tables of what can be measured on a picture, here and in scripts."""

import inspect
from io import BytesIO
from pathlib import Path
from zipfile import ZipFile

import numpy as np
import pandas as pd

from sandmill.models.package import TaskFacts

_READING = """\
public = sys.argv[1] if len(sys.argv) > 1 else "public"
train = read_pictures(f"{public}/train.zip", [TARGET, ID])
test = read_pictures(f"{public}/test.zip", [ID])
train[TARGET] = train[TARGET].astype(int)
"""


def read(folder: Path, facts: TaskFacts) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Read both archives: name parts as text, measures as numbers."""
    named = [facts.target_column, facts.id_column]
    return read_pictures(f"{folder}/train.zip", named), read_pictures(f"{folder}/test.zip", named[1:])


def source(facts: TaskFacts) -> list[str]:
    """The same as lines of a script, which knows the names ID and TARGET."""
    functions = [inspect.getsource(function) for function in (read_pictures, measure, measure_object)]
    return [line for text in (*functions, _READING) for line in ("", "", *text.splitlines())]


def read_pictures(path: str, parts: list[str]) -> pd.DataFrame:
    """Make a table of an archive: the parts of each file name, and measures of its picture."""
    from PIL import Image

    with ZipFile(path) as archive:
        names = archive.namelist()
        files = (BytesIO(archive.read(name)) for name in names)
        pixels = np.stack([np.asarray(Image.open(file)) for file in files])
    named = pd.DataFrame([name.split(".")[: len(parts)] for name in names], columns=parts)
    return pd.concat([named, measure(pixels.astype(float))], axis=1)


def measure(pixels: np.ndarray) -> pd.DataFrame:
    """Measure background, edges and corners. Pixels: (pictures, height, width, colours)."""
    side = pixels.shape[1]
    inner = slice(2, side - side // 5 - 1)
    left, right = (pixels[:, :, part].mean(axis=2) for part in (slice(1, 4), slice(-4, -1)))
    ground = (left + right)[:, inner] / 2
    edges = np.concatenate([pixels[:, 0, 2:-2], pixels[:, 2:-2, -1]], axis=1)
    grey = pixels.mean(axis=3)
    seen = {"slope": (right - left)[:, inner].mean(axis=(1, 2))}
    for place, name in enumerate(("red", "green", "blue")):
        seen[f"ground_{name}"] = ground[..., place].mean(axis=1)
    # Stripes: how much neighbouring rows of the background differ
    seen["stripes"] = np.abs(ground[:, 2:] - ground[:, :-2]).mean(axis=(1, 2))
    seen["bright_edge"] = (edges.min(axis=2) > 225).sum(axis=1)
    seen["dark_edge"] = (edges.max(axis=2) < 25).sum(axis=1)
    seen["lowest_rows"] = grey[:, -side // 10 :, 2:-2].mean(axis=(1, 2))
    seen["rows_above"] = grey[:, -side // 5 : -side // 10, 2:-2].mean(axis=(1, 2))
    for down, low in (("top", 0), ("bottom", -2)):
        for across, first in (("left", 0), ("right", -2)):
            red, green, blue = np.moveaxis(pixels[:, low:, first:][:, :2, :2], 3, 0)
            seen[f"green_{down}_{across}"] = (green - (red + blue) / 2).mean(axis=(1, 2))
    # A row of the background runs straight from left to right: what differs is the object
    run = np.linspace(0, 1, side - 6)[:, None]
    behind = left[:, inner, None] * (1 - run) + right[:, inner, None] * run
    return pd.concat([pd.DataFrame(seen), measure_object(pixels[:, inner, 3:-3], behind)], axis=1)


def measure_object(pixels: np.ndarray, behind: np.ndarray) -> pd.DataFrame:
    """Measure size, place, form and colour of what differs from the background."""
    is_object = np.abs(pixels - behind).sum(axis=3) > 75
    area = np.maximum(is_object.sum(axis=(1, 2)), 1)
    down, across = np.indices(is_object.shape[1:])
    x, y = ((is_object * place).sum(axis=(1, 2)) / area for place in (across, down))
    wide, high = (
        np.sqrt((is_object * (place - middle[:, None, None]) ** 2).sum(axis=(1, 2)) / area)
        for place, middle in ((across, x), (down, y))
    )
    skew = (down - y[:, None, None]) * np.abs(across - x[:, None, None])
    tilt = (is_object * skew).sum(axis=(1, 2)) / area
    seen = {"area": area, "x": x, "y": y, "wide": wide, "high": high, "spreads_below": tilt}
    # A block fills 12 times the product of its spreads, a disc 4 pi times, a ring less
    seen["filled"] = area / (12 * wide * high + 1)
    for place, name in enumerate(("red", "green", "blue")):
        seen[f"object_{name}"] = (is_object * pixels[..., place]).sum(axis=(1, 2)) / area
    return pd.DataFrame(seen)
