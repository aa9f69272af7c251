"""Columns as numbers: inverse distribution functions, standardisation, and cut points on the unit interval.

Numbers are floats; categorical columns are level codes 0, 1, ..., dates are days after the first, units are
numbers, all as floats. A gap is NaN.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from sandmill.models.mechanism import Categorical, Column, Cycle, Date, LogNormal, Normal, Uniform, Unit

Floats = NDArray[np.float64]


def quantile(column: Column, u: Floats, shift: Floats | float = 0.0, *, is_train: bool = False) -> Floats:
    """Value at probability u, as written in the files: rounded, and positive where the quantity is.

    Args:
        column: declaration.
        u: probabilities in (0, 1), any shape.
        shift: standard deviations that the column's parents move it by; broadcasts with u.
        is_train: which side of a split by time the rows are on.

    Raises:
        TypeError: for unit columns, whose values are no matter of chance alone.
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
    """Value of a continuous column at a standard normal quantile, as written in the files."""
    match column.distribution:
        case Normal(mean=mean, sd=sd):
            value = mean + sd * score
        case LogNormal(median=median, sigma=sigma):
            value = np.maximum(median * np.exp(sigma * score), 10.0**-column.decimals)
        case Uniform(low=low, high=high):
            value = low + (high - low) * ndtr(score)
        case _:
            raise TypeError(f"column {column.name} is not continuous")
    return np.round(value, column.decimals)


def probability_below(column: Column, value: float, shift: Floats | float = 0.0) -> Floats:
    """Inverse of `quantile` for continuous columns: where on (0, 1) a cut lies, for each shift."""
    return np.asarray(ndtr(_normal_score(column, np.asarray(value, dtype=np.float64)) - shift))


def log_density(column: Column, value: Floats, shift: Floats | float = 0.0, spread: float = 1.0) -> Floats:
    """Logarithm of a normal or lognormal column's density, up to a constant that all its values share.

    Args:
        column: declaration.
        value: cells, positive for lognormal columns.
        shift: standard deviations that a categorical parent moves the column by.
        spread: how many times as wide as declared; the centre stays.
    """
    z = (_normal_score(column, value) - shift) / spread
    scale = np.log(value) if isinstance(column.distribution, LogNormal) else 0.0
    return np.asarray(-0.5 * z**2 - np.log(spread) - scale)


def _normal_score(column: Column, value: Floats) -> Floats:
    """The standard normal quantile that a continuous column's value comes from, before any shift."""
    match column.distribution:
        case Normal(mean=mean, sd=sd):
            return np.asarray((value - mean) / sd)
        case LogNormal(median=median, sigma=sigma):
            return np.asarray(np.log(np.maximum(value, 1e-300) / median) / sigma)
        case Uniform(low=low, high=high):
            return np.asarray(ndtri(np.clip((value - low) / (high - low), 1e-12, 1 - 1e-12)))
        case _:
            raise TypeError(f"column {column.name} is not continuous")


def standardize(column: Column, value: Floats) -> Floats:
    """Put a column on the scale that motifs work on: about mean 0 and variance 1, logarithms where it is skewed."""
    match column.distribution:
        case Normal(mean=mean, sd=sd):
            return np.asarray((value - mean) / sd)
        case LogNormal(median=median, sigma=sigma):
            return np.asarray(np.log(value / median) / sigma)
        case Uniform(low=low, high=high):
            return np.asarray((value - (low + high) / 2) * np.sqrt(12) / (high - low))
        case Cycle(first=first, period=period):
            return np.asarray((value - (first + (period - 1) / 2)) / np.sqrt((period**2 - 1) / 12))
        case Date(days=days):
            return np.asarray((value - (days - 1) / 2) / np.sqrt((days**2 - 1) / 12))
        case Categorical() | Unit():
            return value
