"""The chat loop of an agent with three tools. It runs in the process of the trainer and executes nothing there."""

import json
from typing import Any

import verifiers.v1 as vf

from sandmill.trainers.episode import OVER
from sandmill.trainers.turns import FINISH_TOOL, RUN_TOOL, SUBMIT_TOOL, Turns, read_tool_call
from sandmill.trainers.verifiers.taskset import EpisodeState, require_unmasked

REFUSED = (400, 413, 422)
"""Statuses of a server that refuses a conversation. After the first action, the agent wrote or printed the cause."""
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
            OpenAIError: if the model cannot be reached, or refuses the prompt.
        """
        from openai import AsyncOpenAI, OpenAIError

        turns = _turns_of(trace)
        system, prompt = self.resolve_prompt(data)
        messages = _opening(system, prompt)
        async with AsyncOpenAI(base_url=endpoint, api_key=secret, timeout=None) as client:
            while not turns.is_over:
                try:
                    reply = await client.chat.completions.create(model=ctx.model, messages=messages, tools=TOOLS)
                except OpenAIError as error:
                    # verifiers refuses a call once a limit of the trace is reached. The episode is graded then.
                    is_refused = turns.actions and getattr(error, "status_code", None) in REFUSED
                    if trace.stop_condition is None and not is_refused:
                        raise
                    # A model that reached the limit with its first message was still played by this harness.
                    turns.actions += 1
                    break
                message: Any = reply.choices[0].message
                messages.append(_encodable(message.model_dump(exclude_none=True)))
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


def _encodable(message: dict[str, Any]) -> Any:
    """Replace halves of surrogate pairs, which a server can write in JSON and no request can hold."""
    return json.loads(json.dumps(message, ensure_ascii=False).encode(errors="replace"))


async def _call(turns: Turns, name: str, arguments: str) -> str:
    """Do one tool call, and return its result for the model."""
    if turns.is_over:
        return OVER
    act = read_tool_call(name, arguments)
    return (await (turns.reject(act) if isinstance(act, str) else turns.act(act)))[0]


class SandmillEnvConfig(vf.EnvConfig):
    """One agent. The default runtime of verifiers is a remote machine; this one needs none."""

    agent: vf.AgentConfig = vf.AgentConfig(runtime=vf.SubprocessConfig())


class SandmillEnv(vf.Env[SandmillEnvConfig]):
    """One agent plays one task."""

    async def run(self, task: vf.Task, agents: vf.Agents) -> None:
        """Play one episode."""
        await agents.agent.run(task)
