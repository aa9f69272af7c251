"""Distributions of columns as numbers: quantiles, probabilities, densities and standard scores.

All cells are floats. A categorical cell is its level code (0, 1, ...), a date is the number of days after the first, a
unit is its number. A missing cell is NaN.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from sandmill.models.columns import Categorical, Column, Cycle, Date, Identity, LogNormal, Normal, Uniform, Unit

Floats = NDArray[np.float64]


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
        case _:
            raise TypeError(f"column {column.name} is not continuous")
    return np.round(value, column.decimals)


def probability_below(column: Column, value: float, shift: Floats | float = 0.0) -> Floats:
    """Return P(cell < value) of a continuous column for each shift: the inverse of `quantile`."""
    return np.asarray(ndtr(_normal_score(column, np.asarray(value, dtype=np.float64)) - shift))


def log_density(column: Column, value: Floats, shift: Floats | float = 0.0, spread: float = 1.0) -> Floats:
    """Return the log density of a normal or lognormal column, up to an additive constant.

    `shift` moves the centre by standard deviations. `spread` is a factor on the declared standard deviation.
    """
    z = (_normal_score(column, value) - shift) / spread
    scale = np.log(value) if isinstance(column.distribution, LogNormal) else 0.0
    return np.asarray(-0.5 * z**2 - np.log(spread) - scale)


def _normal_score(column: Column, value: Floats) -> Floats:
    """Return the standard normal score of a continuous column's value, with the shift still in it."""
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
    """Return values on the scale of motifs: mean about 0, variance about 1, lognormal columns as logarithms.

    Categorical and unit columns are returned as they are.
    """
    match column.distribution:
        case Normal() | LogNormal():
            return _normal_score(column, value)
        case Uniform(low=low, high=high):
            return np.asarray((value - (low + high) / 2) * np.sqrt(12) / (high - low))
        case Cycle(first=first, period=period):
            return np.asarray((value - (first + (period - 1) / 2)) / np.sqrt((period**2 - 1) / 12))
        case Date(days=days):
            return np.asarray((value - (days - 1) / 2) / np.sqrt((days**2 - 1) / 12))
        case Identity(center=center, scale=scale):
            return np.asarray((value - center) / scale)
        case Categorical() | Unit():
            return value
