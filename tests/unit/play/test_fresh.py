"""Fresh tasks: the design of a published task with new rows, ids and answers."""

import asyncio
import gc
import json
import shutil
import tempfile

import numpy as np
import pytest

import sandmill
from sandmill.draw import render
from sandmill.errors import InputError
from sandmill.models.base import Part
from sandmill.models.reports import Outcome
from sandmill.models.rollout import Act
from sandmill.models.structure import MetricName, TargetKind
from sandmill.play.fresh import measure_ends, move_calibration
from sandmill.play.task import EpisodeTask
from sandmill.scoring.gap import gap_closed
from sandmill.serve.tasks import ServedTasks
from sandmill.store.files import AccessDenied, FileMissing
from sandmill.trainers.trl import train_rows
from tests.designs import SECRET, make_spec
from tests.factories import CALIBRATION, make_task
from tests.publishing import published
from tests.unit.play.runner import PreparedRunner, result_of


@pytest.fixture
def release(tmp_path, monkeypatch):
    monkeypatch.setenv("SANDMILL_CACHE", str(tmp_path / "cache"))
    return sandmill.load(published(tmp_path / "micro", {0: "train", 1: "validation"}, {2: "train"}).ref)


@pytest.fixture
def temporary(tmp_path, monkeypatch):
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def files_of(task: EpisodeTask) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in task.public.iterdir()}


def best_of(task: EpisodeTask) -> bytes:
    """The truth of all test rows as a submission."""
    facts, answers = task.private.task.facts, task.private.answers
    rows = "\n".join(f"{name},{truth}" for name, truth in zip(answers.ids, answers.truth, strict=True))
    return f"{facts.id_column},{facts.target_column}\n{rows}\n".encode()


def test_the_ends_of_a_fresh_task_are_those_of_its_own_rows():
    spec = make_spec(TargetKind.REGRESSION, MetricName.RMSE)
    sizes = spec.sizes.model_copy(update={"feedback": 100, "final": 200})
    rendered = render(spec.model_copy(update={"sizes": sizes}), SECRET, 3)
    answers, (final, feedback) = rendered.answers, measure_ends(rendered)
    assert final != feedback
    for part, (trivial, oracle) in ((Part.FINAL, final), (Part.FEEDBACK, feedback)):
        rows = answers.part(part)
        truth = answers.truth[rows]
        assert oracle == pytest.approx(np.sqrt(np.mean((truth - rendered.oracle[rows]) ** 2)), abs=1e-5)
        # The mean of the training rows is near that of the test rows.
        assert trivial == pytest.approx(truth.std(), rel=0.1)
        assert oracle < trivial


def test_thresholds_of_a_fresh_task_keep_their_share_of_the_gap():
    moved = move_calibration(CALIBRATION, (0.2, 0.7), (0.1, 0.6))
    assert (moved.trivial, moved.oracle) == (0.2, 0.7)
    for name in ("gold", "silver", "bronze", "median"):
        before = gap_closed(getattr(CALIBRATION.thresholds, name), CALIBRATION.trivial, CALIBRATION.oracle)
        assert gap_closed(getattr(moved.thresholds, name), 0.2, 0.7) == pytest.approx(before, abs=1e-4)
    assert [entry.solver for entry in moved.board] == [entry.solver for entry in CALIBRATION.board]
    assert moved.board[0].final != CALIBRATION.board[0].final
    assert move_calibration(CALIBRATION, None, None) == CALIBRATION.model_copy(update={"scripts": ()})


def test_equal_groups_are_equal_tasks_and_others_share_no_row_with_the_published_one(task):
    published = sandmill.open_task(task)
    first, again, other = published.fresh(3), sandmill.open_task(task).fresh(3), published.fresh(4)
    assert first.id == f"{published.id}-fresh-3" != other.id
    assert files_of(first) == files_of(again)
    assert first.private.answers.ids == again.private.answers.ids
    rows = [set(files_of(one)["train.csv"].splitlines()[1:]) for one in (published, first, other)]
    assert all(not left & right for left, right in ((rows[0], rows[1]), (rows[0], rows[2]), (rows[1], rows[2])))
    assert not {*published.private.answers.ids} & {*first.private.answers.ids}


