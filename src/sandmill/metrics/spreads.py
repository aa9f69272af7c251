"""Metrics of numbers that are not averages over rows: explained variance, correlation, median."""

import numpy as np

from sandmill.metrics.base import Array, Floats, divide
from sandmill.metrics.ranks import correlation


def r_squared(truth: Array, prediction: Array, counts: Floats) -> Floats:
    """Return 1 - squared error / variance of the truth; NaN where the truth is constant."""
    centred = truth - truth.mean()
    spread = counts @ np.square(centred) - np.square(counts @ centred) / counts.sum(axis=1)
    left = counts @ np.square(truth - prediction)
    return 1 - divide(left, spread, np.nan)


def pearson(truth: Array, prediction: Array, counts: Floats) -> Floats:
    """Return the linear correlation; 0 where the prediction is constant."""
    return correlation(_scaled(truth), _scaled(prediction), counts)


def median_error(truth: Array, prediction: Array, counts: Floats) -> Floats:
    """Return the median of the absolute errors; for an even number of rows, the mean of the two in the middle."""
    errors = np.abs(truth - prediction)
    order = np.argsort(errors, kind="stable")
    below = np.cumsum(counts[:, order], axis=1)
    half = below[:, -1:] / 2
    lower, upper = (below >= half).argmax(axis=1), (below > half).argmax(axis=1)
    return np.asarray((errors[order][lower] + errors[order][upper]) / 2, dtype=np.float64)


def _scaled(values: Floats) -> Floats:
    """Divide by a power of two above the largest absolute value. Squares cannot overflow, and the division is exact."""
    _, exponent = np.frexp(np.abs(values).max(initial=0.0))
    return np.asarray(np.ldexp(values, -exponent - 1), dtype=np.float64)
