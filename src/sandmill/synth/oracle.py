"""The best possible solver of a design, which knows the mechanism and sees what an agent sees."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sandmill.mechanism import draw_rows, posterior
from sandmill.mechanism.columns import Floats
from sandmill.metrics import get_metric
from sandmill.metrics.base import Array, Tuning
from sandmill.models.spec import TaskSpec
from sandmill.rng import Streams
from sandmill.synth.task_facts import task_facts

TUNING_ROWS = 50_000
"""Rows on which cut-offs and class weights are tuned; none of them is in the task."""


@dataclass(frozen=True)
class OracleRule:
    """Bayes' rule with the true parameters and the metric's decision, tuned on rows of its own where it is tuned."""

    spec: TaskSpec
    streams: Streams
    """Of the rendering; rows for tuning are drawn from a child of them."""

    @cached_property
    def tuning(self) -> Tuning | None:
        """What cut-offs and class weights are settled on; None where nothing is tuned."""
        if not get_metric(self.spec.metric).decision_is_tuned:
            return None
        mechanism = self.spec.mechanism
        draw = draw_rows(mechanism, self.streams.child("tuning"), range(TUNING_ROWS), is_train=False)
        return Tuning(posterior(mechanism, draw.observed), draw.target.astype(np.int64))

    def predict(self, observed: Mapping[str, Floats]) -> Array:
        """Answer rows from their visible cells, in their order."""
        decided = get_metric(self.spec.metric).decide(posterior(self.spec.mechanism, observed), self.tuning)
        places = task_facts(self.spec).list_length
        return decided if places is None else decided[:, :places]
