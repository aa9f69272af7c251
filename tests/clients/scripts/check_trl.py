"""GRPO steps on the CPU. Usage: check_trl.py functions|environment RELEASE AGENT_ENV. Prints JSON."""

import json
import os
import sys

kind, release, agent_env = sys.argv[1:]
os.environ["SANDMILL_AGENT_ENV"] = agent_env

from datasets import Dataset  # noqa: E402
from tiny_model import ScriptedTrainer, make_model, make_tokenizer  # noqa: E402
from trl import GRPOConfig  # noqa: E402

import sandmill  # noqa: E402
from sandmill.play.task import shared_sandbox  # noqa: E402
from sandmill.trainers.trl import code_reward, environment, train_rows  # noqa: E402

FAULT = "# The sandbox fails before this script starts.\n"
opened = sandmill.load(release)
rows = train_rows(opened, tools=kind == "environment")[:1]
good = opened.files("private", rows[0]["task_id"])["competent.py"].decode()
sample = 'import shutil\nshutil.copy("public/sample_submission.csv", "submission.csv")\n'
scripts = [good, sample, "raise SystemExit(1)\n", FAULT]


class FaultySandbox:
    """The shared sandbox, which fails for one of the scripts."""

    def __init__(self):
        self.sandbox = shared_sandbox()
        self.box, self.limits = self.sandbox.box, self.sandbox.limits

    async def run(self, code, **arguments):
        if FAULT in code:
            raise OSError("no space left on device")
        return await self.sandbox.run(code, **arguments)


def answer(number, text):
    """Give one script in a Python block."""
    return f"<think>\n\n</think>\n\nI will try this.\n```python\n{scripts[number]}```\n"


def call_tools(number, text):
    """Run a script, ask for feedback, name a step that does not exist, finish, and then say so."""
    done = text.count("<tool_response>")
    mine = next((i for i, script in enumerate(scripts) if json.dumps(script)[1:-1] in text), number)
    calls = [("run_code", {"code": scripts[mine]}), ("submit", {}), ("finish", {"step": 7}), ("finish", {})]
    if done == len(calls):
        return "I have finished."
    name, arguments = calls[done]
    return f"<tool_call>\n{json.dumps({'name': name, 'arguments': arguments})}\n</tool_call>"


tokenizer = make_tokenizer()
model = make_model(tokenizer)
config = GRPOConfig(
    output_dir="out",
    use_cpu=True,
    bf16=False,
    max_steps=1,
    per_device_train_batch_size=4,
    num_generations=4,
    max_completion_length=12_000,
    learning_rate=1e-3,
    logging_steps=1,
    report_to=[],
    save_strategy="no",
)
seen = {"rewards": [], "advantages": []}


class Trainer(ScriptedTrainer):
    """Keeps rewards and advantages of the step."""

    def _calculate_rewards(self, *arguments):
        rewards = super()._calculate_rewards(*arguments)
        seen["rewards"] = [None if value != value else value for value in rewards[:, 0].tolist()]
        return rewards

    def _generate_and_score_completions(self, inputs):
        output = super()._generate_and_score_completions(inputs)
        seen["advantages"] = output["advantages"].tolist()
        seen["masked_tokens"] = int((output.get("tool_mask", output["completion_mask"]) == 0).sum())
        return output


if kind == "environment":
    reward = {"environment_factory": environment(opened, sandbox=FaultySandbox(), max_steps=6)}
else:
    reward = {"reward_funcs": code_reward(opened, sandbox=FaultySandbox())}
trainer = Trainer(model=model, args=config, processing_class=tokenizer, train_dataset=Dataset.from_list(rows), **reward)
trainer.script = call_tools if kind == "environment" else answer
before = [parameter.detach().clone() for parameter in trainer.model.parameters()]
trainer.train()
after = list(trainer.model.parameters())
seen["moved"] = any(bool((old != new).any()) for old, new in zip(before, after, strict=True))
seen["names"] = trainer.reward_func_names
logged = trainer.state.log_history[0]
seen["logged"] = {name: float(value) for name, value in logged.items()}
if kind == "environment":
    seen["endings"] = [env.rollout.ending for env in trainer.environments]
    seen["steps"] = [[step.action for step in env.rollout.steps] for env in trainer.environments]
print(json.dumps(seen))
