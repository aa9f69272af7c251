"""The scripts of a task on the rungs of a ladder, and the test rows that they are judged on."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sandmill.models.calibration import RUNG_FILES, Rung, ScriptScore
from sandmill.scoring import Metric
from sandmill.scoring.base import Array


@dataclass(frozen=True)
class ScoredScript:
    """A script and what it scores."""

    source: str
    score: ScriptScore


@dataclass(frozen=True, repr=False)
class PossibleScript:
    """A script that could be written, and the answer that it gives."""

    approach: str
    answer: Array
    loss: float
    """On the feedback part."""
    write: Callable[[], str]


@dataclass(frozen=True, repr=False)
class GradedTest:
    """The test rows that scripts are judged on, in the order of test.csv."""

    truth: Array
    is_final: NDArray[np.bool_]
    """Which items are the final part; the rest is the feedback part, unless it is not scored."""
    metric: Metric
    is_scored: NDArray[np.bool_] | None = None
    """Which items are scored. None: all."""

    @property
    def is_feedback(self) -> NDArray[np.bool_]:
        """Which items are the feedback part."""
        return ~self.is_final if self.is_scored is None else self.is_scored & ~self.is_final

    def feedback(self, answer: Array) -> float:
        """Loss on the feedback part: lower is better whatever the metric."""
        return self.loss_of(self.metric.score(self.truth[self.is_feedback], answer[self.is_feedback]))

    def final(self, answer: Array) -> float:
        """Loss on the final part."""
        return self.loss_of(self.metric.score(self.truth[self.is_final], answer[self.is_final]))

    def loss_of(self, score: float | None) -> float:
        """Turn a score into a loss: lower is better. None becomes a loss that every answer is below."""
        if score is None:
            return np.inf
        return score if self.metric.is_lower_better else -score

    def first_below(self, above: PossibleScript, ranked: Iterable[PossibleScript]) -> PossibleScript | None:
        """Return the first script that is worse than the one above on the final part, else the last."""
        bar, last = self.final(above.answer), None
        for last in ranked:
            if self.final(last.answer) > bar:
                break
        return last

    def scored(self, rung: Rung, script: PossibleScript) -> ScoredScript:
        """Write a script with its scores on both parts."""
        final, feedback = (
            self.metric.rounded(self.truth[rows], script.answer[rows]) for rows in (self.is_final, self.is_feedback)
        )
        score = ScriptScore(rung=rung, file=RUNG_FILES[rung], approach=script.approach, feedback=feedback, final=final)
        return ScoredScript(script.write(), score)
