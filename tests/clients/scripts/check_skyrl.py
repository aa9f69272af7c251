"""Episodes through skyrl_gym. Usage: check_skyrl.py RELEASE EXPORT AGENT_ENV EXAMPLE. Prints JSON."""

import json
import os
import sys
from pathlib import Path

release, export, agent_env, example = sys.argv[1:]
os.environ["SANDMILL_AGENT_ENV"] = agent_env

import pyarrow.parquet as pq  # noqa: E402
import skyrl_gym  # noqa: E402

import sandmill  # noqa: E402
from sandmill.trainers import skyrl  # noqa: E402

row = next(row for path in sorted(Path(export).glob("*.parquet")) for row in pq.read_table(path).to_pylist())
good = sandmill.load(release).files("private", row["extra_info"]["task_id"])["competent.py"].decode()
script = f"I fit a model.\n```python\n{good}```\n"
extras = {name: value for name, value in row.items() if name not in ("prompt", "env_class")}


def call(name, **arguments):
    """Write a tool call as a model would."""
    return f"<think>so</think><tool_call>\n{json.dumps({'name': name, 'arguments': arguments})}\n</tool_call>"


def play(max_turns, actions):
    """Do the actions of one episode, and return what SkyRL would see."""
    env = skyrl_gym.make(row["env_class"], env_config={}, extras={**extras, "max_turns": max_turns})
    chat, _ = env.init(row["prompt"])
    steps = []
    for action in actions:
        steps.append(env.step(action))
        if steps[-1]["done"]:
            break
    metrics = env.get_metrics()
    env.close()
    return {
        "asked": chat[-1]["content"],
        "rewards": [step["reward"] for step in steps],
        "done": [step["done"] for step in steps],
        "masks": [step["metadata"]["mask"] for step in steps],
        "told": [step["observations"][0]["content"] for step in steps if step["observations"]],
        "metrics": metrics,
    }


exec(Path(example).read_text().replace("releases/micro", release), {})
skyrl.register(release, max_submissions=2)
seen = {
    "row": row["prompt"][-1]["content"],
    "single": play(1, [script]),
    "several": play(8, [script, call("submit"), "I am not sure.", call("finish", step=9), "<answer>done</answer>"]),
    "cut off": play(2, ["I think.", "I still think.", script]),
    "ids": sorted(name for name in skyrl_gym.envs.registration.registry if "sandmill" in name),
}
print(json.dumps(seen))
