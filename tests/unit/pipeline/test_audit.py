"""An audit reads the store again, runs a sample, and tells drift from damage."""

from types import SimpleNamespace

import pytest

from sandmill.errors import IntegrityError
from sandmill.models.request import AuditRequest
from sandmill.store.files import Store
from sandmill.store.release import load
from sandmill.verify import audit as auditing
from sandmill.verify import rerun as rerunning
from sandmill.verify.audit import audit_release, require_whole
from sandmill.verify.rerun import TaskRerun
from tests.publishing import publish_numbers


@pytest.fixture
def store(tmp_path) -> Store:
    store = Store(str(tmp_path / "micro"))
    publish_numbers(store, range(3))
    return store


def test_a_whole_version_holds_and_drift_is_named(store, monkeypatch):
    made_with = SimpleNamespace(libraries={"numpy": ("1.0",), "polars": ("2.1.0",)})
    monkeypatch.setattr(auditing, "read_overview", lambda _: made_with)
    monkeypatch.setattr(auditing, "numeric_versions", lambda: {"numpy": "2.0", "polars": "2.1.0"})
    found = audit_release(AuditRequest(release=store.root))
    require_whole(found)
    assert found.problems == ()
    assert found.drift[0] == "numpy: made with 1.0; here is 2.0"
    assert found.drift[1].startswith("agent environment: verified with pins eeeeeeeeeeee; here are ")
    assert "all holds; drift: numpy" in found.message


def test_a_damaged_version_fails_with_every_problem_and_nothing_runs(store, monkeypatch):
    monkeypatch.setattr(rerunning, "rerun_task", lambda *_, **__: pytest.fail("ran a damaged version"))
    for part in load(store.root).manifest.parts[:2]:
        store.remove(f"{load(store.root).version}/{part.path}")
    found = audit_release(AuditRequest(release=store.root, rerun=2))
    assert found.rerun == 0
    assert len([problem for problem in found.problems if ": missing. " in problem]) == 2
    with pytest.raises(IntegrityError, match="missing"):
        require_whole(found)


def test_a_sample_runs_again_and_another_week_has_another(store, monkeypatch):
    ran: list[str] = []

    def rerun_task(package, record, secret, *, unconfined, installed):
        ran.append(package.task_id)
        return TaskRerun(task_id=package.task_id, problems=("it differs",))

    monkeypatch.setattr(rerunning, "rerun_task", rerun_task)
    samples = set()
    for week in range(8):
        monkeypatch.setattr(auditing, "time", SimpleNamespace(time=lambda week=week: week * 7 * 86_400 + 1.0))
        found = audit_release(AuditRequest(release=store.root, rerun=1))
        assert found.rerun == 1
        assert found.problems == (f"task {ran[-1]}: it differs",)
        samples.add(ran[-1])
    assert len(samples) > 1


def test_what_other_code_made_and_this_finds_otherwise_is_drift(store, monkeypatch):
    def rerun_task(package, record, secret, *, unconfined, installed):
        made_by = record.lineage.code_version
        return TaskRerun(task_id=record.task_id, made_by=made_by, installed=installed, differences=("no score",))

    monkeypatch.setattr(rerunning, "rerun_task", rerun_task)
    found = audit_release(AuditRequest(release=store.root, rerun=1))
    assert found.problems == ()
    assert "made by code 0.1.0, this is " in found.drift[-1]
    assert found.drift[-1].endswith(": compared and differs: no score")
