"""Baselines choose by training tasks alone, and within their budget of executions."""

import pytest

from learn.tests.arms import StandInRunner, StandInTask
from sandmill.errors import InputError
from sandmill_learn.baselines import best_single, measure, portfolio

CANDIDATES = {name: lambda task, name=name: name for name in ("forest", "linear", "boost", "mean")}


def form(task):
    return task.facts[0]


def make_tasks(**kinds):
    """Tasks of both forms; the facts of a task name its kind."""
    return [
        StandInTask(f"{one}-{kind}-{place}", (f"form={one}", f"kind={kind}"), f"{one}-{kind}-{place}")
        for one in ("a", "b")
        for kind, number in kinds.items()
        for place in range(number)
    ]


def gap_of(task_id, text):
    """Linear is best on flat tasks, forest on curved ones; in form b boost is always good."""
    one, kind, _ = task_id.split("-")
    if text == "boost":
        return 0.9 if one == "b" else 0.5
    if text == "mean":
        return None
    return 0.8 if (text == "linear") == (kind == "flat") else 0.1


TASKS = make_tasks(flat=4, curved=5)


def test_the_best_single_pipeline_is_chosen_for_each_form():
    measured = measure(CANDIDATES, TASKS, StandInRunner(gap_of), budget=1000)
    choose = best_single(measured, CANDIDATES, form)
    assert choose(StandInTask("new", ("form=a",))) == ["boost"]
    assert choose(StandInTask("new", ("form=never seen",))) == ["boost"]


def test_a_portfolio_adds_the_member_that_helps_most():
    measured = measure(CANDIDATES, TASKS, StandInRunner(gap_of), budget=1000)
    assert portfolio(measured, CANDIDATES, form, size=3)(TASKS[0]) == ["boost", "forest", "linear"]
    assert len(portfolio(measured, CANDIDATES, form, size=9)(TASKS[0])) == 4


def test_no_more_than_the_budget_is_executed():
    runner = StandInRunner(gap_of)
    measured = measure(CANDIDATES, TASKS, runner, budget=21)
    assert measured.executions == runner.requested == 20
    assert len(measured.tasks) == 5
    assert measured == measure(CANDIDATES, TASKS, StandInRunner(gap_of), budget=21)
    assert list(measured.tasks) != list(measure(CANDIDATES, TASKS, StandInRunner(gap_of), budget=21, seed=1).tasks)
    with pytest.raises(InputError, match="4 or more"):
        measure(CANDIDATES, TASKS, runner, budget=3)


def test_replicates_of_one_design_count_as_one():
    tasks = [StandInTask("a-flat-0", ("form=a",), "one")] + [
        StandInTask(f"a-curved-{place}", ("form=a",), "two") for place in range(5)
    ]

    def worth(task_id, text):
        if text == "forest":
            return 0.5
        return {"linear": 0.9, "boost": 0.0, "mean": 0.0}[text] if "flat" in task_id else 0.2

    measured = measure(CANDIDATES, tasks, StandInRunner(worth), budget=1000)
    assert best_single(measured, CANDIDATES, form)(tasks[0]) == ["linear"]
