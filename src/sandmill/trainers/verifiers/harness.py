"""The chat loop of an agent with three tools. It runs in the process of the trainer and executes nothing there."""

import json
from typing import Any

import verifiers.v1 as vf

from sandmill.models.rollout import Act
from sandmill.trainers.episode import OVER
from sandmill.trainers.turns import FINISH_TOOL, RUN_TOOL, SUBMIT_TOOL, Turns
from sandmill.trainers.verifiers.taskset import EpisodeState, require_unmasked

_CODE = {"type": "string", "description": "The whole script"}
_STEP = {"type": "integer", "description": "Number of a step with a valid submission"}


def _tool(name: str, text: str, properties: dict[str, Any], required: list[str]) -> dict[str, Any]:
    parameters = {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
    return {"type": "function", "function": {"name": name, "description": text, "parameters": parameters}}


TOOLS: list[Any] = [
    _tool("run_code", RUN_TOOL, {"code": _CODE}, ["code"]),
    _tool("submit", SUBMIT_TOOL, {}, []),
    _tool("finish", FINISH_TOOL, {"step": _STEP}, []),
]


class SandmillHarnessConfig(vf.HarnessConfig):
    """This harness has no settings of its own."""


class SandmillHarness(vf.Harness[SandmillHarnessConfig]):
    """Plays an episode by tool calls. The model gets no other way to run code, so no container is needed."""

    APPENDS_SYSTEM_PROMPT = True
    EXECUTES_CODE = False
    NEEDS_CONTAINER = False

    async def launch(
        self,
        ctx: vf.ModelContext,
        trace: vf.Trace,
        runtime: vf.Runtime,
        endpoint: str,
        secret: str,
        mcp_urls: dict[str, str],
        data: vf.TaskData,
    ) -> vf.ProgramResult:
        """Ask the model until the episode is over or the model calls no tool.

        Raises:
            SandboxError: if the sandbox failed.
            OpenAIError: if the model cannot be reached.
        """
        from openai import AsyncOpenAI, OpenAIError

        turns = _turns_of(trace)
        system, prompt = self.resolve_prompt(data)
        messages = _opening(system, prompt)
        async with AsyncOpenAI(base_url=endpoint, api_key=secret, timeout=None) as client:
            while not turns.is_over:
                try:
                    reply = await client.chat.completions.create(model=ctx.model, messages=messages, tools=TOOLS)
                except OpenAIError:
                    # verifiers refuses a call once a limit of the trace is reached. The episode is graded then.
                    if trace.stop_condition is None:
                        raise
                    break
                message: Any = reply.choices[0].message
                messages.append(message.model_dump(exclude_none=True))
                if not message.tool_calls:
                    # A model that never calls a tool was still played by this harness.
                    turns.actions += 1
                    break
                for call in message.tool_calls:
                    content = await _call(turns, call.function.name, call.function.arguments)
                    messages.append({"role": "tool", "tool_call_id": call.id, "content": content})
        require_unmasked(await turns.env.stop())
        return vf.ProgramResult(exit_code=0, stdout="", stderr="")

    async def cleanup(self, trace: vf.Trace, runtime: vf.Runtime) -> None:
        """Remove the scratch folder of an episode that did not end."""
        if isinstance(trace.state, EpisodeState):
            await trace.state.turns.env.close()


def _turns_of(trace: vf.Trace) -> Turns:
    if isinstance(trace.state, EpisodeState):
        return trace.state.turns
    raise TypeError("the harness of sandmill_verifiers plays tasks of its own taskset only")


def _opening(system: str | None, prompt: Any) -> list[Any]:
    messages: list[Any] = [{"role": "system", "content": system}] if system else []
    if isinstance(prompt, str):
        return [*messages, {"role": "user", "content": prompt}]
    return [*messages, *(message.model_dump(exclude_none=True) for message in prompt or ())]


async def _call(turns: Turns, name: str, arguments: str) -> str:
    """Do one tool call, and return its result for the model."""
    if turns.is_over:
        return OVER
    act = _read_call(name, arguments)
    return (await (turns.reject(act) if isinstance(act, str) else turns.act(act)))[0]


def _read_call(name: str, arguments: str) -> Act | str:
    """Return the action of a tool call, or what is wrong with it."""
    try:
        given = json.loads(arguments or "{}")
    except ValueError:
        return "The arguments are not valid JSON."
    given = given if isinstance(given, dict) else {}
    match name:
        case "run_code" if isinstance(given.get("code"), str):
            return Act.run(given["code"])
        case "run_code":
            return "run_code needs the argument `code`, a string."
        case "submit":
            return Act.submit()
        case "finish":
            step = given.get("step")
            is_number = step is None or (isinstance(step, int) and not isinstance(step, bool) and step > 0)
            return Act.finish(step) if is_number else "The argument `step` of finish is the number of a step."
    return f"There is no such tool. The tools are: {', '.join(tool['function']['name'] for tool in TOOLS)}."


class SandmillEnvConfig(vf.EnvConfig):
    """One agent. The default runtime of verifiers is a remote machine; this one needs none."""

    agent: vf.AgentConfig = vf.AgentConfig(runtime=vf.SubprocessConfig())


class SandmillEnv(vf.Env[SandmillEnvConfig]):
    """One agent plays one task."""

    async def run(self, task: vf.Task, agents: vf.Agents) -> None:
        """Play one episode."""
        await agents.agent.run(task)
