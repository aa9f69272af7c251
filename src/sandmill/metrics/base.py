"""What a metric is: a score, a direction, a best decision rule and a bootstrap, side by side."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sandmill.models.predictive import Predictive
from sandmill.models.structure import MetricName

Array = NDArray[Any]
Floats = NDArray[np.float64]

SCORE_DECIMALS = 5
"""Scores are compared after rounding to so many decimals, as mle-bench does."""


@dataclass(frozen=True)
class Metric:
    """A metric and all that must agree with it. Truth and prediction arrays are as `encoding_for` says."""

    name: MetricName
    title: str
    """How a description names it."""
    definition: str
    """The formula, as a sentence for a description."""
    is_lower_better: bool
    score: Callable[[Array, Array], float]
    """Raw score of a prediction; unrounded."""
    resample: Callable[[Array, Array, Floats], Floats]
    """Scores of R bootstrap samples; counts, shape (R, rows), says how often each row was drawn."""
    decide: Callable[[Predictive], Array]
    """The prediction that is best in expectation for someone who knows the posterior."""
    decision_is_exact: bool
    """False where the rule is a plug-in that is best only as rows grow."""

    def rounded(self, truth: Array, prediction: Array) -> float:
        """Score as it is published and compared."""
        return round(float(self.score(truth, prediction)), SCORE_DECIMALS)
