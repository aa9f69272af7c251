"""Feedback gives an agent few answers, rounded, and on the feedback rows only."""

from concurrent.futures import ThreadPoolExecutor
from math import inf, log2, nan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sandmill
from sandmill.errors import InputError
from sandmill.models.base import Part
from sandmill.models.calibration import BoardEntry, Tier
from sandmill.models.reports import Outcome
from sandmill.models.rollout import FeedbackAnswer, FeedbackStatus
from sandmill.models.structure import MetricName, TargetKind
from sandmill.play.feedback import MOST_ANSWERS, Rounding, rounding_of
from sandmill.scoring import get_metric
from sandmill.scoring.grading.private_half import read_private
from sandmill.scoring.medals import medal_of
from tests.factories import CALIBRATION
from tests.task_folders import write_task
from tests.unit.play.test_score import result_of

S = FeedbackStatus


@pytest.fixture(scope="module")
def regression(tmp_path_factory):
    """A task scored by MAPE. Whether its score overflows depends on the labels."""
    return write_task(tmp_path_factory.mktemp("pulled"), TargetKind.REGRESSION, MetricName.MAPE)


def submit(meter, task, values) -> FeedbackAnswer:
    return meter.submit(result_of(submission=csv_of(task, values)))


def csv_of(task, values) -> bytes:
    facts, answers = read_private(task)
    (column,) = facts.facts.submission_columns
    rows = zip(answers.ids, values, strict=True)
    return "".join([f"id,{column}\n", *(f"{row_id},{value!r}\n" for row_id, value in rows)]).encode()


def half_right(task) -> np.ndarray:
    """Probabilities that are better than chance."""
    return np.where(read_private(task)[1].truth == 1, 0.7, 0.3)


def feedback_score(task, values) -> float:
    facts, answers = read_private(task)
    rows = answers.part(Part.FEEDBACK)
    return get_metric(facts.facts.metric).score(answers.truth[rows], np.asarray(values)[rows])


def test_a_valid_submission_gets_its_rounded_score(task):
    meter, values = sandmill.Feedback(task), half_right(task).tolist()
    answer = submit(meter, task, values)
    exact = feedback_score(task, values)
    assert (answer.status, answer.outcome, answer.submissions_left) == (S.SCORED, Outcome.OK, 4)
    assert abs(answer.score - exact) <= meter.step / 2 + 1e-12
    assert answer.score == pytest.approx(round(answer.score / meter.step) * meter.step)
    assert f"Score: {answer.score:.10g}, rounded to steps of {meter.step:.10g}. Position" in answer.message
    assert answer.message.endswith("Submissions left: 4.")


def test_position_and_medal_follow_from_the_rounded_score_on_the_feedback_part(task):
    calibration = read_private(task).task.calibration
    answer = submit(sandmill.Feedback(task), task, half_right(task).tolist())
    board = [entry.feedback for entry in calibration.board]
    assert answer.entries == len(board)
    assert answer.position == 1 + sum(score < answer.score for score in board)
    assert answer.medal == medal_of(answer.score, calibration.feedback_thresholds, calibration.is_lower_better)
    assert f"Position {answer.position} among {len(board)} leaderboard entries" in answer.message
    worse = submit(sandmill.Feedback(task), task, np.full(len(half_right(task)), 0.5).tolist())
    assert (worse.position, worse.medal, worse.entries) == (None, None, None)


def test_after_the_last_submission_the_answer_says_so_and_nothing_else(task):
    meter, values = sandmill.Feedback(task, max_submissions=2), half_right(task).tolist()
    answers = [submit(meter, task, values) for _ in range(4)]
    assert [answer.status for answer in answers] == [S.SCORED, S.SCORED, S.EXHAUSTED, S.EXHAUSTED]
    assert [answer.submissions_left for answer in answers] == [1, 0, 0, 0]
    assert (answers[3].score, answers[3].outcome, answers[3].problems) == (None, None, ())
    assert answers[3].message == "No submissions are left, so this one was not scored."


def test_many_threads_get_no_more_answers_than_one(task):
    meter, values = sandmill.Feedback(task, max_submissions=3), half_right(task).tolist()
    with ThreadPoolExecutor(8) as threads:
        answers = list(threads.map(lambda _: submit(meter, task, values), range(16)))
    assert sum(answer.status is S.SCORED for answer in answers) == 3


