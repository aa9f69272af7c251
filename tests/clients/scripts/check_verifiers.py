"""Play and validate tasks with vf-eval and vf-validate. Usage: check_verifiers.py RELEASE AGENT_ENV. Prints JSON."""

import asyncio
import json
import os
import shlex
import sys
from contextlib import redirect_stdout
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from agent import break_sandbox, documented, files_under, leaks, moves, release, task_of
from verifiers.v1.cli.eval.main import main as vf_eval
from verifiers.v1.cli.validate import main as vf_validate
from verifiers.v1.utils.loaders import load_environment, resolve_env_config

from sandmill.trainers.verifiers import EpisodeState
from tests.llm_server import Answer, Received, serve

OUT = Path("outputs").absolute()
os.environ["SCRIPTED_KEY"] = "none"


def play(received: Received) -> Answer:
    """Answer as the scripted agent: its next tool call."""
    messages = received.body["messages"]
    done = sum(message["role"] == "tool" for message in messages)
    name, arguments = moves(task_of(messages[0]["content"]))[done]
    call = {"id": f"call-{done}", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    return answer(message, "tool_calls", received)


def talk(received: Received) -> Answer:
    """Answer without a tool call."""
    return answer({"role": "assistant", "content": "I cannot do this."}, "stop", received)


def answer(message: dict[str, Any], finish: str, received: Received) -> Answer:
    body = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": received.body["model"],
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        "usage": {"prompt_tokens": 100, "completion_tokens": 50, "total_tokens": 150},
    }
    return Answer(raw=json.dumps(body).encode())


def evaluate(name: str, script: Any, *options: str) -> list[dict[str, Any]]:
    """Run vf-eval as a user would, and return what its traces say."""
    with serve(script) as server:
        command = ["sandmill-verifiers", "--env.taskset.release", release.ref, "-m", "scripted", "--client.base-url"]
        command += [server.base, "--client.api-key-var", "SCRIPTED_KEY", "--no-push", "--no-rich", "-o", str(OUT)]
        sys.argv = ["vf-eval", *command, "--run.dir", name, *options]
        with redirect_stdout(sys.stderr):
            vf_eval()
        tools = sorted(tool["function"]["name"] for tool in server.received[0].body.get("tools", ()))
    return [facts(line) | {"tools": tools} for line in (OUT / name / "traces.jsonl").read_text().splitlines()]


def facts(line: str) -> dict[str, Any]:
    episode = json.loads(line)
    trace = episode["traces"][0]
    return {
        "task": trace["task"]["key"],
        "row": sorted(set(trace["task"]["data"]) & {"task_id", "release", "prompt"}),
        "ok": episode["ok"],
        "errors": [error["type"] for error in trace["errors"]],
        "rewards": {name: reward and reward["score"] for name, reward in trace["rewards"].items()},
        "metrics": trace["metrics"],
        "info": trace["info"],
        "stop": trace["stop_condition"],
        "runtime": trace["agent"]["runtime"]["type"],
    }


def validate() -> dict[str, Any]:
    """Run vf-validate, and return its summary."""
    options = ["--runtime.type", "subprocess", "--no-rich", "-o", str(OUT), "--run.dir", "validate"]
    sys.argv = ["vf-validate", "sandmill_verifiers", "--taskset.release", release.ref, *options]
    with redirect_stdout(sys.stderr):
        vf_validate()
    return json.loads((OUT / "validate" / "summary.json").read_text())


def try_documentation() -> dict[str, Any]:
    """Let vf-eval parse the command of the documentation, and return what it understood of tasks and runtime."""
    _, _, command = documented("bash").replace("\\\n", " ").partition("vf-eval ")
    sys.argv = ["vf-eval", *shlex.split(command), "--dry-run", "--no-rich", "-o", str(OUT), "--run.dir", "documented"]
    with redirect_stdout(sys.stderr):
        vf_eval()
    config = json.loads((OUT / "documented" / "configs" / "resolved" / "eval.json").read_text())
    return {
        "split": config["env"]["taskset"]["split"],
        "runtime": config["env"]["agent"]["runtime"]["type"],
        "rollouts": config["num_rollouts"],
    }


def refused() -> str:
    """Return the error of a trace that another harness has played."""
    env = load_environment(resolve_env_config({"taskset": {"id": "sandmill_verifiers", "release": release.ref}}))
    task, state = next(iter(env.taskset)), EpisodeState()
    trace = SimpleNamespace(state=state, calls=[], info={})
    asyncio.run(task.setup(trace))
    trace.calls.append("a call of a model")
    try:
        asyncio.run(task.finalize(trace))
    except RuntimeError as error:
        return str(error)
    return ""


seen: dict[str, Any] = {
    "played": evaluate("played", play, "-r", "2"),
    "cut": evaluate("cut", play, "--select.limit", "1", "--env.agent.max-turns", "2"),
    "talked": evaluate("talked", talk, "--select.limit", "1"),
    "validated": validate(),
    "refused": refused(),
    "documented": try_documentation(),
    "needs_container": load_environment(
        resolve_env_config({"taskset": {"id": "sandmill_verifiers", "release": release.ref}})
    )
    .taskset.task_type()
    .NEEDS_CONTAINER,
}
break_sandbox()
seen["masked"] = evaluate("masked", play, "--select.limit", "1", "--env.agent.retries.max-retries", "1")
seen["leaks"] = leaks(files_under(OUT))
seen["searched"] = any(b"/proc/1/environ" in content for content in files_under(OUT))
print(json.dumps(seen))
