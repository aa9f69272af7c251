"""Rollouts without an episode, for tests of the store and of figures."""

from typing import Any

from sandmill.models.calibration import Thresholds
from sandmill.models.llm import Message
from sandmill.models.reports import Check, GradeReport, Medal, Outcome
from sandmill.models.rollout import (
    Action,
    Ending,
    EpisodeLimits,
    FeedbackAnswer,
    FeedbackStatus,
    Marker,
    Operator,
    RewardParts,
    Rollout,
    RolloutRecord,
    RolloutSettings,
    Step,
    Usage,
)

SETTINGS = RolloutSettings(
    release="0001-ab12cd34",
    model="openai/one",
    reward="gap",
    limits=EpisodeLimits(),
    temperature=1.0,
    max_tokens=1000,
    memory_mb=2048,
)


def make_record(
    task_id: str = "sm1", sample: int = 0, reward: float = 0.3, medal: Medal | None = None, **facts: Any
) -> RolloutRecord:
    """Return a record of a whole episode with awkward texts and numbers."""
    feedback = FeedbackAnswer(
        status=FeedbackStatus.SCORED, outcome=Outcome.OK, score=0.1 + 0.2, step=0.01, submissions_left=4, entries=9
    )
    steps = (
        Step(
            number=1,
            action=Action.RUN,
            code="print('\u00e9\u0000\u2028\U0001f600')\n",
            outcome=Outcome.OK,
            duration_s=1 / 3,
            stdout="a\r\nb\x1b[1m",
            checks=tuple(Check),
            markers=(Marker.TRAINED,),
        ),
        Step(number=2, action=Action.SUBMIT, outcome=Outcome.OK, feedback=feedback),
        Step(number=3, action=Action.RUN, code="1/0", outcome=Outcome.RUNTIME_ERROR, problems=("one", "two")),
        Step(number=4, action=Action.FINISH),
    )
    grade = GradeReport(
        outcome=Outcome.OK,
        score=0.7,
        is_lower_better=False,
        thresholds=Thresholds(gold=0.9, silver=0.8, bronze=0.7, median=0.6),
        medal=medal,
        gap_closed=reward,
    )
    rollout = Rollout(
        task_id=task_id,
        release="releases/micro@0001-ab12cd34",
        sample=sample,
        model="openai/one",
        steps=facts.pop("steps", steps),
        ending=facts.pop("ending", Ending.FINISHED),
        grade=facts.pop("grade", grade),
        chosen=1,
        format_rate=2 / 3,
        mask=facts.pop("mask", False),
        reward=facts.pop("parts", RewardParts(preset="gap", parts={"gap": reward, "format": 0.0})),
        duration_s=12.345678901234567,
        usage=facts.pop("usage", Usage(prompt_tokens=100, completion_tokens=50, seconds=1.5, usd=0.001)),
    )
    messages = (Message(role="system", content="Work."), Message(role="assistant", content="<think>\u00e9</think>"))
    return RolloutRecord(rollout=rollout, messages=messages, operator=Operator.IMPROVE, **facts)


def make_masked(task_id: str = "sm1", sample: int = 0, error: str = "") -> RolloutRecord:
    """Return a record whose sandbox or, with an error, whose model failed."""
    parts = RewardParts(preset="gap", parts={}, mask=True)
    return make_record(task_id, sample, ending=Ending.INFRA, grade=None, mask=True, parts=parts, error=error)
