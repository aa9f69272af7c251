"""Feedback for an agent during an episode: few scores, rounded, and on the feedback part only.

Every score reveals information about labels. An agent that gets many exact scores can infer the labels of the feedback
rows one by one and train on them. `Feedback` bounds this information: each of `max_submissions` valid submissions gets
one of at most 251 answers, so no strategy learns more than `8 * max_submissions` bits. Labels of the final part are
never used.
"""

from math import nan
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np

from sandmill.errors import InputError, InvalidSubmission, Problem
from sandmill.models.base import Part
from sandmill.models.reports import Outcome
from sandmill.models.rollout import FeedbackAnswer, FeedbackStatus
from sandmill.models.run import RunResult
from sandmill.play.rounding import rounding_of
from sandmill.play.score import submission_of
from sandmill.scoring import get_metric
from sandmill.scoring.base import Array
from sandmill.scoring.grading.private_half import PrivateHalf, read_private
from sandmill.scoring.medals import medal_of, position_of
from sandmill.scoring.submission import parse_submission


class Feedback:
    """Answers the submissions of one episode. Create one object for each episode, and show the agent no other scores.

    Thread-safe.
    """

    def __init__(self, task: Path | str | PrivateHalf, max_submissions: int = 5, *, max_unscored: int = 20) -> None:
        """Read the private half of a task.

        Args:
            task: folder of a pulled task with its private half, or that half, as `EpisodeTask.private` has it.
            max_submissions: number of valid submissions that are answered.
            max_unscored: number of failed runs and invalid submissions that are answered. Their answers do not depend
                on labels, so they do not count as submissions.

        Raises:
            InputError: if the folder is not such a task, or if a number is below 1.
        """
        limits = {"max_submissions": max_submissions, "max_unscored": max_unscored}
        if problems := [Problem(name, str(n), "a whole number from 1 up") for name, n in limits.items() if n < 1]:
            raise InputError("feedback", problems, "")
        private = task if isinstance(task, PrivateHalf) else read_private(Path(task))
        self._answers, self._facts = private.answers, private.task.facts
        self._calibration = private.task.calibration
        self._rounding = rounding_of(self._calibration, self._facts.metric)
        self._left, self._unscored_left = max_submissions, max_unscored
        self._lock = Lock()
        self.max_submissions = max_submissions
        """Number of valid submissions that are answered in one episode."""

    @property
    def step(self) -> float:
        """Scores are rounded to multiples of this number."""
        return self._rounding.step

    @property
    def submissions_left(self) -> int:
        """Number of valid submissions that will still be answered."""
        return self._left if self._unscored_left else 0

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
                return self._answer_unscored(outcome)
            try:
                prediction = parse_submission(submission, self._facts, self._answers.ids, self._answers.lengths)
            except InvalidSubmission as error:
                problems = tuple(map(str, error.problems))
                return self._answer_unscored(Outcome.INVALID_SUBMISSION, problems=problems)
            # From here on the answer depends on labels, so the submission counts, also if it has no score.
            self._left -= 1
            score = self._rounding.round(self._feedback_score(prediction))
            if score is None:
                return self._answer(FeedbackStatus.BELOW_BASELINE, outcome=Outcome.OK)
            return self._answer(FeedbackStatus.SCORED, outcome=Outcome.OK, score=score, **self._rank(score))

    def _rank(self, score: float) -> dict[str, Any]:
        """Return position and medal of a rounded score on the feedback part. They reveal no more than the score."""
        board, lower = [entry.feedback for entry in self._calibration.board], self._calibration.is_lower_better
        return {
            "position": position_of(score, board, lower),
            "entries": len(board),
            "medal": medal_of(score, self._calibration.feedback_thresholds, lower),
        }

    def _feedback_score(self, prediction: Array) -> float:
        """Return the score of the feedback rows, or NaN if it cannot be computed."""
        rows = self._answers.part(Part.FEEDBACK)
        with np.errstate(all="ignore"):
            try:
                return get_metric(self._facts.metric).score(self._answers.truth[rows], prediction[rows])
            except (ValueError, ArithmeticError):
                return nan

    def _answer_unscored(self, outcome: Outcome, **facts: Any) -> FeedbackAnswer:
        self._unscored_left -= 1
        return self._answer(FeedbackStatus.NOT_SCORED, outcome=outcome, **facts)

    def _answer(self, status: FeedbackStatus, **facts: Any) -> FeedbackAnswer:
        return FeedbackAnswer(status=status, step=self.step, submissions_left=self.submissions_left, **facts)
