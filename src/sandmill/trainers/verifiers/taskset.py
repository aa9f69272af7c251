"""Tasks of a release as verifiers knows them, and their rewards."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import verifiers.v1 as vf
from pydantic import Field, PrivateAttr

from sandmill.kinds.files.base import layout_of
from sandmill.models.calibration import RUNG_FILES, Rung
from sandmill.models.rollout import Act, EpisodeLimits, Rollout
from sandmill.play.env import MLEnv
from sandmill.trainers.tasks import graded_tasks
from sandmill.trainers.turns import Turns

if TYPE_CHECKING:
    from sandmill.play.release import Release

_WRITE_SAMPLE = "open('submission.csv', 'wb').write({sample!r})\n"


class SandmillData(vf.TaskData):
    """Row of a task. It is written into every trace, so it holds nothing of the private half."""

    task_id: str
    release: str
    """Reference of the exact version."""


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

    reward: str = "gap"
    """Name of a reward of `sandmill.rewards`."""
    max_steps: int = EpisodeLimits().max_steps
    max_submissions: int = EpisodeLimits().max_submissions
    time_budget: float = EpisodeLimits().time_budget
    timeout: float = EpisodeLimits().timeout

    @property
    def limits(self) -> EpisodeLimits:
        """Return the limits of one episode."""
        return EpisodeLimits(
            max_steps=self.max_steps,
            max_submissions=self.max_submissions,
            time_budget=self.time_budget,
            timeout=self.timeout,
        )


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
        """Begin an episode."""
        env = self._open()
        await env.reset()
        trace.state.begin(env)

    async def finalize(self, trace: vf.Trace) -> None:
        """End the episode.

        Raises:
            SandboxError: if the rollout is masked. The trace fails and has no reward.
            RuntimeError: if another harness ran the agent, whose code would not have run in our sandbox.
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

    async def validate(self, runtime: vf.Runtime) -> bool:
        """Return whether the reference solution earns more than the sample submission, and more than 0."""
        files = graded_tasks(self.data.release).release.files("private", self.data.task_id)
        reference = files[RUNG_FILES[Rung.REFERENCE]].decode()
        release = graded_tasks(self.data.release).release
        layout = layout_of(release.record(self.data.task_id).spec)
        sample = layout.sample_csv(release.files("public", self.data.task_id))
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

    Raises:
        SandboxError: if it is masked. verifiers then marks the trace as failed instead of giving it a reward of 0.
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
        for task_id in chosen:
            yield SandmillTask(self._row(release, task_id), config.task)

    def _row(self, release: "Release", task_id: str) -> SandmillData:
        limits = self.config.task.limits
        prompt = release.task(task_id).prompt(timeout=limits.timeout, submissions=limits.max_submissions)
        return SandmillData(id=task_id, name=task_id, task_id=task_id, release=release.ref, prompt=prompt)
