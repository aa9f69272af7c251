"""Episodes through skyrl_gym: one answer, several turns, and an agent that never acts."""

import pytest

from sandmill.play.actions import FORMAT
from sandmill.sandbox.agent_env import create_agent_env
from tests.docs_commands import texts

pytestmark = pytest.mark.timeout(600)


@pytest.fixture(scope="module")
def seen(run_client, exported, small_release, tmp_path_factory):
    """What SkyRL sees, with the environment registered by the example of the docs and then once more."""
    example = tmp_path_factory.mktemp("docs") / "example.py"
    (block,) = [block for block in texts("docs/training.md", "python") if "skyrl" in block]
    example.write_text(block)
    return run_client("skyrl", "check_skyrl.py", small_release, exported("skyrl"), create_agent_env().path, example)


def test_one_answer_to_an_exported_row_is_run_and_graded(seen):
    single = seen["single"]
    assert single["asked"] == seen["row"]
    assert single["done"] == [True]
    assert single["rewards"][0] > 0
    parts = {"reward/ladder": single["rewards"][0], "reward/gap": 0}
    assert single["metrics"] == {"masked": 0, "valid": 1, "turns": 1, **parts}


def test_the_reward_of_several_turns_comes_once_with_the_last(seen):
    several = seen["several"]
    assert FORMAT in several["asked"]
    assert "At most 2 submissions" in several["asked"]
    assert several["done"] == [False, False, False, False, True]
    assert several["rewards"][:4] == [0, 0, 0, 0]
    assert several["rewards"][4] == seen["single"]["rewards"][0]
    assert "Valid submission" in several["told"][1]
    assert "your message has no action" in several["told"][2]
    assert "expected a step with a valid submission" in several["told"][3]


def test_an_agent_that_never_acts_is_stopped_without_reward(seen):
    assert seen["cut off"]["done"] == [False, True]
    assert seen["cut off"]["rewards"] == [0, 0]
    assert seen["cut off"]["masks"] == [False, False]


def test_a_second_registration_replaces_the_first(seen):
    assert seen["ids"] == ["sandmill"]
