"""Actions of an agent as clients receive them: an invalid one is an observation and not an exception."""

import json

from sandmill.errors import InputError
from sandmill.models.rollout import Act
from sandmill.play.env import MLEnv, StepResult
from sandmill.trainers.episode import OVER

RUN_TOOL = "Run a Python script. A valid submission.csv that it writes becomes the candidate for the final score."
SUBMIT_TOOL = "Get a rounded score for the submission of the latest script, on a part of the test rows."
FINISH_TOOL = "End the episode. The latest valid submission counts, or that of the step with the given number."
TOOLS = ("run_code", "submit", "finish")


def read_tool_call(name: str, arguments: str) -> Act | str:
    """Return the action of a tool call, or what is wrong with it. The arguments are JSON that a model wrote."""
    try:
        given = json.loads(arguments or "{}")
    except (ValueError, TypeError, RecursionError):
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
    return f"There is no such tool. The tools are: {', '.join(TOOLS)}."


class Turns:
    """Actions of an agent in one episode.

    An invalid action costs no step of the episode. As many of them as the episode has steps end it.
    """

    def __init__(self, env: MLEnv) -> None:
        self.env = env
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
            return await self.reject(str(error))
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
