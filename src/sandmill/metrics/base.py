"""What a metric is: a score, a direction, a best decision rule and a bootstrap, side by side."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sandmill.models.predictive import Predictive
from sandmill.models.structure import MetricName

Array = NDArray[Any]
Floats = NDArray[np.float64]

SCORE_DECIMALS = 5
"""Scores are compared after rounding to so many decimals, as mle-bench does."""

Resample: TypeAlias = Callable[[Array, Array, Floats], Floats]
"""Truth, prediction and counts, shape (R, rows), to R scores."""


@dataclass(frozen=True)
class Tuning:
    """An independent draw on which cut-offs and class weights are tuned: as large as one likes, never the test set."""

    predictive: Predictive
    truth: Array


DecisionRule: TypeAlias = Callable[[Predictive, Tuning | None], Array]


@dataclass(frozen=True)
class Metric:
    """A metric and all that must agree with it. Truth and prediction arrays are as `sandmill.metrics.support` says."""

    name: MetricName
    title: str
    """How a description names it."""
    definition: str
    """The formula, as a sentence for a description."""
    is_lower_better: bool
    resample: Resample
    """Scores of R bootstrap samples; counts, shape (R, rows), says how often each row was drawn."""
    rule: DecisionRule
    """The decision rule behind `decide`."""
    decision: str
    """The decision rule in words."""
    decision_is_exact: bool
    """False where the rule is a plug-in that is best only as rows grow."""
    decision_is_tuned: bool = False
    """True where the rule has a cut-off, weights or a factor that a `Tuning` draw settles."""
    is_nonnegative: bool = False
    """True where a submission may hold no negative number."""
    difference: str = ""
    """Where the score or what it accepts departs from the usual graders, as a clause; empty if nowhere."""

    def score(self, truth: Array, prediction: Array) -> float:
        """Raw score of a prediction, unrounded: by scikit-learn or scipy where they have the metric.

        Elsewhere, and where those give no number, it is the bootstrap that draws every row once.
        """
        from sandmill.metrics.library import library_score

        score = library_score(self.name, truth, prediction)
        return self.own_score(truth, prediction) if score is None else score

    def own_score(self, truth: Array, prediction: Array) -> float:
        """The score without any library, from which bootstraps differ only in the rows that they draw."""
        return float(self.resample(truth, prediction, np.ones((1, len(truth))))[0])

    def rounded(self, truth: Array, prediction: Array) -> float:
        """Score as it is published and compared; minus zero becomes zero."""
        return round(self.score(truth, prediction), SCORE_DECIMALS) + 0.0

    def decide(self, predictive: Predictive, tuning: Tuning | None = None) -> Array:
        """The prediction that is best in expectation for someone who knows the posterior.

        Args:
            predictive: posterior of the rows to answer.
            tuning: an independent draw for rules that are tuned; others ignore it. Without one such a rule is tuned
                on the rows themselves, their own probabilities standing for the truth.

        Raises:
            TypeError: if the posterior is of another kind than the metric needs.
        """
        return self.rule(predictive, tuning)
