"""Evaluate a release with Inspect's mock model. Usage: check_inspect.py RELEASE AGENT_ENV. Prints JSON."""

import json
import math
import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

from agent import break_sandbox, documented, files_under, leaks, moves, release, task_of
from inspect_ai import eval as run_eval
from inspect_ai.log import EvalLog
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.solver import generate

LOGS = Path("logs").absolute()


def play(messages: list[Any], *_: Any) -> ModelOutput:
    """Answer as the scripted agent: its next tool call."""
    done = sum(message.role == "tool" for message in messages)
    planned = moves(task_of(messages[0].text))
    return call(*planned[done]) if done < len(planned) else talk(messages)


def repeat(messages: list[Any], *_: Any) -> ModelOutput:
    """Call a tool with a wrong argument, for ever."""
    return call("finish", {"step": "the best"})


def talk(messages: list[Any], *_: Any) -> ModelOutput:
    """Answer without a tool call."""
    output = ModelOutput.from_content("mockllm", "I cannot do this.")
    output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
    return output


def call(name: str, arguments: dict[str, Any]) -> ModelOutput:
    output = ModelOutput.for_tool_call("mockllm", name, arguments)
    # Without it, Inspect counts tokens with a vocabulary that it downloads.
    output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
    return output


def evaluate(script: Any, **options: Any) -> dict[str, Any]:
    """Find the task by its name, as the command line does."""
    model = get_model("mockllm/model", custom_outputs=script, memoize=False)
    # Logs as text, so that they can be searched.
    where = {"log_dir": str(LOGS), "log_format": "json", "display": "none", "task_args": {"release": release.ref}}
    (log,) = run_eval("sandmill/sandmill_release", model=model, **where, **options)
    return facts(log)


def facts(log: EvalLog) -> dict[str, Any]:
    assert log.status == "success", log.error
    (scores,) = log.results.scores
    samples = []
    for sample in log.samples or []:
        (score,) = sample.scores.values()
        samples.append(
            {
                "task": sample.id,
                "metadata": sample.metadata,
                "score": None if math.isnan(score.value) else score.value,
                "reason": score.reason,
                "facts": score.metadata,
                "messages": len(sample.messages),
                "texts": [message.text for message in sample.messages if message.role == "tool"],
            }
        )
    return {
        "samples": samples,
        "mean": None if math.isnan(scores.metrics["mean"].value) else scores.metrics["mean"].value,
        "scored": [scores.scored_samples, scores.unscored_samples],
    }


def try_documentation() -> int:
    """Run the example of the documentation with the mock model, for all splits, and return the number of samples."""
    model = get_model("mockllm/model", custom_outputs=talk, memoize=False)
    names: dict[str, Any] = {"model": model}
    code = documented("python").replace('split="train", ', "").replace('model="openai/MODEL"', "model=model")
    with redirect_stdout(sys.stderr):
        exec(code, names)
    return len(names["log"].samples)


def main() -> None:
    seen: dict[str, Any] = {
        "played": evaluate(play, epochs=2),
        "repeated": evaluate(repeat, limit=1),
        "talked": evaluate(talk, limit=1),
        "cut": evaluate(play, limit=1, message_limit=6),
    }
    seen["other_solver"] = evaluate(play, limit=1, solver=generate())
    seen["documented"] = try_documentation()
    break_sandbox()
    seen["masked"] = evaluate(play)
    seen["leaks"] = leaks(files_under(LOGS))
    seen["searched"] = any(b"/proc/1/environ" in content for content in files_under(LOGS))
    print(json.dumps(seen))


main()
