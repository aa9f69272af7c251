"""The definition of a metric: score, direction, best decision rule and bootstrap."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from sandmill.models.predictive import Predictive
from sandmill.models.structure import MetricName
from sandmill.scoring.scores import Array, Floats, Resample

__all__ = ["SCORE_DECIMALS", "Array", "DecisionRule", "Floats", "Metric", "Resample", "rounded"]

SCORE_DECIMALS = 5
"""Decimals to which scores are rounded before they are compared, as in mle-bench."""


def rounded(score: float) -> float:
    """Round a score to the precision at which scores are compared. Minus zero becomes zero."""
    return round(float(score), SCORE_DECIMALS) + 0.0


DecisionRule: TypeAlias = Callable[[Predictive, Predictive | None], Array]
"""Function from the posterior of rows to their prediction. Cut-offs and affine rules are tuned on the second
posterior, that of an independent draw of rows, or on the first if there is none."""


@dataclass(frozen=True)
class Metric:
    """A metric with its bootstrap and decision rule. Truth and prediction have the shapes of the answer form."""

    name: MetricName
    title: str
    """Name in descriptions."""
    definition: str
    """Formula as a clause for descriptions."""
    resample: Resample
    """Scores of R bootstrap samples. Counts, shape (R, rows), are how often each row was drawn."""
    rule: DecisionRule
    """Decision rule that `decide` applies."""
    is_lower_better: bool = False
    decision: Literal["exact", "tuned", "plug-in"] = "exact"
    """Quality of the rule. A tuned rule has a cut-off, an affine function for each class or a factor, fitted on the
    posterior of an independent draw; a plug-in rule is optimal only asymptotically."""
    is_nonnegative: bool = False
    """True if submissions must not contain negative numbers."""
    has_article: bool = True
    """Whether sentences put `the` before the title, as they do unless it is a mass noun or a proper name."""

    @property
    def noun(self) -> str:
        """Title as part of a sentence."""
        return f"the {self.title}" if self.has_article else self.title

    def score(self, truth: Array, prediction: Array) -> float:
        """Return the unrounded score, which is the bootstrap with every row drawn once."""
        return float(self.resample(truth, prediction, np.ones((1, len(truth))))[0])

    def rounded(self, truth: Array, prediction: Array) -> float:
        """Return the score rounded as published and compared."""
        return rounded(self.score(truth, prediction))

    def decide(self, predictive: Predictive, tuning: Predictive | None = None) -> Array:
        """Return the prediction with the best expected score under the posterior.

        Args:
            predictive: posterior of the rows to predict.
            tuning: posterior of independent rows, on which a tuned rule is fitted; None: the rows to predict.

        Raises:
            TypeError: if the metric needs a posterior of another kind.
        """
        return self.rule(predictive, tuning)
