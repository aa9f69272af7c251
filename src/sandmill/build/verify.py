"""The truths of a task, established by running it."""

from math import isclose

from sandmill.grading import grade_submission
from sandmill.metrics.submission import read_answers
from sandmill.models.calibration import Calibration
from sandmill.models.package import TaskPackage
from sandmill.models.release import TaskRecord
from sandmill.models.reports import GradeReport, Medal, Outcome, Verification
from sandmill.sandbox import ScriptRun, run_script


def verify_task(
    package: TaskPackage, calibration: Calibration, solution: str, again: TaskPackage
) -> tuple[Verification, ScriptRun]:
    """Run the reference script, the sample and nothing at all, and compare a second rendering.

    Args:
        package: as it will be published.
        calibration: its thresholds and gap scale.
        solution: source of the reference script.
        again: the same design rendered once more.

    Returns:
        The facts, and how the script ran.
    """
    answers = read_answers(package.private["answers.csv"], package.brief)
    run = run_script(solution, package.public)
    reference, sample, nothing = (
        grade_submission(submission, answers, package.brief, calibration)
        for submission in (run.submission, package.public["sample_submission.csv"], None)
    )
    board_score = next(entry.final for entry in calibration.board if entry.solver == calibration.reference)
    verification = Verification(
        reference_score=reference.score,
        reference_is_gold=reference.medal is Medal.GOLD,
        reference_matches_board=reference.score == board_score,
        sample_wins_nothing=_wins_nothing(sample) and sample.outcome is Outcome.OK,
        noop_wins_nothing=_wins_nothing(nothing) and nothing.outcome is Outcome.NO_SUBMISSION,
        renders_equal_bytes=_same_files(package, again),
    )
    return verification, run


def rerun_task(package: TaskPackage, record: TaskRecord) -> list[str]:
    """Repeat on a pulled task what was established when it was built.

    Args:
        package: public and private files as published.
        record: the recorded facts.

    Returns:
        What does not hold, one line each; empty when every fact holds. Scores agree to 6 significant digits.
    """
    solution = package.private["solution.py"].decode()
    again, run = verify_task(package, record.calibration, solution, package)
    problems = []
    recorded = record.verification.reference_score
    if not again.reference_is_gold:
        ended = f"the script ended {run.outcome}: {run.stderr.strip()}" if run.outcome is not Outcome.OK else "it ran"
        problems.append(f"the reference solution does not reach gold: scored {again.reference_score}; {ended}")
    elif (
        again.reference_score is None
        or recorded is None
        or not isclose(again.reference_score, recorded, rel_tol=1e-6, abs_tol=1e-5)
    ):
        problems.append(f"the reference solution scored {again.reference_score}; recorded is {recorded}")
    if not again.sample_wins_nothing:
        problems.append("the sample submission is invalid, wins a medal or closes part of the gap")
    return problems


def _wins_nothing(report: GradeReport) -> bool:
    return report.medal is None and (report.gap_closed is None or report.gap_closed <= 0)


def _same_files(package: TaskPackage, again: TaskPackage) -> bool:
    return package.public == again.public and package.private["answers.csv"] == again.private["answers.csv"]
