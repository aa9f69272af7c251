import json
import math
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandmill.errors import InputError
from sandmill.models.calibration import BoardEntry, Thresholds, Tier
from sandmill.models.package import TaskFile
from sandmill.models.reports import Medal, Outcome
from sandmill.models.structure import MetricName, TargetKind
from sandmill.scoring.gap import gap_closed
from sandmill.scoring.grading import grade_folder, grade_submission
from sandmill.scoring.grading.private_half import read_private, read_regular_file
from sandmill.scoring.medals import medal_of
from sandmill.scoring.submission import read_answers
from tests.designs import make_rendered
from tests.factories import CALIBRATION

SCORES = (0.9, 0.8, 0.7, 0.6, 0.5, 0.5)


@pytest.fixture
def package():
    return make_rendered(TargetKind.BINARY, MetricName.ACCURACY).package


@pytest.fixture
def calibration():
    board = tuple(BoardEntry(solver=f"s{i}", tier=Tier.NAIVE, final=s, feedback=s) for i, s in enumerate(SCORES))
    return measured(False, 0.5, board, Thresholds(gold=0.9, silver=0.8, bronze=0.7, median=0.65))


def measured(is_lower_better, trivial, board, thresholds):
    ends = {"is_lower_better": is_lower_better, "trivial": trivial, "oracle": 1.0}
    return CALIBRATION.model_copy(update={**ends, "board": board, "thresholds": thresholds})


def submission_with(package, accuracy):
    """A submission that is right on the given share of each part."""
    answers = read_answers(package.private["answers.csv"], package.facts)
    wrong_left = {True: round((1 - accuracy) * answers.is_final.sum()), False: 0}
    lines = ["id," + package.facts.target_column]
    for row_id, truth, final in zip(answers.ids, answers.truth, answers.is_final.tolist(), strict=True):
        is_wrong = wrong_left[final] > 0
        wrong_left[final] -= is_wrong
        lines.append(f"{row_id},{1 - truth if is_wrong else truth}")
    return ("\n".join(lines) + "\n").encode()


def grade(package, calibration, content):
    answers = read_answers(package.private["answers.csv"], package.facts)
    return grade_submission(content, answers, package.facts, calibration)


@pytest.mark.parametrize(
    ("accuracy", "medal", "above", "position"),
    [
        (1.0, Medal.GOLD, True, 1),
        (0.9, Medal.GOLD, True, 1),
        (0.85, Medal.SILVER, True, 2),
        (0.7, Medal.BRONZE, True, 3),
        (0.65, None, False, 4),
        (0.5, None, False, 5),
        (0.25, None, False, 7),
    ],
)
def test_medals_are_inclusive_the_median_strict_and_ties_take_the_better_place(
    package, calibration, accuracy, medal, above, position
):
    report = grade(package, calibration, submission_with(package, accuracy))
    assert report.outcome is Outcome.OK
    assert report.score == pytest.approx(accuracy)
    assert (report.medal, report.above_median, report.position) == (medal, above, position)
    assert report.position_score == pytest.approx((6 - position + 1) / 6)
    assert report.gap_closed == pytest.approx((accuracy - 0.5) / 0.5)
    assert report.feedback_score == 1.0


HIGHER = Thresholds(gold=0.9, silver=0.8, bronze=0.7, median=0.6)
LOWER = Thresholds(gold=0.1, silver=0.2, bronze=0.3, median=0.4)
BARS = ((0.9, Medal.GOLD), (0.899996, Medal.GOLD), (0.89999, Medal.SILVER), (0.7, Medal.BRONZE), (0.69999, None))


@pytest.mark.parametrize(("score", "medal"), [*BARS, (math.nan, None)])
def test_a_score_at_the_bar_earns_the_medal_after_rounding_in_both_directions(score, medal):
    assert medal_of(score, HIGHER, is_lower_better=False) is medal
    assert medal_of(1 - score, LOWER, is_lower_better=True) is medal


