"""Grade a submission against private answers: score, medal, place, share of the gap."""

import logging
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
from sandmill.scoring.grading.parsed import parse_once
from sandmill.scoring.grading.private_half import read_private
from sandmill.scoring.grading.reading import read_regular_file
from sandmill.scoring.medals import above_median, medal_of, position_of
from sandmill.scoring.submission import Answers

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
    failed = GradeReport(
        outcome=Outcome.NO_SUBMISSION,
        is_lower_better=calibration.is_lower_better,
        thresholds=calibration.thresholds,
        trivial=calibration.trivial,
        oracle=calibration.oracle,
        ceiling_is_loose=calibration.ceiling is not None and calibration.ceiling.is_loose(calibration.trivial),
    )
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
    board = [entry.final for entry in calibration.board]
    lower = calibration.is_lower_better
    position = position_of(final, board, lower)
    return failed.model_copy(
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
        prediction = parse_once(submission, facts, answers)
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
