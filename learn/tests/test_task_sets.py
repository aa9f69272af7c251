"""Sets of tasks of releases, and replicates of their designs."""

import numpy as np
import pytest

from sandmill.draw import render
from sandmill.errors import InputError, RequestError
from sandmill.models.base import Part
from sandmill.models.structure import MetricName, TargetKind
from sandmill.scoring.gap import gap_closed
from sandmill.store.files import Store
from sandmill.store.secret import release_secret
from sandmill_learn.replicates import measure_ends, move_calibration
from sandmill_learn.task_sets import from_release
from tests.designs import SECRET, make_spec
from tests.factories import CALIBRATION
from tests.unit.export.tiny import publish_tiny


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("release")
    publish_tiny(folder)
    release_secret(Store(str(folder / "tiny")))
    return folder


@pytest.fixture(scope="module")
def tasks(folder):
    return from_release(folder / "tiny", cache=folder / "cache", replicates=1, test_rows=150)


def test_published_tasks_can_be_left_out(folder, tasks):
    found = from_release(folder / "tiny", cache=folder / "cache", replicates=1, test_rows=150, has_originals=False)
    assert found.ids == tasks.ids[3:]
    assert set(found.families) == set(tasks.families)


def test_splits_are_selected_and_an_unknown_one_is_an_error(folder):
    cache = folder / "cache"
    assert len(from_release(folder / "tiny", split="train", cache=cache)) == 2
    assert len(from_release(folder / "tiny", split=("train", "validation"), cache=cache)) == 3
    with pytest.raises(RequestError, match="split"):
        from_release(folder / "tiny", split="tests", cache=cache)


def test_replicates_have_rows_of_their_own_and_the_family_of_their_design(tasks):
    assert len(tasks) == 6
    assert {len(ids) for ids in tasks.families.values()} == {2}
    other, one = (tasks[task_id] for task_id in tasks.families[tasks.tasks()[0].family])
    files = [{path.name: path.read_bytes() for path in task.task.public.iterdir()} for task in (one, other)]
    assert files[0]["train.csv"] != files[1]["train.csv"]
    assert one.digest != other.digest
    private = one.task.private
    assert private.answers.part(Part.FINAL).sum() == 150
    assert private.answers.part(Part.FEEDBACK).sum() == 100
    # Answers are in no folder that scripts read.
    assert {path.name for path in one.task.public.iterdir()} == {
        "train.csv",
        "test.csv",
        "sample_submission.csv",
        "description.md",
    }


def test_the_ends_of_a_replicate_are_those_of_its_own_rows():
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


def test_thresholds_of_a_replicate_keep_their_share_of_the_gap():
    moved = move_calibration(CALIBRATION, (0.2, 0.7), (0.1, 0.6))
    assert (moved.trivial, moved.oracle) == (0.2, 0.7)
    for name in ("gold", "silver", "bronze", "median"):
        before = gap_closed(getattr(CALIBRATION.thresholds, name), CALIBRATION.trivial, CALIBRATION.oracle)
        assert gap_closed(getattr(moved.thresholds, name), 0.2, 0.7) == pytest.approx(before, abs=1e-4)
    assert [entry.solver for entry in moved.board] == [entry.solver for entry in CALIBRATION.board]
    assert moved.board[0].final != CALIBRATION.board[0].final
    assert move_calibration(CALIBRATION, None, None) == CALIBRATION.model_copy(update={"scripts": ()})


def test_a_second_call_renders_nothing_and_gives_the_same(folder, tasks, monkeypatch):
    def fail(*arguments):
        raise AssertionError("rendered again")

    monkeypatch.setattr("sandmill_learn.replicates.render", fail)
    monkeypatch.setattr("sandmill_learn.task_sets.facts_of", fail)
    again = from_release(folder / "tiny", cache=folder / "cache", replicates=1, test_rows=150)
    assert [(task.id, task.facts, task.digest) for task in again.tasks()] == [
        (task.id, task.facts, task.digest) for task in tasks.tasks()
    ]


def test_replicates_without_the_secret_and_wrong_numbers_are_errors(folder, tmp_path):
    publish_tiny(tmp_path)
    with pytest.raises(InputError, match="without its secret"):
        from_release(tmp_path / "tiny", cache=tmp_path, replicates=1)
    assert not (tmp_path / "tiny" / "secret").exists()
    with pytest.raises(InputError, match=r"replicates: saw -1(.|\n)*test_rows: saw 5"):
        from_release(folder / "tiny", cache=tmp_path, replicates=-1, test_rows=5)


def test_a_set_selects_by_every_condition_and_refuses_equal_ids(tasks):
    first = tasks.tasks()[0]
    assert tasks.select(ids=[first.id]).ids == (first.id,)
    assert len(tasks.select(families=[first.family])) == 2
    assert len(tasks.select(sources=["another"])) == 0
    assert len(tasks.select(words=["target=binary"])) == 6
    assert len(tasks.select(words=["target=binary", "target=count"])) == 0
    assert len(tasks.select(where=lambda task: task.id != first.id)) == 5
    halves = tasks.select(ids=tasks.ids[:4]), tasks.select(ids=tasks.ids[4:])
    assert (halves[0] + halves[1]).ids == tasks.ids
    with pytest.raises(InputError, match="twice"):
        _ = tasks + halves[0]
    with pytest.raises(InputError, match="expected a task of this set"):
        tasks.task("unknown")
    assert "unknown" not in tasks
