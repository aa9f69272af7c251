"""A curriculum of reading: stages from one plain fact on, and the mix that follows from what rollouts solve."""

from types import SimpleNamespace

import pytest

from sandmill.report.rollouts import MASTERED, STAGES, CurriculumTask, Solved, reading_stages, reading_table


def record(task_id, level="plain", facts=1, gain=0.2, split="train"):
    hints = (SimpleNamespace(matters=True),) * facts + (SimpleNamespace(matters=False),)
    spec, measured = SimpleNamespace(reading_level=level, hints=hints), SimpleNamespace(reading_gain=gain)
    return SimpleNamespace(task_id=task_id, split=split, spec=spec, calibration=measured)


def played(task_id, solved, rollouts=10):
    kind = Solved.NEVER if not solved else Solved.ALWAYS if solved == rollouts else Solved.FRONTIER
    place = {"split": "train", "structure": "tabular", "band": "hard", "difficulty": 0.5}
    return CurriculumTask(
        task_id=task_id,
        **place,
        rollouts=rollouts,
        solved=solved,
        mean_reward=0.1,
        kind=kind,
        has_reward_variance=True,
    )


RECORDS = [
    record("small", gain=0.1),
    record("large", gain=0.4),
    record("two", facts=2),
    record("free", "prose"),
    record("apart", "spread"),
    record("doubt", "contested"),
    record("blind", "none", facts=0, gain=None),
    record("held out", split="validation"),
]


def mix(stages):
    return {stage.name: stage.share for stage in stages}


def test_stages_rise_and_the_largest_gain_comes_first():
    stages = reading_stages(RECORDS, {})
    assert tuple(stage.name for stage in stages) == STAGES
    assert [stage.task_ids for stage in stages] == [("large", "small"), ("two",), ("free",), ("apart",), ("doubt",)]
    assert stages[0].median_gain == pytest.approx(0.25)
    assert mix(stages) == {"one plain fact": 0.75, "plain": 0.25, "prose": 0, "spread": 0, "contested": 0}


def test_most_of_the_mix_goes_to_the_first_stage_that_rollouts_do_not_master():
    tasks = [played("large", 9), played("small", 6), played("two", 8), played("free", int(10 * MASTERED) - 1)]
    stages = reading_stages(RECORDS, {task.task_id: task for task in tasks})
    assert stages[0].solved == pytest.approx(0.75)
    assert mix(stages) == {"one plain fact": 0.1, "plain": 0.1, "prose": 0.6, "spread": 0.2, "contested": 0}


def test_tasks_that_are_always_solved_teach_nothing():
    stages = reading_stages(RECORDS, {"large": played("large", 10), "small": played("small", 10)})
    assert stages[0].task_ids == ()
    assert mix(stages) == {"one plain fact": 0, "plain": 0.75, "prose": 0.25, "spread": 0, "contested": 0}


def test_a_model_that_masters_everything_stays_at_the_hardest_stage():
    everything = {one.task_id: played(one.task_id, 9) for one in RECORDS}
    stages = reading_stages(RECORDS, everything)
    assert max(stages, key=lambda stage: stage.share).name == "contested"
    assert sum(mix(stages).values()) == pytest.approx(1)


def test_a_release_that_states_nothing_has_no_stages():
    assert reading_stages([RECORDS[-2]], {}) == ()


def test_the_table_has_a_row_a_stage():
    table = reading_table(reading_stages(RECORDS, {"large": played("large", 5)}))
    assert table.rows[0] == ("one plain fact", "2", "0.25", "50%", "75%")
    assert table.rows[1][3] == "-"
