"""Metrics on numbers."""

import numpy as np

from sandmill.metrics.base import Array, Floats
from sandmill.models.predictive import NumberPredictive, Predictive


def rmse(truth: Array, prediction: Array) -> float:
    """Root mean squared error, in the target's unit."""
    from sklearn.metrics import root_mean_squared_error

    return float(root_mean_squared_error(truth, prediction))


def resample_rmse(truth: Array, prediction: Array, counts: Floats) -> Floats:
    """RMSE of each bootstrap sample."""
    return np.asarray(np.sqrt(counts @ np.square(truth - prediction) / counts.sum(axis=1)), dtype=np.float64)


def decide_mean(predictive: Predictive) -> Array:
    """The posterior mean minimises expected squared error."""
    if not isinstance(predictive, NumberPredictive):
        raise TypeError(f"a number metric needs a posterior mean, not {type(predictive).__name__}")
    return predictive.mean
