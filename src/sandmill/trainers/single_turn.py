"""Score one script as a whole episode, for trainers whose model answers once."""

import logging
from typing import TYPE_CHECKING

from sandmill.errors import InputError, SandboxUnavailable, StoreError
from sandmill.models.rollout import Act, Ending, EpisodeLimits, Rollout
from sandmill.play.env import MLEnv
from sandmill.rewards import Reward
from sandmill.store.files import AccessDenied, FileMissing
from sandmill.trainers.answers import last_script
from sandmill.trainers.shared import OpenTasks

if TYPE_CHECKING:
    from sandmill.play.sandboxes import AsyncCodeRunner

logger = logging.getLogger(__name__)


def one_script(timeout: float) -> EpisodeLimits:
    """Return the limits of an episode that is over after one script."""
    return EpisodeLimits(max_steps=1, timeout=timeout, time_budget=timeout)


async def score_answer(
    tasks: OpenTasks,
    task_id: str,
    answer: str,
    *,
    reward: Reward,
    timeout: float,
    sandbox: "AsyncCodeRunner | None" = None,
    sample: int = 0,
) -> Rollout:
    """Run the last Python block of an answer, and grade what it leaves.

    A fault of the sandbox, of its servers or of the store gives a masked rollout.

    Args:
        tasks: with their private halves, such as those of a release.
        task_id: name of the task.
        answer: text of the model. Without a Python block the outcome is `no_code`.
        reward: computes the reward of the rollout.
        timeout: wall time of the script in seconds.
        sandbox: runs the script. None means the sandbox of the release.
        sample: number of the answer among those to the same task.

    Raises:
        InputError: there is no such task, or its private half is not valid.
        AccessDenied, FileMissing: the private half cannot be read from here.
    """
    script = last_script(answer)
    return await score_script(tasks, task_id, script, reward=reward, timeout=timeout, sandbox=sandbox, sample=sample)


async def score_script(
    tasks: OpenTasks,
    task_id: str,
    script: str,
    *,
    reward: Reward,
    timeout: float,
    sandbox: "AsyncCodeRunner | None" = None,
    sample: int = 0,
) -> Rollout:
    """Run a script, and grade what it leaves; see `score_answer`. An empty one has the outcome `no_code`."""
    task = tasks.task(task_id)
    try:
        async with MLEnv(task, reward=reward, limits=one_script(timeout), sandbox=sandbox, sample=sample) as env:
            await env.reset()
            await env.step(Act.run(script))
            return await env.stop()
    except (StoreError, OSError, SandboxUnavailable) as error:
        if is_permanent(error):
            raise
        logger.exception("task %s: the episode is masked", task_id)
        return Rollout(task_id=task_id, release=task.ref, sample=sample, ending=Ending.INFRA, mask=True)


def is_permanent(error: Exception) -> bool:
    """Return whether an error is a mistake in the configuration: it would occur in every episode."""
    return isinstance(error, InputError | AccessDenied | FileMissing)
