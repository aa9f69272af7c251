"""Columns as files write them into columns to reckon with: dates into days, numbers with a unit into numbers."""

import re
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
MEASURE = re.compile(r"\s*([+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)(?:\s+[^0-9\s,][^0-9,]*)?\s*")
NEARLY_ALL = 0.95
"""A column is dates, or numbers, if so large a share of its cells in training says so."""

COPIES_IN_TEST = 0.01
"""Where more rows than that are alike in test.csv, where nothing is copied, equal rows are no copies."""


@dataclass
class Kinds:
    """Names of the feature columns by what they hold."""

    numeric: list[str]
    """Numbers, dates as days among them."""
    categorical: list[str]
    dates: list[str]
    calendar: list[str]
    """Weekday and month, made of dates."""
    measures: list[str] = field(default_factory=list)
    """Numbers that the files write as text, such as `12.5 kg`."""


def tidy(train: pd.DataFrame, test: pd.DataFrame, features: list[str]) -> Kinds:
    """Rewrite columns in place as numbers where that is what they hold, and sort them by kind.

    Columns that never change are left out, and so are categories of which test.csv repeats none, such as unit names.
    """
    kinds = Kinds([], [], [], [])
    for name in features:
        pattern = pattern_of(train[name], test[name])
        if pattern is DATE:
            read_days(train, test, name)
            kinds.dates.append(name)
        elif pattern is MEASURE:
            for frame in (train, test):
                frame[name] = read_measures(frame[name])
            kinds.measures.append(name)
        if train[name].nunique(dropna=False) < 2:
            continue
        if pattern is not None or is_number(train[name]):
            kinds.numeric.append(name)
        elif train[name].dropna().isin(test[name].dropna().unique()).any():
            kinds.categorical.append(name)
    kinds.dates = [name for name in kinds.dates if name in kinds.numeric]
    kinds.calendar = [f"{name} {part}" for name in kinds.dates for part in ("weekday", "month")]
    return kinds


def is_number(cells: pd.Series) -> bool:
    """Whether pandas read a column as numbers."""
    return bool(pd.api.types.is_numeric_dtype(cells))


def pattern_of(cells: pd.Series, others: pd.Series) -> Any:
    """What text must be read as, judged by training: dates, numbers with a unit, or None for plain columns."""
    if is_number(cells):
        return None if is_number(others) else MEASURE
    texts = cells.dropna().astype(str)
    for pattern in (DATE, MEASURE):
        if len(texts) and texts.str.fullmatch(pattern).mean() >= NEARLY_ALL:
            return pattern
    return None


def read_measures(cells: pd.Series) -> pd.Series:
    """Take the number from cells such as `12.5` and `12.5 kg`; what holds none becomes a gap."""
    if is_number(cells):
        return cells
    numbers = cells.astype("string").str.extract(f"^{MEASURE.pattern}$", expand=False)
    return pd.to_numeric(numbers, errors="coerce").astype(float)


def read_days(train: pd.DataFrame, test: pd.DataFrame, name: str) -> None:
    """Write a date column as days since the first in training, and add its weekday and month."""
    stamps = [pd.to_datetime(frame[name], format="%Y-%m-%d", errors="coerce") for frame in (train, test)]
    first = stamps[0].min()
    for frame, stamp in zip((train, test), stamps, strict=True):
        frame[name] = (stamp - first).dt.days.astype(float)
        frame[f"{name} weekday"] = stamp.dt.day_of_week.astype(float)
        frame[f"{name} month"] = stamp.dt.month.astype(float)


def without_copies(
    train: pd.DataFrame, test: pd.DataFrame, features: list[str], targets: tuple[str, ...]
) -> pd.DataFrame:
    """Drop training rows that repeat an earlier one in everything but the id; the index keeps their places."""
    copied = train.duplicated(subset=[*features, *targets])
    if not copied.any() or test.duplicated(subset=features).mean() > COPIES_IN_TEST:
        return train
    return train[~copied]
