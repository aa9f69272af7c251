"""Actions of an agent as clients receive them: an invalid one is an observation and not an exception."""

from sandmill.errors import InputError
from sandmill.models.rollout import Act
from sandmill.play.env import MLEnv, StepResult
from sandmill.trainers.episode import OVER

RUN_TOOL = "Run a Python script. A valid submission.csv that it writes becomes the candidate for the final score."
SUBMIT_TOOL = "Get a rounded score for the submission of the latest script, on a part of the test rows."
FINISH_TOOL = "End the episode. The latest valid submission counts, or that of the step with the given number."


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
