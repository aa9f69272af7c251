"""Metrics on numbers that are no plain average: explained variance, correlation, a median."""

import numpy as np

from sandmill.metrics.base import Array, Floats
from sandmill.metrics.ranks import correlation


def r_squared(truth: Array, prediction: Array, counts: Floats) -> Floats:
    """1 minus squared error over squared spread of the truth; NaN where the truth is constant."""
    centred = truth - truth.mean()
    spread = counts @ np.square(centred) - np.square(counts @ centred) / counts.sum(axis=1)
    left = counts @ np.square(truth - prediction)
    return np.asarray(1 - np.divide(left, spread, out=np.full(len(counts), np.nan), where=spread > 0), dtype=np.float64)


def pearson(truth: Array, prediction: Array, counts: Floats) -> Floats:
    """Linear correlation; 0 where the prediction is constant."""
    return correlation(_scaled(truth), _scaled(prediction), counts)


def median_error(truth: Array, prediction: Array, counts: Floats) -> Floats:
    """Median of the absolute errors, the mean of the middle two for an even number."""
    errors = np.abs(truth - prediction)
    order = np.argsort(errors, kind="stable")
    below = np.cumsum(counts[:, order], axis=1)
    half = below[:, -1:] / 2
    lower, upper = (below >= half).argmax(axis=1), (below > half).argmax(axis=1)
    return np.asarray((errors[order][lower] + errors[order][upper]) / 2, dtype=np.float64)


def _scaled(values: Floats) -> Floats:
    """Divide by the power of two above the largest size, so that squares neither overflow nor vanish; it is exact."""
    _, exponent = np.frexp(np.abs(values).max(initial=0.0))
    return np.asarray(np.ldexp(values, -exponent - 1), dtype=np.float64)
