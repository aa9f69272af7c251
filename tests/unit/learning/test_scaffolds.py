"""Ways of calling a policy, and prompts with earlier scripts."""

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from sandmill.learning.improvement import FEEDBACK_WORDS, IMPROVE_WORD, ParentPool, feedback_word
from sandmill.learning.scaffolds import ArmLabels, best_on_feedback, draft_then_improve, feedback_rank
from sandmill.models.calibration import Thresholds
from sandmill.models.episode import FeedbackAnswer, FeedbackStatus
from sandmill.models.reports import GradeReport, Medal, Outcome
from sandmill.models.rollout import Action, Ending, Rollout, Step

NAMES = ArmLabels("arm", 0)


def _feedback(score: float | None, medal: Medal | None = None) -> FeedbackAnswer:
    status = FeedbackStatus.BELOW_BASELINE if score is None else FeedbackStatus.SCORED
    return FeedbackAnswer(
        status=status, outcome=Outcome.OK, score=score, medal=medal, step=0.01, submissions_left=0
    )  # fmt: skip


def _rollout(task_id: str, gap: float | None, feedback: float | None, *, is_lower: bool = False) -> Rollout:
    outcome = Outcome.OK if gap is not None else Outcome.RUNTIME_ERROR
    run = Step(number=1, action=Action.RUN, outcome=outcome, duration_s=2.0)
    answer = _feedback(feedback) if gap is not None else None
    asked = Step(number=2, action=Action.SUBMIT, feedback=answer)
    grade = GradeReport(
        outcome=outcome,
        is_lower_better=is_lower,
        thresholds=Thresholds(gold=1.0, silver=0.8, bronze=0.6, median=0.5),
        gap_closed=gap,
        position_score=0.0 if gap is None else gap,
    )
    chosen = None if gap is None else 1
    return Rollout(task_id=task_id, steps=(run, asked), ending=Ending.STOPPED, grade=grade, chosen=chosen)


class Results:
    """Returns prepared rollouts by the text of the answer: gap and feedback score."""

    def __init__(self, results: dict[str, tuple[float | None, float | None]], *, is_lower: bool = False) -> None:
        self.results, self.is_lower, self.asked = results, is_lower, list[tuple[str, str]]()

    def rollouts(self, pairs: Sequence[tuple[str, str]]) -> list[Rollout]:
        self.asked += pairs
        return [_rollout(task_id, *self.results[text], is_lower=self.is_lower) for task_id, text in pairs]


def _task(name: str) -> Any:
    return SimpleNamespace(id=name, facts=("metric=auc",), family=name, source="test")


def test_the_script_with_the_best_feedback_is_graded_whatever_its_grade() -> None:
    runner = Results({"a": (0.9, 0.5), "b": (0.2, 0.7), "c": (None, None)})
    (row,) = best_on_feedback(lambda tasks, n: [["a", "b", "c"]], [_task("t")], runner, NAMES, scripts=3)
    assert row.gap == 0.2
    assert row.executions == 3
    assert row.seconds == 6.0


def test_feedback_of_metrics_that_fall_is_turned() -> None:
    runner = Results({"a": (0.9, 0.5), "b": (0.2, 0.7)}, is_lower=True)
    (row,) = best_on_feedback(lambda tasks, n: [["a", "b"]], [_task("t")], runner, NAMES, scripts=2)
    assert row.gap == 0.9


def test_a_failed_improvement_keeps_the_draft() -> None:
    runner = Results({"draft": (0.4, 0.4), "worse": (None, None)})
    (row,) = draft_then_improve(
        lambda tasks, n: [["draft"]], lambda tasks, drafts, rollouts: ["worse"], [_task("t")], runner, NAMES
    )  # fmt: skip
    assert row.gap == 0.4
    assert row.executions == 2


def test_the_second_script_sees_the_first_one() -> None:
    seen: list[str] = []

    def rewrite(tasks: Sequence[Any], drafts: Sequence[str], rollouts: Sequence[Rollout]) -> list[str]:
        seen.extend(drafts)
        return [f"better {draft}" for draft in drafts]

    runner = Results({"d1": (0.1, 0.1), "d2": (0.1, 0.1), "better d1": (0.5, 0.5), "better d2": (0.6, 0.6)})
    rows = draft_then_improve(
        lambda tasks, n: [["d1"], ["d2"]], rewrite, [_task("t1"), _task("t2")], runner, NAMES
    )  # fmt: skip
    assert seen == ["d1", "d2"]
    assert [row.gap for row in rows] == [0.5, 0.6]


def test_any_valid_submission_is_better_than_none() -> None:
    assert feedback_rank(_rollout("t", 0.0, None)) > feedback_rank(_rollout("t", None, None))
    assert feedback_rank(_rollout("t", 0.1, 0.3)) > feedback_rank(_rollout("t", 0.0, None))


def test_every_feedback_of_a_valid_submission_has_a_word() -> None:
    answers = [_feedback(None), _feedback(0.5), *(_feedback(0.5, medal) for medal in Medal)]
    assert {feedback_word(answer) for answer in answers} == set(FEEDBACK_WORDS)
    assert feedback_word(FeedbackAnswer(status=FeedbackStatus.NOT_SCORED, step=0.1, submissions_left=1)) is None


def test_a_task_without_a_valid_script_gets_a_draft_prompt() -> None:
    pool = ParentPool()
    pool.add("t", ["a"], None)
    assert pool.prompt("t", ["f=1"], 1.0, np.random.default_rng(0)).words == ("f=1",)


def test_half_of_the_prompts_show_an_earlier_script() -> None:
    pool, generator = ParentPool(), np.random.default_rng(0)
    pool.add("t", ["a", "b"], _feedback(0.5, Medal.GOLD))
    words = [pool.prompt("t", ["f=1"], 0.5, generator).words for _ in range(400)]
    assert words.count(("f=1", IMPROVE_WORD, "feedback=gold", "a", "b")) == pytest.approx(200, abs=40)


def test_the_pool_forgets_the_oldest_scripts() -> None:
    pool = ParentPool()
    for number in range(30):
        pool.add("t", [str(number)], _feedback(0.5))
    assert ("0",) not in pool.scripts["t"]
    assert ("29",) in pool.scripts["t"]


def test_masked_scripts_give_no_row() -> None:
    class Faulty:
        def rollouts(self, pairs: Sequence[tuple[str, str]]) -> list[Rollout]:
            return [Rollout(task_id=task_id, ending=Ending.INFRA, mask=True) for task_id, _ in pairs]

    assert best_on_feedback(lambda tasks, n: [["a"]], cast("Any", [_task("t")]), Faulty(), NAMES, scripts=1) == []