@given(trivial=st.floats(-10, 10), gap=st.floats(0.01, 10), share=st.floats(-2, 2))
def test_the_gap_scale_does_not_know_the_direction(trivial, gap, share):
    score = trivial + share * gap
    assert gap_closed(score, trivial, trivial + gap) == pytest.approx(share, abs=1e-6)
    assert gap_closed(-score, -trivial, -trivial - gap) == pytest.approx(share, abs=1e-6)


def test_no_submission_and_an_invalid_one_score_nothing(package, calibration):
    nothing = grade(package, calibration, None)
    invalid = grade(package, calibration, b"id\n1\n")
    assert (nothing.outcome, invalid.outcome) == (Outcome.NO_SUBMISSION, Outcome.INVALID_SUBMISSION)
    for report in (nothing, invalid):
        assert report.score is None
        assert report.medal is None
        assert report.gap_closed is None
        assert report.position_score == 0
    assert invalid.problems


def write_task(package, calibration, folder):
    (folder / "private").mkdir(parents=True)
    task = TaskFile(task_id="sm0", replicate=0, facts=package.facts, calibration=calibration, spec=package.spec)
    (folder / "private" / "task.json").write_text(task.model_dump_json())
    (folder / "private" / "answers.csv").write_bytes(package.private["answers.csv"])
    return folder


def test_a_file_is_graded_against_a_pulled_folder(package, calibration, tmp_path):
    folder = write_task(package, calibration, tmp_path / "task")
    path = tmp_path / "submission.csv"
    path.write_bytes(submission_with(package, 0.85))
    report = grade_folder(folder, path)
    assert report.medal is Medal.SILVER
    assert json.loads(report.model_dump_json())["score"] == 0.85
    assert grade_folder(folder, tmp_path / "none.csv").outcome is Outcome.NO_SUBMISSION


def test_answers_stay_in_memory_until_a_file_changes(package, calibration, tmp_path):
    folder = write_task(package, calibration, tmp_path)
    _, answers = read_private(folder)
    assert read_private(folder)[1] is answers
    with pytest.raises(ValueError, match="read-only"):
        answers.truth[0] = 1
    place = folder / "private" / "answers.csv"
    changed = place.with_name("new")
    changed.write_bytes(b"".join(place.read_bytes().splitlines(keepends=True)[:-1]))
    changed.replace(place)
    assert read_private(folder)[1].ids == answers.ids[:-1]


@pytest.mark.parametrize("kind", ["symbolic link", "hard link", "folder", "pipe"])
def test_only_a_regular_file_of_its_own_is_read(tmp_path, kind):
    secret, path = tmp_path / "answers.csv", tmp_path / "submission.csv"
    secret.write_text("id,y\n")
    match kind:
        case "symbolic link":
            path.symlink_to(secret)
        case "hard link":
            os.link(secret, path)
        case "folder":
            path.mkdir()
        case _:
            os.mkfifo(path)
    with pytest.raises(InputError, match=f"saw .*{kind}.*; expected a regular file of its own"):
        read_regular_file(path)


def test_numbers_too_large_to_score_are_an_invalid_submission():
    package = make_rendered(TargetKind.REGRESSION, MetricName.RMSE).package
    answers = read_answers(package.private["answers.csv"], package.facts)
    header = f"id,{package.facts.target_column}\n"
    huge = (header + "".join(f"{row_id},1e308\n" for row_id in answers.ids)).encode()
    board = (BoardEntry(solver="prior", tier=Tier.TRIVIAL, final=9.0, feedback=9.0),)
    calibration = measured(True, 9.0, board, Thresholds(gold=2, silver=3, bronze=4, median=5))
    report = grade_submission(huge, answers, package.facts, calibration)
    assert report.outcome is Outcome.INVALID_SUBMISSION
    assert "too large" in report.problems[0]


