"""Feedback for an agent during an episode: few scores, rounded, and on the feedback part only.

Every score reveals information about labels. An agent that gets many exact scores can infer the labels of the feedback
rows one by one and train on them. `Feedback` bounds this information: each of `max_submissions` valid submissions gets
one of at most 251 answers, so no strategy learns more than `8 * max_submissions` bits. Labels of the final part are
never used.
"""

from dataclasses import dataclass
from math import floor, isfinite, log10, nan
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np

from sandmill.errors import InputError, InvalidSubmission, Problem
from sandmill.models.base import Part
from sandmill.models.calibration import Calibration, Tier
from sandmill.models.reports import Outcome
from sandmill.models.rollout import FeedbackAnswer, FeedbackStatus
from sandmill.models.run import RunResult
from sandmill.models.structure import MetricName
from sandmill.play.score import submission_of
from sandmill.scoring import get_metric
from sandmill.scoring.base import Array
from sandmill.scoring.grading.private_half import PrivateHalf, read_private
from sandmill.scoring.medals import medal_of, position_of
from sandmill.scoring.submission import parse_submission

MOST_ANSWERS = 251
"""Number of different answers to a valid submission: 250 rounded scores and `below_baseline`. Just under 8 bits."""

_MIN_STEPS = 100
"""Smallest number of rounding steps from the baseline to a perfect score. With `_DIGITS` the largest number is 250."""
_DIGITS = (1, 2, 5)


@dataclass(frozen=True)
class Rounding:
    """A grid of scores from the trivial baseline to a perfect score.

    The grid depends only on the baseline's feedback score, which anyone can estimate from the training targets. A grid
    that depended on the oracle or on thresholds would reveal them.
    """

    step: float
    """Rounding step, a round number. Scores are shown as multiples of it."""
    baseline: int
    """Score of the trivial solver on the feedback part, in steps."""
    perfect: int

    def round(self, score: float) -> float | None:
        """Round a score. Returns None if it is not finite, or if the rounded score is no better than the baseline."""
        if not isfinite(score):
            return None
        steps, sign = round(score / self.step), 1 if self.perfect > self.baseline else -1
        if sign * steps <= sign * self.baseline:
            return None
        steps = sign * min(sign * steps, sign * self.perfect)
        return float(f"{steps * self.step:.10g}")


def rounding_of(calibration: Calibration, metric: MetricName) -> Rounding:
    """Return the rounding grid of a task. A leaderboard without a trivial solver is an `InputError`."""
    scores = [entry.feedback for entry in calibration.board if entry.tier is Tier.TRIVIAL]
    if not scores:
        problem = Problem("calibration.board", "no entry of the trivial tier", "an unchanged published task")
        raise InputError("feedback", [problem], "")
    is_lower_better = get_metric(metric).is_lower_better
    baseline = min(scores) if is_lower_better else max(scores)
    perfect = 0.0 if is_lower_better else 1.0
    largest = (abs(perfect - baseline) or 1.0) / _MIN_STEPS
    power = floor(log10(largest))
    digit = max(digit for digit in _DIGITS if digit * 10.0**power <= largest * (1 + 1e-9))
    step = float(f"{digit}e{power}")
    return Rounding(step, round(baseline / step), round(perfect / step))


class Feedback:
    """Answers the submissions of one episode. Create one object for each episode, and show the agent no other scores.

    Thread-safe.
    """

    def __init__(self, task: Path | str | PrivateHalf, max_submissions: int = 5) -> None:
        """Read the private half of a task.

        Args:
            task: folder of a pulled task with its private half, or that half, as `EpisodeTask.private` has it.
            max_submissions: number of valid submissions that are answered. Failed runs and invalid submissions do not
                count, since their answers do not depend on labels.

        Raises:
            InputError: if the folder is not such a task, or if the number is below 1.
        """
        if max_submissions < 1:
            problem = Problem("max_submissions", str(max_submissions), "a whole number from 1 up")
            raise InputError("feedback", [problem], "")
        private = task if isinstance(task, PrivateHalf) else read_private(Path(task))
        self._answers, self._facts = private.answers, private.task.facts
        self._calibration = private.task.calibration
        self._rounding = rounding_of(self._calibration, self._facts.metric)
        self.submissions_left, self._lock = max_submissions, Lock()
        """Number of valid submissions that will still be answered."""
        self.max_submissions = max_submissions
        """Number of valid submissions that are answered in one episode."""

    @property
    def step(self) -> float:
        """Scores are rounded to multiples of this number."""
        return self._rounding.step

    def submit(self, result: RunResult) -> FeedbackAnswer:
        """Answer the submission of a run. Every valid submission counts, also a repeated one.

        Args:
            result: the return value of `Sandbox.run`.

        Raises:
            InputError: if `result` is not a `RunResult`.
        """
        submission = submission_of(result)
        with self._lock:
            if not self.submissions_left:
                return self._answer(FeedbackStatus.EXHAUSTED)
            if submission is None:
                outcome = Outcome.NO_SUBMISSION if result.outcome is Outcome.OK else result.outcome
                return self._answer(FeedbackStatus.NOT_SCORED, outcome=outcome)
            try:
                prediction = parse_submission(submission, self._facts, self._answers.ids, self._answers.lengths)
            except InvalidSubmission as error:
                facts = {"outcome": Outcome.INVALID_SUBMISSION, "problems": tuple(map(str, error.problems))}
                return self._answer(FeedbackStatus.NOT_SCORED, **facts)
            # From here on the answer depends on labels, so the submission counts, also if it has no score.
            self.submissions_left -= 1
            score = self._rounding.round(self._feedback_score(prediction))
            if score is None:
                return self._answer(FeedbackStatus.BELOW_BASELINE, outcome=Outcome.OK)
            # Position and medal follow from the rounded score, so they reveal no more than it.
            board, lower = [entry.feedback for entry in self._calibration.board], self._calibration.is_lower_better
            return self._answer(
                FeedbackStatus.SCORED,
                outcome=Outcome.OK,
                score=score,
                position=position_of(score, board, lower),
                entries=len(board),
                medal=medal_of(score, self._calibration.feedback_thresholds, lower),
            )

    def _feedback_score(self, prediction: Array) -> float:
        """Return the score of the feedback rows, or NaN if it cannot be computed."""
        rows = self._answers.part(Part.FEEDBACK)
        with np.errstate(all="ignore"):
            try:
                return get_metric(self._facts.metric).score(self._answers.truth[rows], prediction[rows])
            except (ValueError, ArithmeticError):
                return nan

    def _answer(self, status: FeedbackStatus, **facts: Any) -> FeedbackAnswer:
        return FeedbackAnswer(status=status, step=self.step, submissions_left=self.submissions_left, **facts)
