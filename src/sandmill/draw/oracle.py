"""The oracle: the best possible predictions from the visible cells, given the true mechanism."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from sandmill.draw.task_facts import task_facts
from sandmill.mechanism import draw_rows, posterior
from sandmill.mechanism.columns import Floats
from sandmill.models.predictive import Predictive
from sandmill.models.spec import TaskSpec
from sandmill.rng import Streams
from sandmill.scoring import get_metric
from sandmill.scoring.base import Array

TUNING_ROWS = 50_000
"""Rows of the independent draw on which cut-offs and affine class rules are tuned. None of them is in the task."""


@dataclass(frozen=True)
class OracleRule:
    """Bayes' rule: the posterior under the true parameters, then the metric's best decision rule."""

    spec: TaskSpec
    streams: Streams
    """Streams of the rendering. The tuning rows come from their child `tuning`."""

    @cached_property
    def tuning(self) -> Predictive | None:
        """Posterior of rows that are not in the task, on which the decision rule is tuned.

        None if the metric has no tuned rule.
        """
        if get_metric(self.spec.metric).decision != "tuned":
            return None
        mechanism = self.spec.mechanism
        draw = draw_rows(mechanism, self.streams.child("tuning"), range(TUNING_ROWS), is_train=False)
        return posterior(mechanism, draw.observed)

    def predict(self, observed: Mapping[str, Floats]) -> Array:
        """Return predictions for rows from their visible cells."""
        decided = get_metric(self.spec.metric).decide(posterior(self.spec.mechanism, observed), self.tuning)
        length = task_facts(self.spec).list_length
        return decided if length is None else decided[:, :length]
