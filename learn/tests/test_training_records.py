"""What a training writes down: curves, checkpoints, the schedule, and when it stops."""

import json
from typing import get_args

import pytest
from pydantic import ValidationError

from learn.tests.toy import TEXTS, ToyExecutor, rollout_with, toy_tasks
from sandmill.errors import InputError
from sandmill.models.rollout import Ending, Rollout
from sandmill.rewards import PRESETS, get_reward
from sandmill_learn import training
from sandmill_learn.batches import figures_of, gap_of, schedule, validate
from sandmill_learn.grpo import GrpoProgress, RecordedReward
from sandmill_learn.records import (
    MARK,
    CurveRow,
    TrainingProgress,
    drop_older,
    find_collapse,
    latest_checkpoint,
    mark_complete,
    read_curves,
    recover_folder,
    replace_folder,
    write_curves,
)
from sandmill_learn.rejection import keep_best
from sandmill_learn.settings import GrpoSettings, PolicySize, derive_seed
from sandmill_learn.sft import rate_at
from sandmill_learn.training import (
    REQUEST_FILE,
    RESULT_FILE,
    RewardName,
    Trained,
    TrainRequest,
    TrainSettings,
    find_finished,
)

ROWS = [
    CurveRow(stage="sft", update=20, loss=0.5, entropy=1.25),
    CurveRow(stage="grpo", update=0, greedy_gap=0.2, sampled_gap=0.1, requested=6),
    CurveRow(stage="grpo", update=1, reward=0.3, valid=0.9, flat_groups=0.5, requested=134, executed=20, seconds=1.5),
]


def test_curves_are_read_back_as_they_were_written(tmp_path):
    write_curves(tmp_path / "c.csv", ROWS)
    assert read_curves(tmp_path / "c.csv") == ROWS


@pytest.mark.parametrize("text", [None, "stage,update\nsft,many\n", "stage,update,more\nsft,1,2\n", "\0"])
def test_a_file_that_is_no_curve_is_refused(tmp_path, text):
    if text is not None:
        (tmp_path / "c.csv").write_text(text)
    if text == "\0":
        assert read_curves(tmp_path / "c.csv") == []
        return
    with pytest.raises(InputError, match="a curve that"):
        read_curves(tmp_path / "c.csv")


def test_a_line_of_the_log_names_what_was_measured():
    assert ROWS[0].line == "sft 20: loss 0.500, entropy 1.250, requested 0, executed 0 (0.0 s)"


def test_every_family_has_its_turn_with_the_next_replicate():
    tasks = toy_tasks(families=4, replicates=3)
    updates = schedule(tasks, updates=6, size=4, seed=1)
    assert [sorted(task.family for task in update) for update in updates] == [["f0", "f1", "f2", "f3"]] * 6
    first = [next(task.id for task in update if task.family == "f0") for update in updates]
    assert first == ["t0-0", "t0-1", "t0-2"] * 2
    assert updates == schedule(tasks, updates=6, size=4, seed=1)
    assert updates != schedule(tasks, updates=6, size=4, seed=2)


def test_a_schedule_of_few_tasks_repeats_them():
    (update,) = schedule(toy_tasks(families=1, replicates=2), updates=1, size=5, seed=0)
    assert [task.id for task in update] == ["t0-0", "t0-1", "t0-0", "t0-1", "t0-0"]
    assert schedule([], updates=2, size=3, seed=0) == [[], []]


def test_seeds_of_different_uses_differ():
    seeds = {derive_seed(seed, name, step) for seed in (0, 1) for name in ("a", "b") for step in range(5)}
    assert len(seeds) == 20
    assert derive_seed(0, "a", 1) == derive_seed(0, "a", 1)
    assert derive_seed(0, "a1") != derive_seed(0, "a", 1)


def test_the_learning_rate_rises_and_falls():
    rates = [rate_at(step, 100) for step in range(100)]
    assert rates[0] < rates[4] == 1.0
    assert rates[5:] == sorted(rates[5:], reverse=True)
    assert 0.1 <= rates[-1] < 0.11


def _flat(update, **figures):
    return CurveRow(stage="grpo", update=update, flat_groups=1.0, **figures)


