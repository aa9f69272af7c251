"""Score the last script of one answer as a whole episode, for trainers without tools."""

import logging
from collections.abc import Iterator

from sandmill.errors import InputError, SandboxUnavailable, StoreError
from sandmill.models.rollout import Act, Ending, EpisodeLimits, Rollout
from sandmill.play.env import MLEnv
from sandmill.play.task import AsyncCodeRunner
from sandmill.play.turns import isolated
from sandmill.rewards import Reward
from sandmill.store.files import AccessDenied, FileMissing
from sandmill.trainers.shared import OpenTasks

_THINK, _THINK_END = "<think>", "</think>"
_PYTHON = frozenset({"", "python", "python3", "py"})
"""Languages of a code block that runs. A block without a language runs too."""
PERMANENT = (InputError, AccessDenied, FileMissing)
"""Errors that are mistakes in the configuration: they would occur in every episode."""
logger = logging.getLogger(__name__)


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
