"""The reward depends on the submission in the run's result, never on a file in a folder."""

import pytest

import sandmill
from sandmill.errors import InputError
from sandmill.models.reports import Medal, Outcome
from sandmill.models.run import Isolation, RunResult
from sandmill.scoring.grading import grade_folder, grade_submission
from sandmill.scoring.grading.private_half import read_private
from tests.rollouts import reward_of

FAILURES = [outcome for outcome in Outcome if outcome not in (Outcome.OK, Outcome.INVALID_SUBMISSION)]
COPY = "import shutil; shutil.copy('hoard.csv', 'submission.csv')"


def result_of(outcome: Outcome = Outcome.OK, submission: bytes | None = None) -> RunResult:
    return RunResult(outcome=outcome, isolation=Isolation.WARM, submission=submission)


@pytest.fixture(scope="module")
def answers(task) -> bytes:
    """A submission that scores far better than the oracle."""
    lines = (task / "private" / "answers.csv").read_text().splitlines()
    rows = [line.split(",") for line in lines]
    return "".join(f"{row_id},{truth}\n" for row_id, truth, _ in rows).encode()


def test_a_valid_submission_has_a_clipped_reward_beside_the_unclipped_gap(task, answers):
    scored = sandmill.score(task, result_of(submission=answers))
    facts, truth = read_private(task)
    grade = grade_submission(answers, truth, facts.facts, facts.calibration)
    assert scored.gap_closed == grade.gap_closed > 1
    assert (scored.reward, scored.outcome, scored.medal, scored.mask) == (1.0, Outcome.OK, Medal.GOLD, False)
    assert (scored.score, scored.position) == (grade.score, grade.position)
    assert sandmill.score(str(task), result_of(submission=answers)) == scored


def test_a_submission_worse_than_trivial_is_worth_nothing_and_its_gap_says_how_bad_it_is(task):
    sample = (task / "public" / "sample_submission.csv").read_bytes()
    scored = sandmill.score(task, result_of(submission=sample.replace(b",0.5", b",0.99")))
    assert (scored.outcome, scored.reward, scored.medal) == (Outcome.OK, 0.0, None)
    assert scored.gap_closed < -1


@pytest.mark.parametrize("outcome", FAILURES)
def test_a_run_that_failed_keeps_its_outcome_and_is_worth_nothing_whatever_it_holds(outcome, task, answers):
    scored = sandmill.score(task, result_of(outcome, answers))
    assert (scored.outcome, scored.reward, scored.gap_closed, scored.medal) == (outcome, 0.0, None, None)
    assert scored.score is None
    assert scored.mask == (outcome is Outcome.INFRA_ERROR)


def test_an_invalid_submission_is_worth_nothing_and_says_why(task):
    scored = sandmill.score(task, result_of(submission=b"id\n"))
    assert (scored.outcome, scored.reward, scored.mask) == (Outcome.INVALID_SUBMISSION, 0.0, False)
    assert "line 1" in scored.problems[0]
    assert sandmill.score(task, result_of()).outcome is Outcome.NO_SUBMISSION


def test_files_and_bytes_are_refused(task, answers, tmp_path):
    path = tmp_path / "submission.csv"
    path.write_bytes(answers)
    for given in (path, str(path), answers, None):
        with pytest.raises(InputError, match=r"expected the RunResult of the run\. Pass what Sandbox.run returned"):
            sandmill.score(task, given)
        with pytest.raises(InputError, match=f"saw an object of type {type(given).__name__};"):
            sandmill.Feedback(task).submit(given)


def test_a_task_without_its_private_half_or_an_unknown_preset_is_an_error_of_the_caller(task, tmp_path):
    with pytest.raises(InputError, match="expected a pulled task"):
        sandmill.score(tmp_path, result_of())
    with pytest.raises(InputError, match="one of ladder"):
        sandmill.score(task, result_of(), preset="all")


STORIES = {
    "a step that submits and then fails": (
        [f"{COPY}\nraise SystemExit('the work was not finished')"],
        Outcome.RUNTIME_ERROR,
    ),
    "a step that submits and a later one that does not": ([COPY, "print('nothing new')"], Outcome.NO_SUBMISSION),
    "a step that submits and a later one that fails": ([COPY, "1 / 0"], Outcome.RUNTIME_ERROR),
}


@pytest.mark.parametrize("story", STORIES)
def test_a_file_left_in_the_scratch_folder_pays_nobody(story, task, answers, box, tmp_path):
    """The file in the scratch folder would get the full reward if it were graded."""
    steps, outcome = STORIES[story]
    (tmp_path / "hoard.csv").write_bytes(answers)
    results = [box.run(code, public=task / "public", scratch=tmp_path) for code in steps]
    scored = sandmill.score(task, results[-1])
    assert (scored.outcome, scored.reward, scored.score) == (outcome, 0.0, None)
    assert reward_of(grade_folder(task, tmp_path / "submission.csv")) == 1.0
