"""Sets of tasks of releases, and replicates of their designs."""

import pytest

from sandmill.errors import InputError, RequestError
from sandmill.models.base import Part
from sandmill.store.files import Store
from sandmill.store.secret import release_secret
from sandmill_learn.task_sets import from_release
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
