"""An audit reads the store again, runs a sample, and tells drift from damage."""

from types import SimpleNamespace

import pytest
from pydantic import ValidationError

from sandmill.errors import IntegrityError, RequestError
from sandmill.models.request import AuditRequest, BuildRequest, RunSettings
from sandmill.pipeline import preflight
from sandmill.pipeline.preflight import check_inputs
from sandmill.sandbox.agent_env import AgentEnv
from sandmill.store.files import Store
from sandmill.store.release import load
from sandmill.verify import audit as auditing
from sandmill.verify import rerun as rerunning
from sandmill.verify.audit import audit_release, require_whole
from sandmill.verify.rerun import TaskRerun
from tests.publishing import published

REQUEST = BuildRequest(name="micro")


@pytest.mark.parametrize("root", ["s3://", "s3:///", "ftp://host/x", "", "  "])
def test_a_root_that_names_no_place_is_refused(root):
    with pytest.raises(ValidationError, match="s3://bucket/prefix"):
        RunSettings(root=root)


def test_a_sound_request_passes_and_leaves_nothing(tmp_path):
    check_inputs(REQUEST, RunSettings(root=str(tmp_path / "deep" / "root")))
    assert list(tmp_path.iterdir()) == []


def test_all_inputs_are_looked_at_before_anything_is_said(tmp_path):
    short = tmp_path / "secret.key"
    short.write_text("x")
    request = BuildRequest(name="micro", seeds=(str(tmp_path / "none"),))
    with pytest.raises(RequestError) as caught:
        check_inputs(request, RunSettings(root="/proc/nowhere", secret_file=short, sign_key=short))
    text = str(caught.value)
    assert caught.value.exit_code == 2
    assert len(caught.value.problems) == 4
    assert "none" in text
    assert "secret.key" in text
    assert "/proc" in text
    assert "an Ed25519 private key" in text


@pytest.mark.parametrize("share", [float("nan"), float("inf"), -0.5])
def test_shares_of_a_mix_are_finite_and_not_negative(share):
    with pytest.raises(ValidationError, match="sum to 1"):
        BuildRequest(name="micro", mix={"easy": share, "hard": 1.0})


def test_a_missing_interpreter_for_reference_solutions_is_told_before_any_work(tmp_path, monkeypatch):
    monkeypatch.setenv("SANDMILL_AGENT_ENV", str(tmp_path / "none"))
    with pytest.raises(RequestError, match="sandmill agent-env create"):
        check_inputs(REQUEST, RunSettings(root=str(tmp_path)))


def test_an_interpreter_that_computes_otherwise_is_told_before_any_work(tmp_path, monkeypatch):
    env = AgentEnv(tmp_path, tmp_path, "3.11.7", {"numpy": "1.0.0", "xgboost": "0.1"})
    monkeypatch.setattr(preflight, "require_agent_env", lambda: env)
    with pytest.raises(RequestError) as caught:
        check_inputs(REQUEST, RunSettings(root=str(tmp_path)))
    assert len(caught.value.problems) == 1
    assert "1.0.0, as in the agent environment" in str(caught.value)
    assert "constraints.txt" in str(caught.value)


@pytest.fixture
def store(tmp_path) -> Store:
    return published(tmp_path / "micro", range(3)).store


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
