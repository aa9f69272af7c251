"""What each declared skill is worth on a task: a tuned linear model with it and without it, on fresh training draws."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from sandmill.calibrate.ablations import ModelInputs, ablation_of, predict_from
from sandmill.calibrate.threads import one_thread
from sandmill.mechanism.sampling import Draw
from sandmill.models.package import TaskFacts
from sandmill.models.skills import Skill, SkillLift, skills_of
from sandmill.models.spec import TaskSpec
from sandmill.scoring import Metric, get_metric
from sandmill.scoring.base import Array, Floats
from sandmill.scoring.gap import gap_closed

DRAWS = 8
"""Training draws that a lift is measured on, where the caller has no other wish."""
MOST_ROWS = 2_000
"""Test rows that are scored; further ones would hardly steady a mean of differences."""


@dataclass(frozen=True, repr=False)
class GradedRows:
    """Test rows with what is known of them, cut to as many as lifts are scored on."""

    cells: Draw
    """As nature made them and as an agent sees them."""
    truth: Array
    trivial: Array
    """Prediction that is 0 on the gap scale."""
    oracle: Array
    """Prediction that is 1 on it."""

    @classmethod
    def first(cls, cells: Draw, truth: Array, trivial: Array, oracle: Array, rows: int = MOST_ROWS) -> "GradedRows":
        """Take the first rows; all arguments have the same order."""
        few = cells.take(slice(rows))
        return cls(few, truth[:rows], trivial[:rows], oracle[:rows])


def measure_lifts(
    spec: TaskSpec, facts: TaskFacts, draws: Sequence[tuple[Draw, Floats]], graded: GradedRows
) -> tuple[SkillLift, ...]:
    """Measure every declared skill of a design, in the order of `Skill`.

    Motifs: their true features beside the plain ones. Faults of cells: true cells in place of the visible ones, in
    training and test. Text in numbers: the column read, against left out. Copies, noisy labels, distractors: training
    without them. Decisions and the target's scale: as the metric rewards, against plainly.

    Args:
        spec: the design.
        facts: what its description says.
        draws: fresh training sets, each with the targets that it would have without label noise; at least 2.
        graded: rows to score on.

    Raises:
        DegenerateTask: if trivial and oracle score the same on these rows.
    """
    from sklearn import config_context

    skills, scale = skills_of(spec), _GapScale(get_metric(spec.metric), graded)
    with one_thread(), config_context(skip_parameter_validation=True), np.errstate(all="ignore"):
        gains = [_gains(spec, facts, skills, draw, clean, scale) for draw, clean in draws]
    return tuple(_lift(skill, [gain[skill] for gain in gains]) for skill in skills)


@dataclass(frozen=True)
class _GapScale:
    """The gap scale of the graded rows."""

    metric: Metric
    graded: GradedRows

    @cached_property
    def ends(self) -> tuple[float, float]:
        """Score of the trivial solver and of the oracle."""
        trivial, oracle = (self._score(prediction) for prediction in (self.graded.trivial, self.graded.oracle))
        return trivial, oracle

    def closed(self, prediction: Array) -> float:
        """Gap closed by a prediction for the graded rows."""
        return gap_closed(self._score(prediction), *self.ends)

    def _score(self, prediction: Array) -> float:
        return self.metric.own_score(self.graded.truth, prediction)


def _gains(
    spec: TaskSpec, facts: TaskFacts, skills: Sequence[Skill], draw: Draw, clean: Floats, scale: _GapScale
) -> Mapping[Skill, float]:
    """Gap closed with each skill less that without it, on one training draw."""
    known: dict[int, float] = {}

    def closed(trial: ModelInputs) -> float:
        if id(trial) not in known:
            known[id(trial)] = scale.closed(predict_from(trial, spec.mechanism, facts))
        return known[id(trial)]

    usual = ModelInputs.usual(spec.mechanism, draw, scale.graded.cells)
    pairs: dict[Skill, Any] = {
        skill: ablation_of(skill, usual, spec.mechanism, draw, clean, scale.graded.cells) for skill in skills
    }
    return {skill: closed(skilled) - closed(plain) for skill, (skilled, plain) in pairs.items()}


def _lift(skill: Skill, gains: Sequence[float]) -> SkillLift:
    error = float(np.std(gains, ddof=1) / np.sqrt(len(gains)))
    return SkillLift(skill=skill, lift=round(float(np.mean(gains)), 6), error=round(error, 6), draws=len(gains))
