"""Real GRPO steps on the CPU with a random model: a reward function, an environment class, the example of the docs."""

import pytest

from sandmill.sandbox.agent_env import create_agent_env
from tests.docs_commands import texts

pytestmark = pytest.mark.timeout(900)


@pytest.fixture(scope="module")
def step(run_client, small_release):
    def take(kind):
        return run_client("trl", "check_trl.py", kind, small_release, create_agent_env().path, timeout=800)

    return take


def is_left_out(seen):
    """Whether the good script alone is rewarded, and the masked one moves nothing."""
    good, sample, broken, masked = seen["rewards"]
    return good > 0 and sample == broken == 0 and masked is None and seen["advantages"][3] == 0 and seen["moved"]


def test_a_step_with_the_reward_function_leaves_masked_samples_out(step):
    seen = step("functions")
    assert is_left_out(seen)
    # The baseline of the group is the mean of the three scores that exist.
    assert sum(seen["advantages"]) == pytest.approx(0, abs=1e-4)
    assert seen["logged"]["sandmill/valid_rate"] == 0.5
    assert seen["logged"]["sandmill/masked_rate"] == 0.25


def test_a_step_with_the_environment_runs_tools_and_masks_their_tokens(step):
    seen = step("environment")
    assert is_left_out(seen)
    assert seen["names"] == ["SandmillEnvironment"]
    assert seen["endings"] == ["finished", "finished", "finished", "infra"]
    assert seen["steps"][0] == ["run", "submit", "finish"]
    assert seen["logged"]["tools/failure_frequency"] == 0
    assert seen["masked_tokens"] > 0


def test_the_examples_of_the_docs_take_steps_with_samples_of_the_model(run_client, small_release, tmp_path):
    examples = [block for block in texts("docs/training.md", "python") if "trl" in block]
    assert len(examples[0].splitlines()) <= 30
    for number, block in enumerate(examples):
        (tmp_path / f"{number}.py").write_text(block)
    function, tools = run_client(
        "trl", "check_trl_docs.py", tmp_path, small_release, create_agent_env().path, timeout=800
    )
    assert function["step"] == tools["step"] == 1
    assert function["reward"] == tools["reward"] == 0
    assert {"sandmill/valid_rate", "sandmill/masked_rate"} <= set(function["logged"])
    assert "rewards/SandmillEnvironment/mean" in tools["logged"]
