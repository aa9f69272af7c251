"""Run the scripts of answers, count the runs, and never run the same script twice."""

import asyncio
import math
import os
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sandmill.fingerprint import fingerprint
from sandmill.models.base import OnProgress
from sandmill.models.rollout import Rollout
from sandmill.models.run import MOST_SECONDS
from sandmill.play.env import run_sync
from sandmill.rewards import get_reward
from sandmill.trainers.episode import last_script, score_script
from sandmill_learn.line_cache import LineCache
from sandmill_learn.settings import CPU_SECONDS, WALL_FACTOR

if TYPE_CHECKING:
    from sandmill.play.task import AsyncCodeRunner
    from sandmill_learn.task_sets import TaskSet

CACHE_FILE = "executions.jsonl"
"""File of rollouts in the cache folder."""
_OPEN_AT_ONCE = 16
"""Episodes that are open at a time: enough that a sandbox of 8 runs never waits for a grade."""
_KEPT_TEXT = 2000
"""Last characters of standard output and standard error that are kept of a run."""


class Executor:
    """Runs answers on the tasks of a set. A pair of task and script runs once, whatever asks for it.

    The cache is keyed by the digest of the task, the text of the script and the time limit. A script whose result is
    random keeps the result of its first run. The limit is one of processor time, so outcomes do not depend on the load
    of the machine. A rollout that a fault of the
    sandbox masked is not cached.
    """

    def __init__(
        self,
        tasks: "TaskSet",
        *,
        cache: Path | None = None,
        timeout: float = CPU_SECONDS,
        sandbox: "AsyncCodeRunner | None" = None,
        on_progress: OnProgress | None = None,
    ) -> None:
        """Open the cache. Nothing runs yet.

        Args:
            tasks: with their private halves.
            cache: folder in which rollouts are kept for later processes. None keeps them in memory.
            timeout: processor time of one script in seconds, rounded up to whole ones. Its wall time may be
                `WALL_FACTOR` times as long. Another sandbox has limits of its own, and only the wall time holds.
            sandbox: runs the scripts. None means the sandbox of this machine, one script for each processor at a time
                and one in addition.
            on_progress: called with the numbers of distinct answers that are done and that were asked for, after each.

        Raises:
            SandboxUnavailable: there is no other sandbox, and this machine cannot run scripts.
            StoreError: the cache cannot be read.
        """
        self.tasks, self.timeout = tasks, timeout
        self.requested = 0
        """Answers asked for, also equal ones."""
        self.executed = 0
        """Scripts that ran to an outcome. Answers without code, cached and masked ones do not count."""
        self.masked = 0
        """Answers that a fault of the sandbox left without an outcome."""
        self.on_progress = on_progress
        self._sandbox = sandbox or limited_sandbox(math.ceil(timeout))
        self._kept = LineCache(None if cache is None else cache / CACHE_FILE)
        self._reward = get_reward("gap")

    @property
    def wall_seconds(self) -> float:
        """Wall time that one script may take."""
        return min(WALL_FACTOR * self.timeout, MOST_SECONDS)

    def rollouts(self, pairs: Sequence[tuple[str, str]]) -> list[Rollout]:
        """Return the rollout of each pair of a task id and the text of an answer, in order.

        The last Python block of an answer runs. Equal pairs give equal rollouts. Distinct ones run at the same time, as
        many as the sandbox admits. The reward in a rollout is that of `gap`.

        Raises:
            InputError: a task is not in the set, or its private half is not valid.
            AccessDenied, FileMissing: a private half cannot be read.
        """
        return run_sync(self.arollouts(pairs))

    async def arollouts(self, pairs: Sequence[tuple[str, str]]) -> list[Rollout]:
        """Return the rollout of each pair; see `rollouts`."""
        scripts = [(task_id, last_script(answer)) for task_id, answer in pairs]
        self.requested += len(scripts)
        distinct = list(dict.fromkeys(scripts))
        # Unknown tasks are refused before anything runs.
        keys = {pair: self._key(*pair) for pair in distinct}
        slots, done = asyncio.Semaphore(_OPEN_AT_ONCE), 0

        async def find(pair: tuple[str, str]) -> Rollout:
            nonlocal done
            known = self._kept.get(keys[pair])
            if known is None:
                async with slots:
                    found = await self._execute(*pair, keys[pair])
            else:
                found = _restore(known, *pair)
            done += 1
            if self.on_progress is not None:
                self.on_progress(done, len(distinct))
            return found

        async with asyncio.TaskGroup() as group:
            running = {pair: group.create_task(find(pair)) for pair in distinct}
        return [running[pair].result() for pair in scripts]

    async def _execute(self, task_id: str, script: str, key: str) -> Rollout:
        rollout = await score_script(
            self.tasks, task_id, script, reward=self._reward, timeout=self.wall_seconds, sandbox=self._sandbox
        )
        if rollout.mask:
            self.masked += 1
            return rollout
        self.executed += bool(script)
        kept = _compact(rollout)
        self._kept.put(key, kept)
        return _restore(kept, task_id, script)

    def _key(self, task_id: str, script: str) -> str:
        # Raises the error that names the tasks of the set.
        self.tasks.task(task_id)
        return fingerprint({"task": self.tasks[task_id].digest, "script": script, "cpu_seconds": self.timeout})


@lru_cache(maxsize=8)
def limited_sandbox(cpu_seconds: int) -> "AsyncCodeRunner":
    """Return the sandbox of this process with a limit of processor time. Equal limits give the same object.

    More scripts at a time than processors do not end earlier: each takes longer. One more keeps the processors busy
    while a script starts or is graded.

    Raises:
        SandboxUnavailable: if this machine cannot isolate runs or the agent environment is missing.
    """
    from sandmill.play.task import shared_sandbox
    from sandmill.sandbox.sandbox import AsyncSandbox, Sandbox

    box = shared_sandbox().box
    assert isinstance(box, Sandbox)
    limits = box.limits.model_copy(update={"cpu_s": cpu_seconds})
    return AsyncSandbox.over(box.with_limits(limits), concurrency=len(os.sched_getaffinity(0)) + 1)


def _compact(rollout: Rollout) -> dict[str, Any]:
    """Return a rollout as JSON data without its script and with the ends of its outputs."""
    data = rollout.model_dump(mode="json", exclude_defaults=True)
    for step in data.get("steps", ()):
        step.pop("code", None)
        step |= {name: step[name][-_KEPT_TEXT:] for name in ("stdout", "stderr") if name in step}
    return data


def _restore(data: dict[str, Any], task_id: str, script: str) -> Rollout:
    steps = [{**step, "code": script} for step in data.get("steps", ())]
    return Rollout.model_validate({**data, "task_id": task_id, "steps": steps})