@pytest.mark.parametrize(
    ("figures", "cause"),
    [
        ({"valid": 0.0, "distinct": 1.0}, "train with sft first"),
        ({"valid": 1.0, "distinct": 0.125, "entropy": 0.002}, "collapsed to one script"),
        ({"valid": 1.0, "distinct": 0.8}, "a reward with more levels"),
    ],
)
def test_a_training_without_anything_to_learn_stops_and_says_why(figures, cause):
    rows = [_flat(update, **figures) for update in range(1, 5)]
    assert find_collapse(rows[:3], 4) == ""
    assert cause in find_collapse(rows, 4)
    assert find_collapse([*rows[:3], CurveRow(stage="grpo", update=4, flat_groups=0.5), rows[3]], 4) == ""


def test_an_incomplete_checkpoint_is_removed(tmp_path):
    for step in (8, 16, 100):
        (tmp_path / f"checkpoint-{step}").mkdir()
    progress = TrainingProgress(rows=tuple(ROWS), best=0.15, best_update=0)
    mark_complete(tmp_path / "checkpoint-8", TrainingProgress())
    mark_complete(tmp_path / "checkpoint-16", progress)
    assert latest_checkpoint(tmp_path) == (tmp_path / "checkpoint-16", progress)
    assert not (tmp_path / "checkpoint-100").exists()
    assert progress.requested == 134
    (tmp_path / "checkpoint-16" / MARK).write_text("{")
    assert latest_checkpoint(tmp_path)[0].name == "checkpoint-8"
    assert latest_checkpoint(tmp_path / "none") is None


