"""Rollouts are durable one by one, end up in Parquet, and are rebuilt exactly."""

import re
from contextlib import suppress

import duckdb
import polars as pl
import pytest

from sandmill.errors import InputError, StoreError
from sandmill.models.reports import Medal
from sandmill.models.rollout import FeedbackAnswer, RolloutFacts, Step
from sandmill.store.files import Store
from sandmill.store.rollouts import FACTS, FEEDBACK, ROLLOUTS, STEP, RolloutFolder, from_row, to_row
from tests.releases import REPOSITORY
from tests.rollout_records import SETTINGS, make_masked, make_record


@pytest.fixture(params=["local", pytest.param("s3", marks=pytest.mark.slow)])
def folder(request, tmp_path) -> RolloutFolder:
    if request.param == "local":
        return RolloutFolder(Store(str(tmp_path / "rollouts")))
    return RolloutFolder(Store(f"{request.getfixturevalue('s3_root')}/rollouts/{tmp_path.name}"))


def fill(folder: RolloutFolder, *records) -> RolloutFolder:
    folder.begin(SETTINGS)
    for record in records:
        folder.save(record)
    return RolloutFolder(folder.store)


def test_the_table_has_every_field_of_a_step():
    assert STEP.names == list(Step.model_fields)
    assert FEEDBACK.names == list(FeedbackAnswer.model_fields)
    assert {*FACTS, "is_valid", "credits"} - {"valid"} == set(RolloutFacts.__slots__)


def test_every_column_that_the_documentation_names_is_in_the_table():
    text = (REPOSITORY / "docs" / "rollouts.md").read_text()
    columns = text.split("A row has flat columns (")[1].split(")")[0]
    named = re.findall(r"`(\w+)`", columns)
    assert len(named) > 15
    assert set(named) <= set(ROLLOUTS.names)


def test_a_rollout_is_rebuilt_exactly_from_json_and_from_parquet(folder):
    records = [make_record("sm1", 0), make_record("sm1", 1, steps=()), make_masked("sm2", error="no answer")]
    opened = fill(folder, *records)
    assert list(opened.records()) == records
    facts = [record.facts for record in records]
    assert list(opened.facts()) == facts
    opened.compact()
    assert [path for path in opened.store.list() if "episodes" in path] == []
    assert list(opened.records()) == records
    assert list(opened.facts()) == facts
    assert [from_row(to_row(record)) for record in records] == records


def test_other_tools_read_the_parquet(tmp_path):
    fill(RolloutFolder(Store(str(tmp_path))), make_record(medal=Medal.GOLD), make_masked("sm2")).compact()
    frame = pl.read_parquet(tmp_path / "rollouts-*.parquet")
    assert frame.select("task_id", "reward", "mask", "medal", "failure", "valid").rows() == [
        ("sm1", 0.3, False, "gold", "", True),
        ("sm2", None, True, None, "infra_error", False),
    ]
    steps = frame.select("steps").explode("steps").unnest("steps")
    assert steps["action"].to_list()[:4] == ["run", "submit", "run", "finish"]
    found = duckdb.sql(
        f"select steps[1].code, reward_parts[1].value from '{tmp_path}/rollouts-*.parquet' where not mask"
    )
    assert found.fetchall()[0] == (make_record().rollout.steps[0].code, 0.3)


def test_a_second_compaction_adds_a_file_and_replaces_masked_rollouts(folder):
    opened = fill(folder, make_record("sm1", 0), make_masked("sm1", 1), make_masked("sm2", 0))
    opened.compact()
    assert opened.finished() == {("sm1", 0): False, ("sm1", 1): True, ("sm2", 0): True}
    again, other = make_record("sm1", 1, reward=0.9), make_record("sm3", 0)
    opened.save(again)
    opened.save(other)
    assert opened.finished() == {("sm1", 0): False, ("sm1", 1): False, ("sm2", 0): True, ("sm3", 0): False}
    opened.compact()
    stored = list(opened.records())
    assert len(stored) == 4
    assert again in stored
    assert len([path for path in opened.store.list() if path.endswith(".parquet")]) == 2
    opened.compact()
    assert list(opened.records()) == stored


@pytest.mark.parametrize("fails_at", range(8))
def test_a_kill_during_compaction_loses_nothing(tmp_path, monkeypatch, fails_at):
    opened = fill(RolloutFolder(Store(str(tmp_path))), make_record("sm1", 0), make_masked("sm1", 1))
    opened.compact()
    wanted = [make_record("sm1", 0), make_record("sm1", 1), *(make_record("sm2", sample) for sample in range(3))]
    for record in wanted[1:]:
        opened.save(record)
    calls = 0

    def killed(original):
        def call(self, *arguments, **options):
            nonlocal calls
            calls += 1
            if calls > fails_at:
                raise KeyboardInterrupt
            return original(self, *arguments, **options)

        return call

    with monkeypatch.context() as patch:
        for name in ("write", "remove"):
            patch.setattr(Store, name, killed(getattr(Store, name)))
        with suppress(KeyboardInterrupt):
            opened.compact()
    for _ in range(2):
        assert sorted(opened.records(), key=lambda one: (one.rollout.task_id, one.rollout.sample)) == wanted
        opened.compact()
    assert not (tmp_path / "episodes").exists()


def test_other_settings_are_refused_with_all_differences(folder):
    opened = fill(folder)
    opened.check(SETTINGS)
    limits = SETTINGS.limits.model_copy(update={"max_steps": 3})
    with pytest.raises(InputError) as refused:
        opened.check(SETTINGS.model_copy(update={"model": "openai/two", "limits": limits}))
    assert [problem.where for problem in refused.value.problems] == ["model", "max steps"]


def test_a_folder_with_other_files_is_refused(folder):
    folder.store.write("thesis.txt", b"mine")
    with pytest.raises(InputError, match="new or empty folder"):
        folder.check(SETTINGS)
    with pytest.raises(InputError, match="sandmill rollout wrote"):
        folder.require()


@pytest.mark.parametrize("content", [b"{", b"[]", b'{"format": 2}', b'{"format": 1, "settings": {"model": 3}}'])
def test_damaged_settings_are_an_error_that_names_the_file(folder, content):
    folder.store.write("rollouts.json", content)
    with pytest.raises(StoreError, match=r"rollouts\.json"):
        folder.check(SETTINGS)


def test_a_damaged_rollout_is_an_error_that_names_the_file(tmp_path):
    opened = fill(RolloutFolder(Store(str(tmp_path))), make_record())
    opened.store.write("episodes/sm1/1.json", b'{"rollout": 1}')
    with pytest.raises(StoreError, match=r"sm1/1\.json"):
        list(opened.facts())
    opened.store.remove("episodes/sm1/1.json")
    opened.compact()
    (tmp_path / "rollouts-00000.parquet").write_bytes(b"PAR1 nothing")
    with pytest.raises(StoreError, match="rollouts-00000"):
        list(opened.facts())


def test_dollars_of_all_runs_are_added(folder):
    folder.note_spent("first", 0.5)
    folder.note_spent("first", 0.75)
    folder.note_spent("second", 1.0)
    folder.note_spent("third", 0.0)
    assert folder.spent() == 1.75
    assert len(folder.store.list("spent")) == 2


def test_only_the_owner_may_read_rollouts_since_grades_name_thresholds(tmp_path):
    opened = fill(RolloutFolder(Store(str(tmp_path))), make_record())
    assert (tmp_path / "episodes/sm1/0.json").stat().st_mode & 0o077 == 0
    opened.compact()
    assert (tmp_path / "rollouts-00000.parquet").stat().st_mode & 0o077 == 0
