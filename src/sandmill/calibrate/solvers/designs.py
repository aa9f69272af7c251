"""Cells into numbers: what every model is fed."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from sandmill.calibrate.solvers.table import Table, once_for_features

PART = 512
"""Rows that are compared with all training rows at a time: a table of similarities that stays in the cache is filled
three times as fast."""


@dataclass
class Design:
    """Numbers for a model: the same columns for training and test rows."""

    train: Any
    test: Any

    def beside(self, *others: "Design") -> "Design":
        """Put designs side by side, one after the other: the memory layout decides the last bits of what is fitted."""
        made = self
        for other in others:
            made = Design(np.hstack([made.train, other.train]), np.hstack([made.test, other.test]))
        return made

    def take(self, columns: Any) -> "Design":
        """Keep some columns, in the order given."""
        return Design(self.train[:, columns], self.test[:, columns])

    @classmethod
    def empty(cls, table: Table) -> "Design":
        """Make a design without columns."""
        return cls(np.zeros((len(table.train), 0)), np.zeros((len(table.test), 0)))

    def scaled(self) -> "Design":
        """Centre on the training mean and divide by the training deviation; constant columns become zero."""
        center, spread = self.train.mean(axis=0), self.train.std(axis=0)
        safe = np.where(spread > 1e-9, spread, np.inf)
        return Design((self.train - center) / safe, np.clip((self.test - center) / safe, -8, 8))


def standardised(cells: Any, center: Any, spread: Any) -> Any:
    """Centre and scale; what is missing becomes 0, the mean."""
    made = (cells - center) / spread
    made[np.isnan(made)] = 0
    return np.clip(made, -8, 8, out=made)


@once_for_features
def raw_numbers(table: Table) -> Design:
    """Numeric columns as they are, missing cells as NaN."""
    return Design(*(frame[table.kinds.numeric].to_numpy(dtype=float) for frame in (table.train, table.test)))


@once_for_features
def filled_numbers(table: Table) -> Design:
    """Numeric columns with missing cells set to the training median."""
    return fill_gaps(within_days(table))


def within_days(table: Table) -> Design:
    """Numeric columns; days of the test rows that lie outside training count as the nearest in it.

    A straight line through days goes astray where all of the test is later.
    """
    raw = raw_numbers(table)
    is_day = np.array([name in table.kinds.dates for name in table.kinds.numeric], dtype=bool)
    if not is_day.any():
        return raw
    low, high = (np.where(is_day, edge(raw.train, axis=0), np.nan) for edge in (np.nanmin, np.nanmax))
    return Design(raw.train, np.fmin(np.fmax(raw.test, low), high))


def fill_gaps(raw: Design) -> Design:
    """Set missing cells to the training median."""
    if not raw.train.shape[1]:
        return raw
    median = np.nanmedian(raw.train, axis=0)
    return Design(*(np.where(np.isnan(part), median, part) for part in (raw.train, raw.test)))


@once_for_features
def calendar(table: Table) -> Design:
    """Weekday and month of each date column; missing ones are the training median."""
    frames = (table.train, table.test)
    return fill_gaps(Design(*(frame[table.kinds.calendar].to_numpy(dtype=float) for frame in frames)))


def gap_flags(table: Table) -> Design:
    """One 0/1 column for each numeric column that has missing cells in training."""
    raw = raw_numbers(table)
    has_gaps = np.isnan(raw.train).any(axis=0)
    return Design(*(np.isnan(part[:, has_gaps]).astype(float) for part in (raw.train, raw.test)))


def words(table: Table, name: str) -> tuple[Any, Any]:
    """Cells of a categorical column in training and test as text, missing ones as the empty text."""

    def read(table: Table) -> list[Any]:
        both = (frame[name].astype(object) for frame in (table.train, table.test))
        return [cells.where(cells.notna(), "").astype(str).to_numpy(dtype=object) for cells in both]

    train, test = table.cached_features(("words", name), read)
    return train, test


@once_for_features
def levels(table: Table) -> Design:
    """One 0/1 column for each category seen in training; a missing category is a category, an unseen one is none."""
    train, test = [np.zeros((len(table.train), 0))], [np.zeros((len(table.test), 0))]
    for name in table.kinds.categorical:
        cells, new = words(table, name)
        train.append(level_flags(cells, cells))
        test.append(level_flags(cells, new))
    return Design(np.hstack(train), np.hstack(test))


def level_flags(known: Any, cells: Any) -> Any:
    """One 0/1 column for each known category, in order of name; a cell of another category is 0 everywhere."""
    names = pd.Index(sorted(set(known)), dtype=object)
    flags = np.vstack([np.eye(len(names)), np.zeros(len(names))])
    return flags[names.get_indexer(pd.Index(cells, dtype=object))]


@once_for_features
def plain(table: Table) -> Design:
    """The usual first design: filled numbers, calendar and 0/1 categories."""
    return dated_numbers(table).beside(levels(table))


def dated_numbers(table: Table) -> Design:
    """Filled numbers and calendar."""
    return filled_numbers(table).beside(calendar(table))


@once_for_features
def plain_scaled(table: Table) -> Design:
    """Filled, scaled numbers and 0/1 categories, unscaled."""
    return dated_numbers(table).scaled().beside(levels(table))


def by_parts(answer: Callable[[Any], Any], rows: Any) -> Any:
    """What a function says of rows, asked about few of them at a time."""
    parts = [answer(rows[start : start + PART]) for start in range(0, len(rows), PART)]
    return np.concatenate(parts) if parts else answer(rows)


def filled_from_others(table: Table) -> Design:
    """Numbers whose gaps are filled by ridge on the other columns."""
    raw, start = raw_numbers(table), filled_numbers(table).scaled()
    filled = filled_numbers(table)
    train, test = filled.train.copy(), filled.test.copy()
    for column in range(raw.train.shape[1]):
        gap, new_gap = np.isnan(raw.train[:, column]), np.isnan(raw.test[:, column])
        if not gap.any() and not new_gap.any():
            continue
        others = np.delete(start.train[~gap], column, axis=1)
        middle = raw.train[~gap, column].mean()
        system = others.T @ others + 5 * np.eye(others.shape[1])
        slopes = np.linalg.solve(system, others.T @ (raw.train[~gap, column] - middle))
        train[gap, column] = middle + np.delete(start.train[gap], column, axis=1) @ slopes
        test[new_gap, column] = middle + np.delete(start.test[new_gap], column, axis=1) @ slopes
    return Design(train, test)


def squeezed(design: Design) -> Design:
    """Signed square roots around the median: long tails shortened."""
    middle = np.median(design.train, axis=0)
    return Design(*(np.sign(part - middle) * np.sqrt(np.abs(part - middle)) for part in (design.train, design.test)))
