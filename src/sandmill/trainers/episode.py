"""Episodes as trainers play them: step by step, or one script for a whole answer.

Faults mask the rollout, and invalid actions are observations, not exceptions.
"""

import logging
from collections.abc import Coroutine, Iterator
from typing import Any

from sandmill.errors import InputError, SandboxUnavailable, StoreError
from sandmill.models.rollout import Act, Ending, EpisodeLimits, Rollout
from sandmill.play.env import MLEnv, run_sync
from sandmill.play.task import AsyncCodeRunner
from sandmill.play.turns import OVER, Turns, isolated
from sandmill.rewards import Reward
from sandmill.store.files import AccessDenied, FileMissing
from sandmill.trainers.shared import OpenTasks

FAULT = "The environment failed. The episode has ended, and it will not be scored."
PERMANENT = (InputError, AccessDenied, FileMissing)
"""Errors that are mistakes in the configuration: they would occur in every episode."""
_THINK, _THINK_END = "<think>", "</think>"
_PYTHON = frozenset({"", "python", "python3", "py"})
"""Languages of a code block that runs. A block without a language runs too."""

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


def last_script(message: str) -> str:
    """Return the last complete Python block after the thoughts of a message; empty if it holds none.

    A code block without an end does not count: the message was cut off.
    """
    if _THINK in message and _THINK_END not in message:
        return ""
    # Some chat templates open the thoughts in the prompt, so that only their end is in the message.
    blocks = _blocks(message.rpartition(_THINK_END)[2])
    scripts = [text for text, language in blocks if language in _PYTHON and text.strip()]
    return scripts[-1] if scripts else ""


def _blocks(message: str) -> Iterator[tuple[str, str]]:
    """Yield content and language of each complete code block."""
    lines: list[str] = []
    language: str | None = None
    for line in message.splitlines(keepends=True):
        mark = line.strip()
        if language is None and mark.startswith("```") and "`" not in mark[3:]:
            lines, language = [], mark[3:].strip().lower()
        elif language is not None and mark == "```":
            yield "".join(lines), language
            language = None
        else:
            lines.append(line)


def one_script(timeout: float) -> EpisodeLimits:
    """Return the limits of an episode that is over after one script."""
    return EpisodeLimits(max_steps=1, timeout=timeout, time_budget=timeout)


async def score_script(
    tasks: OpenTasks,
    task_id: str,
    script: str,
    *,
    reward: Reward,
    timeout: float,
    sandbox: AsyncCodeRunner | None = None,
    sample: int = 0,
) -> Rollout:
    """Run a script as an episode, and grade what it leaves.

    A fault of the sandbox, of its servers or of the store gives a masked rollout.

    The tasks have their private halves. An empty script has the outcome `no_code`. `timeout` is wall time in seconds.
    Without a sandbox, that of the release runs the script. `sample` is the number of the answer to its task.

    Raises:
        InputError: there is no such task, or its private half is not valid.
        AccessDenied, FileMissing: the private half cannot be read from here.
    """
    task = tasks.task(task_id)
    try:
        made = MLEnv(task, reward=reward, limits=one_script(timeout), sandbox=sandbox, sample=sample)
        async with isolated(made) as env:
            await env.reset()
            await env.step(Act.run(script))
            return await env.stop()
    except PERMANENT:
        raise
    except (StoreError, OSError, SandboxUnavailable):
        logger.exception("task %s: the episode is masked", task_id)
        return Rollout(task_id=task_id, release=task.ref, sample=sample, ending=Ending.INFRA, mask=True)
