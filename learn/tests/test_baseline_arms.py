"""The baselines with the real language: what they run is complete scripts, and each has its budget."""

import ast

from learn.tests.arms import StandInRunner, StandInTask
from sandmill.trainers.episode import last_script
from sandmill_learn.baselines import (
    BASELINES,
    PORTFOLIO,
    choose_baselines,
    pipeline_candidates,
    score_baselines,
)
from sandmill_learn.language import load_language

FACTS = {
    "label": ("target=binary", "form=label", "metric=accuracy"),
    "value": ("target=regression", "form=value", "metric=rmse"),
}
TASKS = [StandInTask(f"{form}{place}", facts, f"{form}{place}") for form, facts in FACTS.items() for place in range(6)]


def test_all_candidates_are_different_python_scripts():
    language = load_language()
    for task in (TASKS[0], TASKS[-1]):
        scripts = [last_script(write(task)) for write in pipeline_candidates(language).values()]
        assert all(scripts)
        for script in scripts:
            ast.parse(script)
        assert len(set(scripts)) > 0.8 * len(scripts)


def test_each_baseline_is_chosen_within_the_budget_and_scored():
    runner = StandInRunner(lambda task_id, text: 0.9 if "Logistic" in text or "Ridge" in text else 0.2)
    arms, spent = choose_baselines(load_language(), TASKS, runner, budget=300)
    assert set(arms) == set(spent) == set(BASELINES)
    assert all(0 < executions <= 300 for executions in spent.values())
    tester = StandInRunner(lambda task_id, text: 0.5, lambda task_id, text: len(text))
    rows = score_baselines(arms, TASKS, tester)
    assert {row.arm for row in rows} == set(BASELINES)
    assert {row.executions for row in rows if row.arm == PORTFOLIO} == {3}
    assert all(len(arms["best-single"](task)) == 1 for task in TASKS)
    alone = StandInRunner(runner.gap_of)
    one, cost = choose_baselines(load_language(), TASKS, alone, budget=300, names=("best-single",))
    assert cost == {"best-single": spent["best-single"]}
    assert [one["best-single"](task) for task in TASKS] == [arms["best-single"](task) for task in TASKS]
