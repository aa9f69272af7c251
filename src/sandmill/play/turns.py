"""Actions of an agent that calls tools: invalid actions are observations, not exceptions."""

import json
from typing import Any

from sandmill.errors import InputError, Problem
from sandmill.models.rollout import Act
from sandmill.models.run import Isolation
from sandmill.play.actions import read_call
from sandmill.play.env import MLEnv, StepResult

OVER = "The episode has ended."
RUN_TOOL = "Run a Python script. A valid submission.csv that it writes becomes the candidate for the final score."
SUBMIT_TOOL = "Get a rounded score for the submission of the latest script, on a part of the test rows."
FINISH_TOOL = "End the episode. The latest valid submission counts, or that of the step with the given number."


def _tool(text: str, properties: dict[str, Any], required: list[str]) -> dict[str, Any]:
    schema = {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
    return {"description": text, "input_schema": schema}


TOOLS: dict[str, dict[str, Any]] = {
    "run_code": _tool(RUN_TOOL, {"code": {"type": "string", "description": "The whole script"}}, ["code"]),
    "submit": _tool(SUBMIT_TOOL, {}, []),
    "finish": _tool(
        FINISH_TOOL, {"step": {"type": "integer", "description": "Number of a step with a valid submission"}}, []
    ),
}
"""Description and JSON schema of each tool."""


def isolated(env: MLEnv) -> MLEnv:
    """Return an episode whose sandbox isolates. Raises `InputError` for all others: a policy tries what it may do."""
    if env.isolation is Isolation.NONE:
        hint = 'Leave out backend="local": the agent environment is made at first use.'
        problem = Problem("isolation", "none", "a sandbox that isolates the code of a policy", hint)
        raise InputError("trainer adapter", [problem], "Nothing was run.")
    return env


class Turns:
    """Actions of an agent in one episode.

    An invalid action costs no step of the episode. As many of them as the episode has steps end it.
    """

    def __init__(self, env: MLEnv) -> None:
        self.env = isolated(env)
        self.actions = 0
        """Valid and invalid actions so far."""
        self._invalid = 0

    @property
    def is_over(self) -> bool:
        """Whether the episode has ended."""
        return self.env.rollout is not None

    async def act(self, act: Act) -> StepResult:
        """Do one action; see `MLEnv.step`."""
        try:
            result = await self.env.step(act)
        except InputError as error:
            # All other errors of a step are mistakes of the client.
            if act.step is None or self.is_over:
                raise
            return await self.reject("\n".join(map(str, error.problems)))
        self.actions += 1
        return result

    async def reject(self, message: str) -> StepResult:
        """Answer an action that cannot be done."""
        self.actions += 1
        self._invalid += 1
        if self._invalid < self.env.limits.max_steps:
            return message, 0.0, False, False, {"step": None, "mask": False}
        rollout = await self.env.stop()
        reward = 0.0 if rollout.reward is None or rollout.mask else rollout.reward.total
        info = {"step": None, "mask": rollout.mask, "rollout": rollout}
        return f"{message}\n{OVER}", reward, False, True, info

    async def call(self, name: str, arguments: str | dict[str, Any]) -> str:
        """Do a tool call, and return its result for the model."""
        if self.is_over:
            return OVER
        act = read_tool_call(name, arguments)
        return (await (self.reject(act) if isinstance(act, str) else self.act(act)))[0]


def read_tool_call(name: str, arguments: str | dict[str, Any]) -> Act | str:
    """Return the action of a tool call, or what is wrong with it. The arguments may be JSON that a model wrote."""
    try:
        given = arguments if isinstance(arguments, dict) else json.loads(arguments or "{}")
    except (ValueError, TypeError, RecursionError):
        return "The arguments are not valid JSON."
    return read_call(name, given or {}, "run_code")
