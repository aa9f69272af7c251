"""What an episode without coroutines says of a rollout that must be left out."""

import pytest

from sandmill.models.reports import Outcome
from sandmill.models.rollout import Act
from sandmill.models.structure import MetricName, TargetKind
from sandmill.play.env import MLEnv
from sandmill.play.release import open_task
from sandmill.trainers.episode import SyncEpisode
from tests.task_folders import write_task
from tests.unit.episodes.runner import PreparedRunner, result_of


@pytest.fixture
def begin(tmp_path):
    def begin(*results):
        task = open_task(write_task(tmp_path, TargetKind.BINARY, MetricName.LOG_LOSS))
        episode = SyncEpisode(MLEnv(task, sandbox=PreparedRunner(results)))
        episode.begin()
        return episode

    return begin


def test_a_rollout_that_counts_names_no_failure(begin):
    episode = begin(result_of(Outcome.RUNTIME_ERROR))
    episode.act(Act.run("x"))
    episode.end()
    assert episode.failure == {"mask_sample": False, "failure_kind": None, "failure_reason": None}


def test_a_fault_of_the_sandbox_is_named_with_its_reason(begin):
    episode = begin(*[result_of(Outcome.INFRA_ERROR, detail="no namespaces")] * 3)
    episode.act(Act.run("x"))
    assert episode.failure == {
        "mask_sample": True,
        "failure_kind": "provider_unavailable",
        "failure_reason": "no namespaces",
    }


def test_a_fault_of_our_own_code_is_named_without_details(begin):
    episode = begin(ValueError("a secret"))
    episode.act(Act.run("x"))
    assert (episode.failure["mask_sample"], episode.failure["failure_kind"]) == (True, "environment_server_failed")
    assert "secret" not in episode.failure["failure_reason"]
