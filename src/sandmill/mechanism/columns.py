"""Columns as numbers: inverse distribution functions, standardisation, and cut points on the unit interval.

Numbers are floats; categorical columns are level codes 0, 1, ... as floats. A gap is NaN in both.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from sandmill.models.mechanism import Categorical, Column, Cycle, LogNormal, Normal, Uniform

Floats = NDArray[np.float64]


def quantile(column: Column, u: Floats, shift: Floats | float = 0.0) -> Floats:
    """Value at probability u, as written in the files: rounded, and positive where the quantity is.

    Args:
        column: declaration.
        u: probabilities in (0, 1), any shape.
        shift: standard deviations that a categorical parent moves the column by; broadcasts with u.
    """
    match column.distribution:
        case Normal(mean=mean, sd=sd):
            value = mean + sd * (ndtri(u) + shift)
        case LogNormal(median=median, sigma=sigma):
            value = np.maximum(median * np.exp(sigma * (ndtri(u) + shift)), 10.0**-column.decimals)
        case Uniform(low=low, high=high):
            value = low + (high - low) * ndtr(ndtri(u) + shift)
        case Cycle(first=first, period=period):
            return np.asarray(first + np.floor(u * period))
        case Categorical(shares=shares):
            return np.searchsorted(np.cumsum(shares)[:-1], u, side="right").astype(np.float64)
    return np.round(value, column.decimals)


def probability_below(column: Column, value: float, shift: float = 0.0) -> float:
    """Inverse of `quantile` for continuous columns: where on (0, 1) a cut lies."""
    match column.distribution:
        case Normal(mean=mean, sd=sd):
            return float(ndtr((value - mean) / sd - shift))
        case LogNormal(median=median, sigma=sigma):
            return float(ndtr(np.log(value / median) / sigma - shift)) if value > 0 else 0.0
        case Uniform(low=low, high=high):
            share = min(max((value - low) / (high - low), 1e-12), 1 - 1e-12)
            return float(ndtr(ndtri(share) - shift))
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
        case Categorical():
            return value