def test_a_submission_no_better_than_the_baseline_counts_and_has_no_score(task):
    meter = sandmill.Feedback(task)
    for values in (np.full(len(half_right(task)), 0.5), 1 - half_right(task)):
        answer = submit(meter, task, values.tolist())
        assert (answer.status, answer.score, answer.outcome) == (S.BELOW_BASELINE, None, Outcome.OK)
    assert meter.submissions_left == 3
    assert "no better than that of a constant prediction" in answer.message


def test_failed_runs_and_invalid_submissions_cost_no_submission(task):
    meter = sandmill.Feedback(task)
    failed = meter.submit(result_of(Outcome.TIMEOUT, b"id\n"))
    absent = meter.submit(result_of())
    assert [answer.outcome for answer in (failed, absent)] == [Outcome.TIMEOUT, Outcome.NO_SUBMISSION]
    assert meter.submissions_left == 5
    invalid = meter.submit(result_of(submission=b"id\n"))
    assert (invalid.status, invalid.outcome) == (S.NOT_SCORED, Outcome.INVALID_SUBMISSION)
    assert "line 1" in invalid.problems[0]
    assert invalid.problems[0] in invalid.message
    assert submit(meter, task, half_right(task).tolist()).status is S.SCORED
    assert meter.submissions_left == 4


def test_an_answer_does_not_depend_on_the_final_rows(task):
    is_final = read_private(task)[1].is_final
    values = half_right(task)
    other = np.where(is_final, 1 - values, values)
    assert submit(sandmill.Feedback(task), task, values.tolist()) == submit(
        sandmill.Feedback(task), task, other.tolist()
    )


def test_whether_a_score_overflows_is_no_free_answer(regression):
    """Whether 1e308 divided by the label overflows reveals the label, also in final rows."""
    answers = read_private(regression)[1]
    for rows in (answers.is_final, ~answers.is_final):
        meter, values = sandmill.Feedback(regression), answers.truth.copy()
        values[np.flatnonzero(rows)[:3]] = 1e308
        answer = submit(meter, regression, values.tolist())
        assert (answer.outcome, answer.problems, answer.submissions_left) == (Outcome.OK, (), 4)
        assert answer.status is (S.SCORED if rows is answers.is_final else S.BELOW_BASELINE)


def test_a_meter_that_would_answer_nothing_is_refused(task):
    with pytest.raises(InputError, match="max_submissions: saw 0; expected a whole number from 1 up"):
        sandmill.Feedback(task, max_submissions=0)


BASELINES = {
    MetricName.LOG_LOSS: (0.6931, 0.005),
    MetricName.ROC_AUC: (0.5, 0.005),
    MetricName.RMSE: (152.3, 1.0),
    MetricName.R2: (-0.0004, 0.01),
    MetricName.ACCURACY: (0.91, 0.0005),
}


def rounding(metric: MetricName, baseline: float) -> Rounding:
    board = (BoardEntry(solver="prior", tier=Tier.TRIVIAL, final=-99.0, feedback=baseline),)
    lower = get_metric(metric).is_lower_better
    return rounding_of(CALIBRATION.model_copy(update={"board": board, "is_lower_better": lower}), metric)


@pytest.mark.parametrize("metric", BASELINES)
def test_steps_are_round_numbers_of_the_size_of_a_hundredth_of_what_is_possible(metric):
    baseline, step = BASELINES[metric]
    assert rounding(metric, baseline).step == step


@given(
    metric=st.sampled_from([MetricName.LOG_LOSS, MetricName.R2, MetricName.RMSE]),
    baseline=st.floats(1e-6, 0.999) | st.floats(0.001, 1e6),
    scores=st.lists(st.floats(-1e9, 1e9) | st.sampled_from([inf, -inf, nan]), min_size=1, max_size=50),
)
def test_an_answer_is_one_of_few_whatever_the_score(metric, baseline, scores):
    if metric is MetricName.R2:
        baseline = min(baseline, 0.999)
    grid = rounding(metric, baseline)
    assert abs(grid.perfect - grid.baseline) + 1 <= MOST_ANSWERS
    low, high = sorted((grid.perfect, grid.baseline))
    answered = {grid.round(score) for score in scores} - {None}
    assert {round(score / grid.step) for score in answered} <= set(range(low, high + 1)) - {grid.baseline}
    assert log2(MOST_ANSWERS) < 8


def test_a_board_without_a_trivial_solver_is_refused():
    with pytest.raises(InputError, match="no entry of the trivial tier"):
        rounding_of(CALIBRATION.model_copy(update={"board": CALIBRATION.board[:1]}), MetricName.ROC_AUC)