def test_a_fresh_task_is_graded_on_its_own_rows(task):
    published = sandmill.open_task(task)
    fresh = published.fresh(1)
    report = fresh.grade(best_of(fresh))
    assert (report.outcome, report.medal) == (Outcome.OK, "gold")
    assert fresh.grade((fresh.public / "sample_submission.csv").read_bytes()).medal is None
    # Answers of the published draw name other ids.
    assert fresh.grade(best_of(published)).outcome is Outcome.INVALID_SUBMISSION
    ends = fresh.private.task.calibration
    assert (ends.trivial, ends.oracle) != (published.private.task.calibration.trivial, CALIBRATION.oracle)


@pytest.mark.slow
def test_nothing_is_drawn_before_use_and_no_files_stay(task, temporary):
    for group in range(1000):
        sandmill.open_task(task).fresh(group)
    kept = sandmill.open_task(task).fresh(0)
    assert not [*temporary.iterdir()]
    assert files_of(kept)
    assert len([*temporary.iterdir()]) == 1
    del kept
    gc.collect()
    assert not [*temporary.iterdir()]


@pytest.mark.slow
def test_a_group_of_the_environment_plays_one_draw_and_the_next_another(task):
    seen = []

    def run(code, public):
        seen.append((public / "train.csv").read_bytes())
        return result_of(submission=(public / "sample_submission.csv").read_bytes())

    async def play(*groups):
        ids = []
        env = sandmill.MLEnv(sandmill.open_task(task, sandbox=PreparedRunner(run)), reward="gap")
        for group in groups:
            await env.reset(group)
            await env.step(Act.run("print(1)"))
            _, _, _, _, info = await env.step(Act.finish())
            ids.append(info["rollout"].task_id)
        return ids

    name = sandmill.open_task(task).id
    assert asyncio.run(play(5, 5, 6, None)) == [f"{name}-fresh-5", f"{name}-fresh-5", f"{name}-fresh-6", name]
    assert seen[0] == seen[1]
    assert len({*seen}) == 3


def test_a_release_yields_fresh_tasks_of_the_training_split_without_end(release):
    def first(number, **settings):
        tasks = release.endless(**settings)
        return [next(tasks).id for _ in range(number)]

    training = {make_task(number).record.task_id for number in (0, 2)}
    names = first(6)
    assert {name.rpartition("-fresh-")[0] for name in names} == training
    assert len({*names}) == 6
    assert names == first(6) != first(6, seed=1)
    assert files_of(release.task(names[0])) == files_of(next(release.endless()))


def test_held_out_splits_are_drawn_from_only_on_request(release):
    with pytest.raises(InputError, match=r"split: saw validation; expected train.*allow_held_out=True"):
        release.endless(split="validation")
    task = next(release.endless(split="validation", allow_held_out=True))
    assert task.id.startswith(make_task(1).record.task_id)


def test_without_the_private_half_there_is_one_clear_error(release, task, tmp_path):
    shutil.copytree(task / "public", tmp_path / "pulled" / "public")
    with pytest.raises(InputError, match=r"private/task\.json"):
        _ = sandmill.open_task(tmp_path / "pulled").fresh(0).public
    shutil.rmtree(tmp_path / "micro" / release.version / "private")
    with pytest.raises((AccessDenied, FileMissing), match="private"):
        sandmill.load(release.ref).endless()


def test_a_group_is_a_whole_number_from_0(task):
    with pytest.raises(InputError, match=r"group: saw -1; expected a whole number from 0"):
        sandmill.open_task(task).fresh(-1)


def test_rows_for_a_trainer_name_fresh_draws(release):
    rows = train_rows(release, split="train", fresh=2)
    assert len({row["task_id"] for row in rows}) == 4
    assert all("-fresh-" in row["task_id"] for row in rows)
    assert len({json.dumps(row["prompt"]) for row in rows}) == 4


@pytest.mark.slow
def test_a_server_opens_fresh_tasks_by_name(task):
    served = ServedTasks([str(task)])
    name = f"{task.name}-fresh-8"
    assert served.problem(name) is None
    assert served.problem("another-fresh-8") is not None
    assert files_of(served.open(name)) == files_of(sandmill.open_task(task).fresh(8))
    assert served.open(name) is served.open(name)
    assert served.open(task.name).id == task.name


def test_credit_for_stated_facts_is_measured_on_fresh_rows_too():
    release = sandmill.load("samples", sandbox=object())
    task = release.task(release.select(structure="tabular/regression/random")[0])
    credits = task.fresh(1).explain_submission(None)
    assert credits == task.explain_submission(None) != ()
