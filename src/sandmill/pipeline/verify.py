"""The truths of a task, established by running it."""

from collections.abc import Mapping
from functools import partial

from sandmill.grading import grade_submission
from sandmill.metrics.submission import read_answers
from sandmill.models.calibration import RUNG_FILES, Calibration, Rung
from sandmill.models.package import TaskPackage
from sandmill.models.reports import GradeReport, Medal, Outcome, Verification
from sandmill.models.run import RunResult
from sandmill.pipeline.reference import run_reference
from sandmill.pipeline.truths import best_is_known, difficulty_holds, is_micro, nothing_given_away, thresholds_hold
from sandmill.sandbox.backends import BackendName


def verify_task(
    package: TaskPackage, calibration: Calibration, scripts: Mapping[str, str], again: TaskPackage, backend: BackendName
) -> tuple[Verification, RunResult]:
    """Run the scripts, grade the sample and nothing at all, and compare a second rendering.

    Args:
        package: as it will be published.
        calibration: its thresholds and gap scale.
        scripts: source by file name.
        again: the same design rendered once more.
        backend: sandbox backend for the scripts.

    Returns:
        The facts, and how the reference script ran.
    """
    answers = read_answers(package.private["answers.csv"], package.facts)
    grade = partial(grade_submission, answers=answers, facts=package.facts, calibration=calibration)
    runs = {name: run_reference(source, package.public, backend) for name, source in scripts.items()}
    graded = {name: grade(run.submission) for name, run in runs.items()}
    main = RUNG_FILES[Rung.REFERENCE]
    run, reference = runs[main], graded[main]
    sample, nothing = grade(package.public["sample_submission.csv"]), grade(None)
    scores = {name: report.score for name, report in graded.items()}
    verification = Verification(
        reference_score=reference.score,
        is_micro=is_micro(package, run.duration_s),
        reference_is_gold=reference.medal is Medal.GOLD,
        script_scores=scores,
        scripts_repeat=scores == {script.file: script.final for script in calibration.scripts},
        sample_wins_nothing=_wins_nothing(sample) and sample.outcome is Outcome.OK,
        noop_wins_nothing=_wins_nothing(nothing) and nothing.outcome is Outcome.NO_SUBMISSION,
        best_is_known=best_is_known(calibration),
        thresholds_hold=thresholds_hold(calibration),
        difficulty_holds=difficulty_holds(calibration),
        nothing_given_away=nothing_given_away(package, calibration),
        renders_equal_bytes=(package.public, package.private["answers.csv"])
        == (again.public, again.private["answers.csv"]),
    )
    return verification, run


def _wins_nothing(report: GradeReport) -> bool:
    return report.medal is None and (report.gap_closed is None or report.gap_closed <= 0)
