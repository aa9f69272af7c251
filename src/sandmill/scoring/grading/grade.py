"""Grade a submission against private answers: score, medal, place, share of the gap."""

import logging
from dataclasses import dataclass
from math import isfinite
from pathlib import Path

import numpy as np

from sandmill.errors import InvalidSubmission, Problem
from sandmill.models.base import Part
from sandmill.models.calibration import Calibration
from sandmill.models.package import TaskFacts
from sandmill.models.reports import Check, GradeReport, Outcome
from sandmill.scoring import get_metric
from sandmill.scoring.gap import gap_closed
from sandmill.scoring.grading.private_half import PrivateHalf, read_private, read_regular_file
from sandmill.scoring.medals import above_median, medal_of, position_of
from sandmill.scoring.submission import Answers, parse_submission

GRADER_FAULT = "grader"
"""Place of a problem that is a bug of the grader."""

_LOG = logging.getLogger(__name__)


def grade_submission(
    submission: bytes | None, answers: Answers, facts: TaskFacts, calibration: Calibration
) -> GradeReport:
    """Grade the bytes of a submission.

    Args:
        submission: content of submission.csv, or None if there was none.
        answers: the private truth.
        facts: what the task asks for.
        calibration: thresholds, leaderboard and the ends of the gap scale.

    Returns:
        A report with a score only if the submission is valid; a submission's faults never raise.
    """
    failed = _without_score(calibration)
    if submission is None:
        return failed
    try:
        final, feedback = _score_parts(submission, answers, facts)
        gap = gap_closed(final, calibration.trivial, calibration.oracle)
        if not (isfinite(final) and isfinite(feedback) and isfinite(gap)):
            raise _invalid("values", "numbers too large to score", "predictions on the scale of the target", passed=4)
    except InvalidSubmission as error:
        problems = tuple(str(problem) for problem in error.problems)
        checks = tuple(Check)[: error.passed]
        return failed.model_copy(update={"outcome": Outcome.INVALID_SUBMISSION, "problems": problems, "checks": checks})
    return grade_scores(final, feedback, calibration)


def _without_score(calibration: Calibration) -> GradeReport:
    ceiling = calibration.ceiling
    return GradeReport(
        outcome=Outcome.NO_SUBMISSION,
        is_lower_better=calibration.is_lower_better,
        thresholds=calibration.thresholds,
        trivial=calibration.trivial,
        oracle=calibration.oracle,
        ceiling_is_loose=ceiling is not None and ceiling.is_loose(calibration.trivial),
        ceiling_low=ceiling.low if ceiling else None,
    )


def grade_scores(final: float, feedback: float, calibration: Calibration) -> GradeReport:
    """Return the grade of a valid submission with these scores."""
    board = [entry.final for entry in calibration.board]
    lower = calibration.is_lower_better
    position = position_of(final, board, lower)
    gap = gap_closed(final, calibration.trivial, calibration.oracle)
    return _without_score(calibration).model_copy(
        update={
            "outcome": Outcome.OK,
            "score": final,
            "medal": medal_of(final, calibration.thresholds, lower),
            "above_median": above_median(final, calibration.thresholds, lower),
            "position": position,
            "position_score": (len(board) - position + 1) / len(board),
            "gap_closed": round(gap, 6) + 0.0,
            "gap_to_gold": _share(final, calibration.trivial, calibration.thresholds.gold),
            "checks": tuple(Check)[: len(Check) - (gap <= 0)],
            "feedback_score": feedback,
        }
    )


def _share(score: float, trivial: float, gold: float) -> float | None:
    """Return the share of the way to gold, or None if gold is no better than the trivial solver."""
    return None if gold == trivial else round(gap_closed(score, trivial, gold), 6) + 0.0


def _score_parts(submission: bytes, answers: Answers, facts: TaskFacts) -> tuple[float, float]:
    """Read a submission and score its final and its feedback part.

    Unexpected errors are logged and raised as `InvalidSubmission` too, so that one file does not stop a training run.
    """
    try:
        prediction = parse_submission(submission, facts, answers.ids, answers.lengths)
        metric = get_metric(facts.metric)
        with np.errstate(all="ignore"):
            final, feedback = (
                metric.rounded(answers.truth[answers.part(part)], prediction[answers.part(part)])
                for part in (Part.FINAL, Part.FEEDBACK)
            )
    except InvalidSubmission:
        raise
    except Exception as error:
        _LOG.exception("The grader failed on a submission of %d bytes for %s", len(submission), facts.metric)
        hint = "This is a bug of the grader: please report it with the file."
        raise _invalid(GRADER_FAULT, f"{type(error).__name__} on this file", "a score or a problem", hint) from error
    return final, feedback


def _invalid(where: str, saw: str, expected: str, hint: str = "", passed: int = 1) -> InvalidSubmission:
    return InvalidSubmission("submission.csv", [Problem(where, saw, expected, hint)], passed=passed)


def grade_folder(task_dir: Path, submission: Path) -> GradeReport:
    """Grade a file against a pulled task folder.

    Raises:
        InputError: if the task folder is not a pulled task, or the submission is neither a regular file nor absent.
    """
    task, answers = read_private(task_dir)
    return grade_submission(read_regular_file(submission), answers, task.facts, task.calibration)


@dataclass(frozen=True)
class FormatReport:
    """Result of checking the format of one submission."""

    checks: tuple[Check, ...] = ()
    """Checks that it passed."""
    problems: tuple[str, ...] = ()

    @property
    def is_valid(self) -> bool:
        """Whether the submission can be graded."""
        return Check.VALUES in self.checks


def check_format(submission: bytes | None, private: PrivateHalf) -> FormatReport:
    """Check file, header, ids and values of a submission. None is a missing submission."""
    if submission is None:
        return FormatReport()
    formal = tuple(Check)[: tuple(Check).index(Check.VALUES) + 1]
    try:
        parse_submission(submission, private.task.facts, private.answers.ids, private.answers.lengths)
    except InvalidSubmission as error:
        return FormatReport(formal[: error.passed], tuple(map(str, error.problems)))
    return FormatReport(formal)
