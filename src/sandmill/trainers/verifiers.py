"""A taskset for verifiers 0.4: tasks of a release, with tools whose code runs in our sandbox.

verifiers finds a taskset by the name of a top-level package: `sandmill_verifiers` exports the classes of this module.
The chat loop runs in the process of the trainer and executes nothing there.
"""

import json
from collections.abc import Iterator
from typing import Any

from pydantic import Field, PrivateAttr

from sandmill.errors import require_extra
from sandmill.kinds.files.base import layout_of
from sandmill.models.calibration import RUNG_FILES, Rung
from sandmill.models.rollout import Act, EpisodeLimits, Rollout
from sandmill.play.env import MLEnv
from sandmill.play.traces import reward_columns
from sandmill.play.turns import TOOLS as EPISODE_TOOLS
from sandmill.play.turns import Turns
from sandmill.trainers.shared import graded_tasks

with require_extra("verifiers", __name__):
    import verifiers.v1 as vf

_WRITE_SAMPLE = "open('submission.csv', 'wb').write({sample!r})\n"
REFUSED = (400, 413, 422)
"""Statuses of a server that refuses a conversation. After the first action, the agent wrote or printed the cause."""


class SandmillData(vf.TaskData):
    """Row of a task. It is written into every trace, so it holds nothing of the private half."""

    task_id: str
    release: str


class EpisodeState(vf.State):
    """The episode of one trace. It lives in the process of the trainer only and is never serialized."""

    _turns: Turns | None = PrivateAttr(default=None)

    @property
    def turns(self) -> Turns:
        """Return the episode."""
        if self._turns is None:
            raise RuntimeError("this trace has no episode: its taskset is not sandmill_verifiers")
        return self._turns

    def begin(self, env: MLEnv) -> None:
        """Keep an episode that has been reset."""
        self._turns = Turns(env)


class SandmillTaskConfig(vf.TaskConfig):
    """Reward and limits of episodes: `--env.taskset.task.*`."""

    reward: str = "ladder"
    max_steps: int = EpisodeLimits().max_steps
    max_submissions: int = EpisodeLimits().max_submissions
    time_budget: float = EpisodeLimits().time_budget
    timeout: float = EpisodeLimits().timeout
    wall_clock: float | None = EpisodeLimits().wall_clock

    @property
    def limits(self) -> EpisodeLimits:
        """Return the limits of one episode."""
        return EpisodeLimits(**{name: getattr(self, name) for name in EpisodeLimits.model_fields})


class SandmillConfig(vf.TasksetConfig):
    """Which tasks of which release: `--env.taskset.*`. An empty list selects all."""

    release: str = ""
    split: list[str] = Field(default_factory=list)
    band: list[str] = Field(default_factory=list)
    metric: list[str] = Field(default_factory=list)
    structure: list[str] = Field(default_factory=list)
    task: SandmillTaskConfig = SandmillTaskConfig()


class SandmillTask(vf.Task[SandmillData, EpisodeState, SandmillTaskConfig]):
    """One task. Its reward is that of the episode, graded in the process of the trainer."""

    NEEDS_CONTAINER = False

    @property
    def key(self) -> str:
        """Stable identity, which does not depend on the place of the release."""
        return str(self.data.task_id)

    async def setup(self, trace: vf.Trace) -> None:
        """Begin an episode, and note its ids in the trace."""
        trace.state.begin(self._open())
        await trace.state.turns.env.reset()
        trace.info.update(trace.state.turns.env.ids)

    async def finalize(self, trace: vf.Trace) -> None:
        """End the episode.

        Raises `SandboxError` if the rollout is masked. The trace fails and has no reward. Raises `RuntimeError` if
        another harness ran the agent, whose code would not have run in our sandbox.
        """
        turns = trace.state.turns
        if trace.calls and not turns.actions:
            raise RuntimeError("another harness played this task; use the one of sandmill_verifiers, its default")
        require_unmasked(await turns.env.stop())

    @vf.reward
    async def reward(self, trace: vf.Trace) -> float:
        """Return the reward of the finished episode."""
        rollout = require_unmasked(await trace.state.turns.env.stop())
        assert rollout.reward is not None
        return rollout.reward.total

    @vf.metric
    async def gap_closed(self, trace: vf.Trace) -> float:
        """Return 0 for the trivial solver or no valid submission, 1 for the oracle; not clipped."""
        rollout = require_unmasked(await trace.state.turns.env.stop())
        return (rollout.grade.gap_closed if rollout.grade else None) or 0.0

    @vf.metric
    async def valid_submission(self, trace: vf.Trace) -> float:
        """Return 1 if a valid submission was graded."""
        return float((await trace.state.turns.env.stop()).chosen is not None)

    @vf.metric
    async def reward_parts(self, trace: vf.Trace) -> dict[str, float]:
        """Return a metric `reward/PART` for each part of the reward."""
        return reward_columns(require_unmasked(await trace.state.turns.env.stop()).reward)

    async def validate(self, runtime: vf.Runtime) -> bool:
        """Return whether the reference solution earns more than the sample submission, and more than 0."""
        release, task_id = graded_tasks(self.data.release).release, self.data.task_id
        reference = release.files("private", task_id)[RUNG_FILES[Rung.REFERENCE]].decode()
        sample = layout_of(release.record(task_id).spec).sample_csv(release.files("public", task_id))
        best, least = await self._play(reference), await self._play(_WRITE_SAMPLE.format(sample=sample))
        return best > max(0.0, least)

    def _open(self) -> MLEnv:
        task = graded_tasks(self.data.release).task(self.data.task_id)
        return MLEnv(task, reward=self.config.reward, limits=self.config.limits)

    async def _play(self, code: str) -> float:
        """Return the reward of an episode with one script."""
        async with self._open() as env:
            await env.reset()
            await env.step(Act.run(code))
            rollout = require_unmasked(await env.stop())
        assert rollout.reward is not None
        return rollout.reward.total


