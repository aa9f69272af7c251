"""An evaluation asks each task once for each sample, and leaves out what the sandbox spoiled."""

from learn.tests.arms import StandInPolicy, StandInRunner, StandInTask
from sandmill_learn.evaluate import SampleSettings, evaluate, evaluate_choice

TASKS = [StandInTask(f"t{place}.d{draw}", family=f"t{place}") for place in range(3) for draw in range(2)]


def test_greedy_is_one_script_a_task_whatever_the_samples():
    policy, runner = StandInPolicy("a"), StandInRunner(lambda task_id, text: 0.5)
    rows = evaluate("arm", policy, TASKS, runner, draws=SampleSettings(samples=8, seed=4))
    assert len(rows) == 6 == len(runner.pairs)
    assert policy.asked[0][1:] == (1, 0.0, 4)
    assert {(row.arm, row.seed, row.temperature, row.sample) for row in rows} == {("arm", 4, 0.0, 0)}
    assert [row.draw for row in rows] == [0, 1] * 3


def test_samples_are_numbered_and_told_apart_by_their_digest():
    runner = StandInRunner(lambda task_id, text: 0.5 if text == "a" else None)
    rows = evaluate("arm", StandInPolicy("a", "b"), TASKS, runner, draws=SampleSettings(samples=4, temperature=1.0))
    assert [row.sample for row in rows[:4]] == [0, 1, 2, 3]
    assert len({row.script_digest for row in rows}) == 2
    assert sum(row.valid for row in rows) == 12


def test_functions_and_answers_are_arms_too_and_progress_ends_at_all():
    seen = []
    runner = StandInRunner(lambda task_id, text: 0.1)
    by_function = evaluate("f", lambda task: [task.id], TASKS, runner, progress=lambda *now: seen.append(now))
    by_answers = evaluate("f", {task.id: [task.id] for task in TASKS}, TASKS, runner)
    assert by_function == by_answers
    assert seen == [(6, 6)]


def test_a_masked_run_is_no_failure_of_the_arm(caplog):
    runner = StandInRunner(lambda task_id, text: 0.5, masked=frozenset({"t0.d0"}))
    rows = evaluate("arm", StandInPolicy("a"), TASKS, runner)
    assert len(rows) == 5
    assert all(row.valid for row in rows)
    assert "1 of 6" in caplog.text


def test_the_best_feedback_decides_and_the_final_score_counts():
    gaps, feedback = {"a": 0.9, "b": 0.2, "c": None}, {"a": 0.3, "b": 0.4, "c": 0.9}
    for lower, chosen in ((False, 0.2), (True, 0.9)):
        runner = StandInRunner(lambda _, text: gaps[text], lambda _, text: feedback[text], is_lower_better=lower)
        rows = evaluate_choice("portfolio", lambda task: ["a", "b", "c"], TASKS[:1], runner)
        assert [(row.gap, row.executions, row.seconds) for row in rows] == [(chosen, 3, 1.5)]
