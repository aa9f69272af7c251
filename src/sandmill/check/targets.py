"""Targets as numbers: one for each target column, or for each label of a column that holds sets."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sandmill.check.dependence import Array, Levels, level
from sandmill.models.package import TaskFacts
from sandmill.models.structure import TargetKind

YES_OR_NO = ("0", "1")
"""Class names of one label: absent, present."""


@dataclass(frozen=True)
class TargetValues:
    """One target with its value in every row, independent of its form in the files."""

    name: str
    """Target column, or label of a column that holds sets of labels."""
    values: Array
    """Class codes or numbers, NaN where the cell is not valid."""
    classes: tuple[str, ...] = ()
    """Names of the codes; empty for numbers."""

    @property
    def is_class(self) -> bool:
        """Whether values are class codes."""
        return bool(self.classes)

    @property
    def is_known(self) -> NDArray[np.bool_]:
        """Rows with a valid value."""
        return np.isfinite(self.values)

    def only(self, rows: NDArray[np.bool_] | NDArray[np.int64]) -> "TargetValues":
        """Select rows, by mask or by index."""
        return TargetValues(self.name, self.values[rows], self.classes)

    def known(self) -> "TargetValues":
        """Select the rows with a valid value."""
        return self.only(self.is_known)

    def marks(self) -> list[NDArray[np.bool_]]:
        """Return valid values as boolean marks: one array for each class, or above the median for numbers."""
        if not self.is_class:
            return [self.values > np.median(self.values)]
        codes = np.unique(self.values)
        return [self.values == code for code in (codes[1:] if len(codes) == 2 else codes)]

    def orders(self) -> list[Levels]:
        """Return rankable arrays of valid values: the ranks of numbers, or 0/1 for each class."""
        return [mark.astype(np.int64) for mark in self.marks()] if self.is_class else [level(self.values)]


def name_target(target: TargetValues, among: Sequence[TargetValues]) -> str:
    """Name a target in a finding, with its column or label if there are several."""
    return f"the target {target.name}" if len(among) > 1 else "the target"


def reads_sets(facts: TaskFacts) -> bool:
    """Whether the target column holds label names separated by spaces; there an empty cell is an empty set."""
    return facts.target is TargetKind.MULTILABEL and len(facts.target_columns) == 1


def read_targets(frame: pl.DataFrame, facts: TaskFacts) -> tuple[TargetValues, ...]:
    """Read the target columns of train.csv or answers.csv, whose cells are text."""
    if reads_sets(facts):
        return _read_sets(frame[facts.target_column], facts.classes)
    classes = YES_OR_NO if facts.target is TargetKind.MULTILABEL else facts.classes
    return tuple(TargetValues(name, _read_cells(frame[name], classes), classes) for name in facts.target_columns)


def match_rows(target: TargetValues, places: NDArray[np.int64]) -> TargetValues:
    """Reorder a target to the rows of another file; index -1 is a missing row."""
    return TargetValues(target.name, np.append(target.values, np.nan)[places], target.classes)


def _read_cells(cells: pl.Series, classes: Sequence[str]) -> Array:
    if classes:
        cells = cells.cast(pl.String).replace_strict(list(classes), list(range(len(classes))), default=None)
    read = cells.cast(pl.Float64, strict=False)
    return read.fill_null(np.nan).to_numpy().astype(np.float64)


def _read_sets(cells: pl.Series, labels: Sequence[str]) -> tuple[TargetValues, ...]:
    """Return one 0/1 target for each label. A set with an unknown or repeated label is invalid for all of them."""
    codes = {name: code for code, name in enumerate(labels)}
    wide = np.zeros((cells.len(), len(labels)))
    for row, cell in enumerate(cells.fill_null("")):
        names = cell.split()
        if set(names) <= codes.keys() and len(set(names)) == len(names):
            wide[row, [codes[name] for name in names]] = 1
        else:
            wide[row] = np.nan
    return tuple(TargetValues(name, wide[:, code].copy(), YES_OR_NO) for name, code in codes.items())
