"""Distributions of columns as numbers: quantiles, probabilities, densities and standard scores.

All cells are floats. A categorical cell is its level code (0, 1, ...), a date is the number of days after the first, a
unit is its number. A missing cell is NaN.
"""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from sandmill.models.columns import (
    Categorical,
    Column,
    Cycle,
    Date,
    Identity,
    LogNormal,
    Normal,
    Quantiles,
    Uniform,
    Unit,
)

Floats = NDArray[np.float64]
_EXACT_DECIMALS = 6
"""Decimals of cells that are not rounded yet, instead of the column's own."""


def quantile(column: Column, u: Floats, shift: Floats | float = 0.0, *, is_train: bool = False) -> Floats:
    """Return the value at probability u, rounded as in the files. Lognormal columns stay above 0.

    Args:
        column: declaration of the column.
        u: probabilities in (0, 1), any shape.
        shift: standard deviations by which the column's parents move it. Broadcasts with u.
        is_train: whether the rows lie before the cut of a temporal split.

    Raises:
        TypeError: for a unit column, which has no quantiles.
    """
    match column.distribution:
        case Date(days=days, train_days=cut):
            first, last = (0, days) if cut is None else (0, cut) if is_train else (cut, days)
            return np.asarray(first + np.floor(u * (last - first)))
        case Cycle(first=first, period=period):
            return np.asarray(first + np.floor(u * period))
        case Categorical(shares=shares):
            return np.searchsorted(np.cumsum(shares)[:-1], u, side="right").astype(np.float64)
        case _:
            return value_at(column, ndtri(u) + shift)


def value_at(column: Column, score: Floats) -> Floats:
    """Return a continuous column's value at a standard normal score, rounded as in the files."""
    match column.distribution:
        case Normal(mean=mean, sd=sd):
            value = mean + sd * score
        case LogNormal(median=median, sigma=sigma):
            value = np.maximum(median * np.exp(sigma * score), 10.0**-column.decimals)
        case Uniform(low=low, high=high):
            value = low + (high - low) * ndtr(score)
        case Quantiles(chances=chances, values=values, grid=grid):
            value = np.interp(ndtr(score), chances, values)
            value = np.round(value / grid) * grid if grid else value
        case _:
            raise TypeError(f"column {column.name} is not continuous")
    return np.round(value, column.decimals)


def unrounded(column: Column) -> Column:
    """Return the column with more decimals than the files hold."""
    return column.model_copy(update={"decimals": _EXACT_DECIMALS})


def shift_of(column: Column, values: Mapping[str, Floats]) -> Floats | float:
    """Return the standard deviations by which a column's parents, a category or a date, move it in each row."""
    shift: Floats | float = 0.0
    if column.shift is not None:
        shift = np.asarray(column.shift.amounts, dtype=np.float64)[values[column.shift.by].astype(np.intp)]
    if column.trend is not None:
        shift = shift + column.trend.per_year * values[column.trend.by] / 365
    return shift


def level_at(column: Column, score: Floats) -> Floats:
    """Return the level code of a categorical column at a standard normal score: an ordered probit."""
    order = np.asarray(level_order(column))
    return np.asarray(order[np.searchsorted(level_edges(column)[1:-1], score, side="right")], dtype=np.float64)


def level_order(column: Column) -> tuple[int, ...]:
    """Return the level codes of a categorical column from low to high scores."""
    law = _categorical(column)
    return law.order or tuple(range(len(law.levels)))


def level_edges(column: Column) -> Floats:
    """Return the scores between which each level of a categorical column lies, in the order of `level_order`.

    The first is -inf and the last inf.
    """
    shares = np.asarray(_categorical(column).shares)[list(level_order(column))]
    return np.asarray(ndtri(np.concatenate([[0.0], np.minimum(np.cumsum(shares)[:-1], 1.0), [1.0]])))


def score_interval(column: Column, value: Floats, step: Floats) -> tuple[Floats, Floats]:
    """Return the lowest and highest score, with the shift still in it, of values that are rounded to these."""
    if isinstance(column.distribution, Quantiles):
        step = np.maximum(step, column.distribution.grid)
    low, high = (normal_score(column, value + side * step / 2) for side in (-1, 1))
    if isinstance(column.distribution, LogNormal):
        low = np.where(value <= step * (1 + 1e-9), -np.inf, low)
    return low, high


def _categorical(column: Column) -> Categorical:
    if not isinstance(column.distribution, Categorical):
        raise TypeError(f"column {column.name} has no levels")
    return column.distribution


def probability_below(column: Column, value: float, shift: Floats | float = 0.0) -> Floats:
    """Return P(cell < value) of a continuous column for each shift: the inverse of `quantile`."""
    return np.asarray(ndtr(normal_score(column, np.asarray(value, dtype=np.float64)) - shift))


def log_density(column: Column, value: Floats, shift: Floats | float = 0.0, spread: float = 1.0) -> Floats:
    """Return the log density of a normal or lognormal column, up to an additive constant.

    `shift` moves the centre by standard deviations. `spread` is a factor on the declared standard deviation.
    """
    z = (normal_score(column, value) - shift) / spread
    scale = np.log(value) if isinstance(column.distribution, LogNormal) else 0.0
    return np.asarray(-0.5 * z**2 - np.log(spread) - scale)


def normal_score(column: Column, value: Floats) -> Floats:
    """Return the standard normal score of a continuous column's value, with the shift still in it."""
    match column.distribution:
        case Normal(mean=mean, sd=sd):
            return np.asarray((value - mean) / sd)
        case LogNormal(median=median, sigma=sigma):
            return np.asarray(np.log(np.maximum(value, 1e-300) / median) / sigma)
        case Uniform(low=low, high=high):
            return np.asarray(ndtri(np.clip((value - low) / (high - low), 1e-12, 1 - 1e-12)))
        case Quantiles(chances=chances, values=values):
            return np.asarray(ndtri(np.clip(np.interp(value, values, chances), 1e-12, 1 - 1e-12)))
        case _:
            raise TypeError(f"column {column.name} is not continuous")


def standardize(column: Column, value: Floats) -> Floats:
    """Return values on the scale of motifs: mean about 0, variance about 1, lognormal columns as logarithms.

    Categorical and unit columns are returned as they are.
    """
    if isinstance(column.distribution, LogNormal):
        return normal_score(column, value)
    if isinstance(column.distribution, Categorical | Unit):
        return value
    center, scale = center_and_scale(column)
    if isinstance(law := column.distribution, Uniform):  # as it was computed for published rows, to the last bit
        return np.asarray((value - center) * np.sqrt(12) / (law.high - law.low))
    return np.asarray((value - center) / scale)


def center_and_scale(column: Column) -> tuple[float, float]:
    """Return what is subtracted from values that are not lognormal, and what they are divided by, on the same scale."""
    match column.distribution:
        case Normal(mean=mean, sd=sd):
            return mean, sd
        case Uniform(low=low, high=high):
            return (low + high) / 2, (high - low) / float(np.sqrt(12))
        case Cycle(first=first, period=period):
            return first + (period - 1) / 2, float(np.sqrt((period**2 - 1) / 12))
        case Date(days=days):
            return (days - 1) / 2, float(np.sqrt((days**2 - 1) / 12))
        case Identity(center=center, scale=scale) | Quantiles(center=center, scale=scale):
            return center, scale
        case _:
            return 0.0, 1.0
