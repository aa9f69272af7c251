"""Executions that also ask for feedback on the submission, or insert progress markers into the script."""

import logging
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sandmill.errors import SandboxUnavailable, StoreError
from sandmill.fingerprint import fingerprint
from sandmill.learning.executions import Executor, _compact, _restore
from sandmill.models.episode import FeedbackAnswer
from sandmill.models.rollout import Act, Ending, EpisodeLimits, Rollout
from sandmill.play.env import MLEnv
from sandmill.trainers.single_turn import is_permanent

if TYPE_CHECKING:
    from sandmill.learning.task_sets import TaskSet

logger = logging.getLogger(__name__)


class EpisodeExecutor(Executor):
    """Runs each script as an episode of two steps: run it, then ask for feedback on what it left.

    The feedback is that of the feedback part of the test rows, rounded, as an agent sees it. The grade is that of the
    final part. Rollouts are cached apart from those of `Executor`.
    """

    def __init__(
        self, tasks: "TaskSet", *, cache: Path | None = None, is_instrumented: bool = False, **options: Any
    ) -> None:
        """Open the cache.

        Args:
            tasks: with their private halves.
            cache: folder of rollouts.
            is_instrumented: insert markers by fixed rules, which needs the extra `instrument`.
            options: of `Executor`.
        """
        super().__init__(tasks, cache=cache, **options)
        self._is_instrumented = is_instrumented

    async def _execute(self, task_id: str, script: str, key: str) -> Rollout:
        rollout = await self._play(task_id, script)
        if rollout.mask:
            self.masked += 1
            return rollout
        self.executed += bool(script)
        kept = _compact(rollout)
        self._kept.put(key, kept)
        return _restore(kept, task_id, script)

    async def _play(self, task_id: str, script: str) -> Rollout:
        task = self.tasks.task(task_id)
        limits = EpisodeLimits(
            max_steps=3, max_submissions=1, timeout=self.wall_seconds, time_budget=2 * self.wall_seconds
        )
        try:
            async with MLEnv(task, limits=limits, sandbox=self._sandbox, instrument=self._is_instrumented) as env:
                await env.reset()
                await env.step(Act.run(script))
                if env.rollout is None:
                    await env.step(Act.submit())
                return await env.stop()
        except (StoreError, OSError, SandboxUnavailable) as error:
            if is_permanent(error):
                raise
            logger.exception("task %s: the episode is masked", task_id)
            return Rollout(task_id=task_id, release=task.ref, ending=Ending.INFRA, mask=True)

    def _key(self, task_id: str, script: str) -> str:
        return fingerprint({"script": super()._key(task_id, script), "is_instrumented": self._is_instrumented})


def feedback_of(rollout: Rollout) -> FeedbackAnswer | None:
    """Return the last feedback of a rollout; None if it did not ask or was masked."""
    answers = [step.feedback for step in rollout.steps if step.feedback is not None]
    return answers[-1] if answers else None