def test_a_bug_of_the_grader_earns_nothing_and_is_logged(package, calibration, monkeypatch, caplog):
    monkeypatch.setattr("sandmill.scoring.grading.grade.parse_submission", lambda *_: 1 / 0)
    report = grade(package, calibration, submission_with(package, 1.0))
    assert (report.outcome, report.score, report.medal) == (Outcome.INVALID_SUBMISSION, None, None)
    assert "ZeroDivisionError" in report.problems[0]
    assert caplog.records[0].exc_info


@pytest.mark.parametrize("content", [b"", b"id\n", b"id,y,part\na", b"\xff\xfe", b"id,y\na,1\n"])
def test_damaged_answers_are_named_and_not_a_fault_of_the_submission(package, calibration, tmp_path, content):
    folder = write_task(package, calibration, tmp_path / "task")
    (folder / "private" / "answers.csv").write_bytes(content)
    path = tmp_path / "submission.csv"
    path.write_bytes(submission_with(package, 1.0))
    with pytest.raises(InputError, match=r"answers.csv: 1 problem.*"):
        grade_folder(folder, path)


def change(folder, path, value):
    """Write another value into task.json."""
    place = folder / "private" / "task.json"
    facts = json.loads(place.read_text())
    *parents, name = path.split(".")
    inner = facts
    for parent in parents:
        inner = inner[parent]
    inner[name] = value
    place.write_text(json.dumps(facts))


UNFIT = {
    "an empty board": ("calibration.board", [], "calibration.board"),
    "a threshold that is no number": ("calibration.thresholds.gold", float("nan"), "calibration"),
    "no gap": ("calibration.oracle", 0.5, "calibration.oracle"),
    "a metric of other targets": ("facts.metric", "rmse", "facts.metric"),
    "cells of another metric": ("facts.metric", "roc_auc", "facts.encoding"),
    "a long list": ("facts.list_length", 10**9, "facts.list_length"),
    "too many classes": ("facts.classes", [str(n) for n in range(300_000)], "facts.classes"),
}


@pytest.mark.parametrize("name", UNFIT)
def test_a_task_that_cannot_be_graded_is_refused_before_anything_is_graded(name, package, calibration, tmp_path):
    folder = write_task(package, calibration, tmp_path / "task")
    path, value, where = UNFIT[name]
    change(folder, path, value)
    with pytest.raises(InputError, match=r"task\.json") as caught:
        read_private(folder)
    assert where in [problem.where for problem in caught.value.problems]


def test_answers_with_more_cells_than_memory_is_for_are_refused_before_they_are_read(calibration, tmp_path):
    package = make_rendered(TargetKind.MULTILABEL, MetricName.LOG_LOSS_COLUMNS).package
    folder = write_task(package, calibration, tmp_path / "task")
    change(folder, "facts.classes", [str(n) for n in range(9000)])
    (folder / "private" / "answers.csv").write_bytes(b"\n" * 3000)
    with pytest.raises(InputError, match=r"27000000 cells to grade; expected at most 20000000"):
        read_private(folder)


@pytest.mark.parametrize("name", ["task.json", "answers.csv"])
@pytest.mark.parametrize("kind", ["link", "pipe", "giant"])
@pytest.mark.timeout(20)
def test_private_files_are_regular_files_of_bounded_size(name, kind, package, calibration, tmp_path):
    folder = write_task(package, calibration, tmp_path / "task")
    place = folder / "private" / name
    match kind:
        case "link":
            place.symlink_to(place.rename(tmp_path / "elsewhere"))
        case "pipe":
            place.unlink()
            os.mkfifo(place)
        case _:
            os.truncate(place, 1 << 40)
    seen = {"link": "a symbolic link", "pipe": "a pipe", "giant": "1099511627776 bytes"}[kind]
    with pytest.raises(InputError, match=f"private/{name}: saw {seen}; expected a regular file"):
        read_private(folder)
