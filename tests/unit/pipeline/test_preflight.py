import pytest
from pydantic import ValidationError

from sandmill.errors import RequestError
from sandmill.models.request import BuildRequest, RunSettings
from sandmill.pipeline import preflight
from sandmill.pipeline.preflight import check_inputs
from sandmill.sandbox.agent_env import AgentEnv

REQUEST = BuildRequest(name="micro")


@pytest.mark.parametrize("root", ["s3://", "s3:///", "ftp://host/x", "", "  "])
def test_a_root_that_names_no_place_is_refused(root):
    with pytest.raises(ValidationError, match="s3://bucket/prefix"):
        RunSettings(root=root)


def test_a_sound_request_passes_and_leaves_nothing(tmp_path):
    check_inputs(REQUEST, RunSettings(root=str(tmp_path / "deep" / "root")))
    assert list(tmp_path.iterdir()) == []


def test_a_root_that_cannot_be_written_is_told_before_any_work():
    with pytest.raises(RequestError, match="--root"):
        check_inputs(REQUEST, RunSettings(root="/proc/nowhere"))


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