def test_the_last_checkpoints_are_kept(tmp_path):
    for step in (8, 16, 100):
        (tmp_path / f"checkpoint-{step}").mkdir()
    drop_older(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["checkpoint-100", "checkpoint-16"]


def test_a_folder_is_replaced_at_once_or_not_at_all(tmp_path):
    with replace_folder(tmp_path / "p") as written:
        (written / "a").write_text("1")
    with pytest.raises(ZeroDivisionError), replace_folder(tmp_path / "p"):
        1 / 0  # noqa: B018
    assert [path.name for path in tmp_path.rglob("*")] == ["p", "a"]


def test_a_replacement_that_was_killed_between_its_renames_is_undone(tmp_path):
    (tmp_path / ".former-p").mkdir()
    (tmp_path / ".writing-x").mkdir()
    recover_folder(tmp_path / "p")
    assert [path.name for path in tmp_path.iterdir()] == ["p"]


def test_figures_of_a_batch():
    masked = Rollout(task_id="t", ending=Ending.INFRA, mask=True)
    rollouts = [rollout_with("t", 0.5), rollout_with("t", 3.0), rollout_with("t", None), masked]
    figures = figures_of(rollouts, [0.5, 1.0, 0.0, None], ["a", "b", "b", "b"], 2)
    assert figures.valid == 2 / 3
    assert figures.gap_if_valid == 0.75
    assert figures.flat_groups == 0.5
    assert figures.distinct == 0.75
    assert gap_of(rollout_with("t", -7.0)) == -1.0
    assert gap_of(masked) == 0.0


def test_nothing_is_validated_without_validation_tasks():
    assert validate(None, [], ToyExecutor([]), samples=2, temperature=1.0, seed=0) is None


def test_masked_rollouts_get_no_reward():
    class Broken(ToyExecutor):
        def rollouts(self, pairs):
            super().rollouts(pairs)
            return [Rollout(task_id=task_id, ending=Ending.INFRA, mask=True) for task_id, _ in pairs]

    reward = RecordedReward(Broken(toy_tasks()), get_reward("gap"), 2)
    assert reward([""] * 2, ["x", [{"role": "assistant", "content": None}]], ["t0-0", "t0-0"]) == [None, None]
    assert reward.figures.valid == 0.0


def test_the_best_scripts_of_a_task_are_kept_once():
    scored = [(("a",), 0.5), (("b",), 0.9), (("b",), 0.9), (("c",), None), (("d",), 0.0), (("e",), 0.7), (("f",), 0.6)]
    assert keep_best(scored, share=0.3, threshold=0.05) == [("b",), ("e",)]
    assert keep_best(scored, share=0.01, threshold=0.05) == [("b",)]
    assert keep_best(scored, share=1.0, threshold=0.95) == []


def test_progress_validates_keeps_the_best_and_goes_on_after_a_checkpoint():
    tasks, saved, found = toy_tasks(), [], iter([(0.1, 0.1), (0.5, 0.3), (0.2, 0.2), (0.9, 0.9)])
    executor = ToyExecutor(tasks)
    reward = RecordedReward(executor, get_reward("gap"), 1)

    def make():
        settings = GrpoSettings(updates=5, validate_every=2, iterations=2)
        return GrpoProgress(
            settings,
            executor,
            reward,
            validate=lambda: next(found),
            save_best=lambda: saved.append(len(saved)),
            listen=lambda row: None,
            rows=[],
        )

    progress = make()
    progress.begin()
    for step in (1, 2, 3):
        reward([""], ["".join(TEXTS.values())], ["t0-0"])
        progress.log(step, {"reward": 0.3} if step % 2 else {"loss": 1.0})
    assert [row.update for row in progress.rows] == [0, 1, 2]
    assert (progress.best_update, progress.best, len(saved)) == (2, 0.4, 2)
    known = progress.progress
    resumed = make()
    executor.requested = 0
    resumed.resume(known)
    reward([""], ["x"], ["t0-0"])
    resumed.log(7, {"reward": 0.0})
    assert resumed.rows[-1].requested == known.requested + 1
    assert len(saved) == 2
    resumed.log(9, {"reward": 0.0})
    assert (resumed.best_update, len(saved)) == (5, 3)


def test_a_request_takes_every_reward_preset():
    assert get_args(RewardName) == tuple(PRESETS)


@pytest.mark.parametrize(
    "wrong",
    [
        {"reward": "gapp"},
        {"method": "rejection", "model": "m"},
        {"start": "p", "model": "m"},
        {"samples": 1},
        {"release": ""},
    ],
)
def test_a_wrong_request_is_refused(wrong):
    with pytest.raises(ValidationError):
        TrainRequest.model_validate({"release": "r"} | wrong)


def test_a_request_has_the_settings_of_its_method():
    request = TrainRequest(release="r", updates=3, samples=4, learning_rate=0.25)
    assert (request.grpo.updates, request.grpo.samples, request.grpo.learning_rate) == (3, 4, 0.25)
    assert request.rejection.learning_rate == 0.25
    assert TrainRequest(release="r").grpo == GrpoSettings()


def test_heads_need_an_even_width():
    with pytest.raises(ValidationError):
        PolicySize(hidden=20, heads=4)


def _settings(tmp_path):
    request, settings = TrainRequest(release="r"), TrainSettings(to=tmp_path / "to")
    settings.to.mkdir()
    (settings.to / REQUEST_FILE).write_text(request.model_dump_json())
    return request, settings


def test_a_finished_training_is_found(tmp_path):
    request, settings = _settings(tmp_path)
    assert find_finished(request, settings) is None
    trained = Trained(folder=settings.to, rows=tuple(ROWS), message="Trained.")
    (settings.to / RESULT_FILE).write_text(trained.model_dump_json())
    assert find_finished(request, settings) == trained.model_copy(update={"is_new": False})


def test_the_folder_of_another_request_is_refused(tmp_path):
    request, settings = _settings(tmp_path)
    other = TrainRequest(release="r", seed=3, updates=5)
    with pytest.raises(InputError) as caught:
        find_finished(other, settings)
    assert [problem.where for problem in caught.value.problems] == ["--seed", "--updates"]
    assert json.loads((settings.to / REQUEST_FILE).read_text())["seed"] == request.seed


def test_checkpoints_of_a_policy_with_other_words_are_refused(tmp_path):
    class Words:
        def __init__(self, words):
            self.tokenizer, self.words = self, words

        def get_vocab(self):
            return self.words

    training._require_words(Words({"a": 0, "b": 1}), tmp_path)
    training._require_words(Words({"b": 1, "a": 0}), tmp_path)
    with pytest.raises(InputError, match="other facts or fragments"):
        training._require_words(Words({"a": 1, "b": 0}), tmp_path)


def test_a_folder_with_other_files_is_refused(tmp_path):
    (tmp_path / "mine.txt").write_text("")
    with pytest.raises(InputError, match="other files"):
        find_finished(TrainRequest(release="r"), TrainSettings(to=tmp_path))
