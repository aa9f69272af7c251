"""Episodes as trainers play them: faults mask the rollout, and invalid actions are observations, not exceptions."""

import logging
from collections.abc import Coroutine
from typing import Any

from sandmill.errors import InputError
from sandmill.models.rollout import Act, Rollout
from sandmill.play.env import MLEnv, run_sync
from sandmill.play.turns import OVER, Turns
from sandmill.trainers.single_turn import PERMANENT

FAULT = "The environment failed. The episode has ended, and it will not be scored."

logger = logging.getLogger(__name__)


class SyncEpisode:
    """One use of an `MLEnv`, step by step.

    A fault of the sandbox, of the store or of our own code is logged with its traceback and masks the rollout. It never
    raises, since one exception ends a whole training step.
    """

    def __init__(self, env: MLEnv) -> None:
        self.env, self._turns = env, Turns(env)
        self._is_faulty = False

    @property
    def failure(self) -> dict[str, Any]:
        """`mask_sample`, `failure_kind` and `failure_reason` in the words of NeMo Gym. None for an unmasked rollout."""
        kind: str | None = None
        reason: str | None = None
        if self._is_faulty:
            kind, reason = "environment_server_failed", FAULT
        elif self.is_masked:
            steps = self.env.rollout.steps if self.env.rollout else ()
            kind, reason = "provider_unavailable", (steps[-1].detail if steps else "") or FAULT
        return {"mask_sample": self.is_masked, "failure_kind": kind, "failure_reason": reason}

    @property
    def rollout(self) -> Rollout | None:
        """The finished rollout; None before the end, and after a fault outside the sandbox."""
        return None if self._is_faulty else self.env.rollout

    @property
    def is_over(self) -> bool:
        """Whether the episode has ended."""
        return self._is_faulty or self._turns.is_over

    @property
    def is_masked(self) -> bool:
        """Whether the rollout must be left out of the loss."""
        return self._is_faulty or (self.env.rollout is not None and self.env.rollout.mask)

    @property
    def reward(self) -> float | None:
        """The final reward; None before the end and for a masked rollout."""
        rollout = self.rollout
        return None if rollout is None or rollout.mask or rollout.reward is None else rollout.reward.total

    def begin(self) -> str:
        """Begin, and return the prompt.

        Raises `InputError`, `AccessDenied` or `FileMissing` if the release or its private half cannot be used. This
        would occur in every episode.
        """
        result = self._guard(self.env.reset(), PERMANENT)
        return FAULT if self._is_faulty else str(result[0])

    def act(self, act: Act) -> str:
        """Do one action, and return the observation. One that names a step without a valid submission does nothing."""
        if self.is_over:
            return FAULT if self.is_masked else OVER
        result = self._guard(self._turns.act(act))
        return FAULT if self.is_masked else result[0] or OVER

    def end(self) -> None:
        """End the episode, and grade it. Does nothing if it is over."""
        if not self.is_over:
            self._guard(self.env.stop())

    def close(self) -> None:
        """Remove its files."""
        self._guard(self.env.close())

    def _guard(self, coroutine: Coroutine[Any, Any, Any], raised: tuple[type[Exception], ...] = (InputError,)) -> Any:
        try:
            return run_sync(coroutine)
        except raised:
            raise
        except Exception:
            logger.exception("task %s: the rollout is masked", self.env.task.id)
            self._is_faulty = True
            return None
