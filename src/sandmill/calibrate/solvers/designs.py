"""Cells into numbers: what every model is fed."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from sandmill.calibrate.solvers.table import Table


@dataclass
class Design:
    """Numbers for a model: the same columns for training and test rows."""

    train: Any
    test: Any

    def beside(self, other: "Design") -> "Design":
        """Put two designs side by side."""
        return Design(np.hstack([self.train, other.train]), np.hstack([self.test, other.test]))

    def scaled(self) -> "Design":
        """Centre on the training mean and divide by the training deviation; constant columns become zero."""
        center, spread = self.train.mean(axis=0), self.train.std(axis=0)
        safe = np.where(spread > 1e-9, spread, np.inf)
        return Design((self.train - center) / safe, np.clip((self.test - center) / safe, -8, 8))


def raw_numbers(table: Table) -> Design:
    """Numeric columns as they are, missing cells as NaN."""
    design: Design = table.once("raw_numbers", read_numbers)
    return design


def read_numbers(table: Table) -> Design:
    """Turn the numeric columns into floats."""
    frames = (table.train[table.numeric], table.test[table.numeric])
    return Design(*(frame.apply(pd.to_numeric, errors="coerce").to_numpy(dtype=float) for frame in frames))


def filled_numbers(table: Table) -> Design:
    """Numeric columns with missing cells set to the training median."""
    design: Design = table.once("filled_numbers", fill_numbers)
    return design


def fill_numbers(table: Table) -> Design:
    """Set missing cells to the training median."""
    raw = raw_numbers(table)
    if not table.numeric:
        return raw
    median = np.nanmedian(raw.train, axis=0)
    return Design(*(np.where(np.isnan(part), median, part) for part in (raw.train, raw.test)))


def gap_flags(table: Table) -> Design:
    """One 0/1 column for each numeric column that has missing cells in training."""
    raw = raw_numbers(table)
    has_gaps = np.isnan(raw.train).any(axis=0)
    return Design(*(np.isnan(part[:, has_gaps]).astype(float) for part in (raw.train, raw.test)))


def words(frame: pd.DataFrame, name: str) -> Any:
    """Cells of a categorical column as text, missing ones as the empty text."""
    cells = frame[name]
    return cells.astype(object).where(cells.notna(), "").astype(str).to_numpy(dtype=object)


def levels(table: Table) -> Design:
    """One 0/1 column for each category seen in training; a missing category is a category, an unseen one is none."""
    design: Design = table.once("levels", one_hot)
    return design


def one_hot(table: Table) -> Design:
    """Write categories as 0/1 columns."""
    train, test = [np.zeros((len(table.train), 0))], [np.zeros((len(table.test), 0))]
    for name in table.categorical:
        cells, new = (words(frame, name) for frame in (table.train, table.test))
        names = sorted(set(cells))
        train.append((cells[:, None] == np.array(names, dtype=object)).astype(float))
        test.append((new[:, None] == np.array(names, dtype=object)).astype(float))
    return Design(np.hstack(train), np.hstack(test))


def plain(table: Table) -> Design:
    """The usual first design: filled numbers and 0/1 categories."""
    return filled_numbers(table).beside(levels(table))


def plain_scaled(table: Table) -> Design:
    """Filled, scaled numbers and 0/1 categories, unscaled."""
    return filled_numbers(table).scaled().beside(levels(table))
