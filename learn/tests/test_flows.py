"""Flows: progress that ends honestly."""

import pytest
from prefect.exceptions import CancelledRun, TerminationSignal

from sandmill_learn.flows import runs, train_policy
from sandmill_learn.records import CurveRow
from sandmill_learn.training import Trained, Training, TrainRequest, TrainSettings


@pytest.fixture
def updates(monkeypatch):
    """The updates of a progress artifact, as (percent, description)."""
    made = []
    monkeypatch.setattr(runs, "create_progress_artifact", lambda share, **_: "id")
    monkeypatch.setattr(
        runs,
        "update_progress_artifact",
        lambda artifact, progress, description=None: made.append((progress, description)),
    )
    return made


def fail_at(percent, error):
    with runs.progress_artifact("grpo-progress", "releases/micro") as show:
        show(percent)
        raise error


def test_progress_ends_at_a_hundred_also_if_the_training_stopped_early(updates):
    with runs.progress_artifact("grpo-progress", "releases/micro") as show:
        show(40.0)
    assert updates == [(100.0, None)]


@pytest.mark.parametrize(
    ("error", "ending"),
    [
        (ValueError("broken"), "crashed, ValueError"),
        (CancelledRun("stopped"), "cancelled"),
        (TerminationSignal(15), "cancelled"),
        (KeyboardInterrupt(), "cancelled"),
    ],
)
def test_progress_of_work_that_failed_keeps_its_share_and_names_the_ending(updates, error, ending):
    with pytest.raises(type(error)):
        fail_at(40.0, error)
    assert updates == [(40.0, f"releases/micro: {ending}")]


def test_a_server_that_ended_first_does_not_hide_the_error(updates, monkeypatch):
    def refuse(*_, **__):
        raise ConnectionError("no server")

    monkeypatch.setattr(runs, "update_progress_artifact", refuse)
    with pytest.raises(ValueError, match="broken"):
        fail_at(0.0, ValueError("broken"))


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_run_shows_its_progress_and_its_curve(monkeypatch, tmp_path):
    from prefect.client.orchestration import get_client
    from prefect.testing.utilities import prefect_test_harness

    def train(training, listen, explain):
        listen(CurveRow(stage="grpo", update=1))
        return Trained(folder=training.settings.to, rows=(CurveRow(stage="grpo", update=1),), message="Trained.")

    def open_nothing(request, settings):
        return Training(request, settings, (), (), None)

    monkeypatch.setattr(train_policy, "open_training", open_nothing)
    monkeypatch.setattr(train_policy, "run_training", train)
    settings = TrainSettings(to=tmp_path / "policy")
    with prefect_test_harness(server_startup_timeout=240), get_client(sync_client=True) as client:
        state = train_policy.train_policy(TrainRequest(release="releases/micro"), settings, return_state=True)
        assert state.is_completed(), state
        artifacts = {artifact.key: artifact for artifact in client.read_artifacts()}
    assert artifacts["grpo-progress"].data == 100.0
    assert {"policy-curve", "policy-training"} <= set(artifacts)