def require_unmasked(rollout: Rollout) -> Rollout:
    """Return the rollout.

    Raises `SandboxError` if it is masked. verifiers then marks the trace as failed instead of giving it a reward of 0.
    """
    if rollout.mask:
        detail = rollout.steps[-1].detail if rollout.steps else ""
        raise vf.SandboxError(f"the sandbox failed, so this rollout is masked: {detail}")
    return rollout


class SandmillTaskset(vf.Taskset[SandmillTask, SandmillConfig]):
    """The selected tasks of a release."""

    def load(self) -> Iterator[SandmillTask]:
        """Yield the tasks in the order of their ids."""
        config = self.config
        release = graded_tasks(config.release).release
        chosen = release.select(split=config.split, band=config.band, metric=config.metric, structure=config.structure)
        numbers = {"timeout": config.task.timeout, "submissions": config.task.max_submissions}
        for task_id in chosen:
            names = {"id": task_id, "name": task_id, "task_id": task_id, "release": release.ref}
            data = SandmillData(**names, prompt=release.task(task_id).prompt(**numbers))
            yield SandmillTask(data, config.task)


TOOLS: list[Any] = [
    {
        "type": "function",
        "function": {"name": name, "description": tool["description"], "parameters": tool["input_schema"]},
    }
    for name, tool in EPISODE_TOOLS.items()
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

        Raises `SandboxError` if the sandbox failed. Raises `OpenAIError` if the model cannot be reached, or refuses the
        prompt.
        """
        from openai import AsyncOpenAI, OpenAIError

        if not isinstance(trace.state, EpisodeState):
            raise TypeError("the harness of sandmill_verifiers plays tasks of its own taskset only")
        turns = trace.state.turns
        system, prompt = self.resolve_prompt(data)
        messages: list[Any] = [{"role": "system", "content": system}] if system else []
        opening = [{"role": "user", "content": prompt}] if isinstance(prompt, str) else prompt or ()
        messages += [one if isinstance(one, dict) else one.model_dump(exclude_none=True) for one in opening]
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
                    content = await turns.call(call.function.name, call.function.arguments)
                    messages.append({"role": "tool", "tool_call_id": call.id, "content": content})
        require_unmasked(await turns.env.stop())
        return vf.ProgramResult(exit_code=0, stdout="", stderr="")

    async def cleanup(self, trace: vf.Trace, runtime: vf.Runtime) -> None:
        """Remove the scratch folder of an episode that did not end."""
        if isinstance(trace.state, EpisodeState):
            await trace.state.turns.env.close()


def _encodable(message: dict[str, Any]) -> Any:
    """Replace halves of surrogate pairs, which a server can write in JSON and no request can hold."""
    return json.loads(json.dumps(message, ensure_ascii=False).encode(errors="replace"))


class SandmillEnvConfig(vf.EnvConfig):
    """One agent. The default runtime of verifiers is a remote machine; this one needs none."""

    agent: vf.AgentConfig = vf.AgentConfig(runtime=vf.SubprocessConfig())


class SandmillEnv(vf.Env[SandmillEnvConfig]):
    """One agent plays one task."""

    async def run(self, task: vf.Task, agents: vf.Agents) -> None:
        """Play one episode."""
        await agents.agent.run(task)
