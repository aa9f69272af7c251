"""Episodes of trainers: the script of an answer, and what is said of a rollout that must be left out."""

import pytest

from sandmill.models.reports import Outcome
from sandmill.models.rollout import Act
from sandmill.play.env import MLEnv
from sandmill.play.release import open_task
from sandmill.trainers.episode import SyncEpisode, last_script
from tests.unit.play.runner import PreparedRunner, result_of


@pytest.mark.parametrize(
    ("message", "script"),
    [
        ("I fit.\n```python\na = 1\n```\nDone.", "a = 1\n"),
        ("```py\na = 1\n```", "a = 1\n"),
        ("```Python3\na = 1\n```", "a = 1\n"),
        ("```\na = 1\n```", "a = 1\n"),
        ("```python\na = 0\n```\nBetter:\n```python\na = 1\n```\n```bash\nls\n```\n```python\na = 3", "a = 1\n"),
        ("<think>\n```python\na = 0\n```\n</think>\n```python\na = 1\n```", "a = 1\n"),
        ("```python\na = 0\n```\n</think>```python\na = 1\n```", "a = 1\n"),
        ("```python\na = 1\n```\n```python\n\n```", "a = 1\n"),
        ("```python\na = 1\n", ""),
        ("<think>\n```python\na = 1\n```\n", ""),
        ("```python\na = 1\n```\n<think> again </think>", ""),
        ("no code", ""),
        ("", ""),
    ],
)
def test_the_last_complete_script_after_the_thoughts_runs(message, script):
    assert last_script(message) == script


@pytest.fixture(scope="module")
def begin(task):
    def begin(*results):
        episode = SyncEpisode(MLEnv(open_task(task), sandbox=PreparedRunner(results)))
        episode.begin()
        return episode

    return begin


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
