"""An episode of several steps on one task, in the words of Gymnasium: `reset`, `step`, terminated, truncated."""

import asyncio
import os
import time
from collections.abc import Coroutine
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread
from typing import Any, Self, TypeVar
from uuid import uuid4

from sandmill.errors import InputError, Problem, SandboxUnavailable, require_extra
from sandmill.models.reports import GradeReport, Outcome
from sandmill.models.rollout import Act, Action, Ending, EpisodeLimits, Rollout, Step
from sandmill.models.run import Isolation, RunResult
from sandmill.play.feedback import Feedback
from sandmill.play.observation import observe
from sandmill.play.prompt import build_prompt
from sandmill.play.score import submission_of
from sandmill.play.task import AsyncCodeRunner, EpisodeTask
from sandmill.play.traces import step_span
from sandmill.rewards import Reward, get_reward
from sandmill.rewards.instrument import instrument
from sandmill.rewards.markers import new_token, read_markers, without_marker_code
from sandmill.scoring.grading.grade import check_format

_TRIES = 3
"""Attempts of a run while the sandbox fails before the agent's code starts."""

_TOOLS = {Action.RUN: "run_code", Action.SUBMIT: "submit", Action.FINISH: "finish"}
"""Names of the actions in traces, as tools of trainers have them."""
StepResult = tuple[str, float, bool, bool, dict[str, Any]]
"""Observation, reward, terminated, truncated, info."""
_Result = TypeVar("_Result")


class MLEnv:
    """One agent on one task. Make one object for each episode; hundreds of them can share one sandbox.

    The agent runs scripts, asks for feedback on the submission of its latest run, and finishes. Feedback comes from the
    feedback part of the test rows, is rounded, and its number is limited. The final part is graded once, at the end,
    on the latest valid submission or on that of the step which the agent names. Every reward before the end is 0.

    A fault of the sandbox ends the episode with a masked rollout and never raises. So does a sandbox that has not
    answered when the wall clock of the episode is over. An agent that does not come back in time is graded on what is
    there.

    Example:
        >>> async with MLEnv(task) as env:  # doctest: +SKIP
        ...     prompt, _ = await env.reset()
        ...     text, reward, terminated, truncated, info = await env.step(Act.run(code))
        ...     text, reward, terminated, truncated, info = await env.step(Act.finish())
        ...     info["rollout"]
    """

    def __init__(
        self,
        task: EpisodeTask,
        *,
        reward: str | Reward = "ladder",
        limits: EpisodeLimits | None = None,
        sandbox: AsyncCodeRunner | None = None,
        instrument: bool = False,
        sample: int = 0,
        explains: bool = False,
        **numbers: Any,
    ) -> None:
        """Prepare an episode. Nothing is read or started yet.

        Args:
            task: from `release.task(id)` or `open_task(folder)`, with its private half.
            reward: name of a preset, or a reward.
            limits: of the episode; or give its fields by name: `max_steps`, `max_submissions`, `time_budget`,
                `timeout`, `wall_clock`.
            sandbox: runs the code. None means the sandbox of the task.
            instrument: whether progress markers are inserted into scripts.
            sample: number of the rollout among those of the same task.
            explains: whether the rollout says which stated facts its submission uses. It does so anyway where the
                reward needs it.
            numbers: single limits.

        Raises:
            InputError: if the reward is unknown, or its measurement of facts needs pandas, which is missing.
            ValidationError: if a limit is out of range.
        """
        self.task = self._original = task
        self.limits = EpisodeLimits.model_validate((limits or EpisodeLimits()).model_dump() | numbers)
        self.format_rate: float | None = None
        """Share of the model's messages in the asked-for format, which an adapter may set before the end."""
        self._reward = get_reward(reward)
        self._explains = explains or self._reward.needs_facts
        if self._explains:
            with require_extra("rerun", "credit for stated facts"):
                import pandas  # noqa: F401
        self._sandbox, self._instrument, self._sample = sandbox, instrument, sample
        self._folder: TemporaryDirectory[str] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._turn = asyncio.Lock()
        self._clear()

    def _clear(self) -> None:
        self.episode_id = uuid4().hex
        """Name of the episode in traces, in trackers and in the stored rollout."""
        self._steps: list[Step] = []
        self._valid: dict[int, bytes] = {}
        self._latest: RunResult | None = None
        self._feedback: Feedback | None = None
        self._used_s, self._started = 0.0, 0.0
        self._isolations: set[Isolation] = set()
        self._late: StepResult | None = None
        self.rollout: Rollout | None = None
        """The finished episode; None before its end."""

    @property
    def isolation(self) -> Isolation | None:
        """Isolation of the sandbox that runs the code; None if it does not say."""
        return getattr(self._sandbox, "isolation", None) if self._sandbox else self.task.isolation

    async def reset(self, group: int | None = None) -> tuple[str, dict[str, Any]]:
        """Begin an episode, and return the prompt. An unfinished episode is thrown away.

        Args:
            group: play a fresh draw of the design, see `EpisodeTask.fresh`. Equal numbers give equal tasks. None plays
                the task as it is.

        Raises:
            AccessDenied, FileMissing, InputError: if a half of the task cannot be read, or the number is out of range.
        """
        await self.close()
        self._clear()
        self.task = self._original if group is None else self._original.fresh(group)
        # The sandbox takes seconds to start. It does so while the task is read.
        sandbox = self._sandbox or self.task.sandbox
        await self.task.apublic()
        private = await asyncio.to_thread(lambda: self.task.private)
        self._feedback = Feedback(private, self.limits.max_submissions)
        self._started = time.monotonic()
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(self.left_s, lambda: asyncio.ensure_future(self._expire()))
        prompt = build_prompt(
            self.task.description,
            timeout=self.limits.timeout,
            limits=sandbox.limits,
            submissions=self.limits.max_submissions,
        )
        return prompt, {"task_id": self.task.id}

    async def step(self, act: Act) -> StepResult:
        """Do one action.

        Returns:
            Observation, a text for the agent; reward, 0 before the end; terminated, whether the agent finished;
            truncated, whether a limit or a fault ended the episode; info for the trainer: `step`, `mask`, and at the
            end `rollout`.

        Raises:
            InputError: if the episode has not begun or is over, or a named step has no valid submission. An episode
                that its wall clock has ended returns its last result instead.
        """
        async with self._turn:
            if self._late is not None:
                return self._late
            self._check_running(act)
            with step_span(self.ids, _TOOLS[act.action]) as describe:
                result = await (self._step(act) if self.left_s > 0 else self._end_late())
                describe(result[4]["step"], self.rollout)
            return result

    @property
    def ids(self) -> dict[str, str]:
        """Names of the task, of the version of the release and of the episode."""
        return {"task_id": self.task.id, "release": self.task.ref, "episode_id": self.episode_id}

    async def _step(self, act: Act) -> StepResult:
        if act.action is Action.FINISH:
            step = Step(number=len(self._steps) + 1, action=Action.FINISH)
            return await self._end(Ending.FINISHED, step, act.step)
        step = await (self._run(act.code) if act.action is Action.RUN else self._submit())
        if step.mask:
            return await self._end(Ending.INFRA, step)
        if len(self._steps) + 1 >= self.limits.max_steps:
            return await self._end(Ending.STEPS, step)
        if self._used_s >= self.limits.time_budget or self.left_s <= 0:
            return await self._end(Ending.TIME, step)
        self._steps.append(step)
        text = observe(step, self.limits, self._used_s, False)
        return text, 0.0, False, False, {"step": step, "mask": False}

    async def stop(self, *, is_fault: bool = False) -> Rollout:
        """End the episode for the trainer, for example because the context of the model is full.

        Args:
            is_fault: something outside of the agent failed, for example the server of the model. The rollout is masked.

        Returns:
            The finished rollout; that of an episode which is over already.
        """
        async with self._turn:
            if self.rollout is None:
                self._check_running(Act.finish())
                ending = Ending.STOPPED if self.left_s > 0 else Ending.TIME
                with step_span(self.ids, "") as describe:
                    await self._end(Ending.INFRA if is_fault else ending, None)
                    describe(None, self.rollout)
        assert self.rollout is not None
        return self.rollout

    async def close(self) -> None:
        """Remove the scratch folder. An unfinished episode is thrown away."""
        if self._timer is not None:
            self._timer.cancel()
        if self._folder is not None:
            folder, self._folder = self._folder, None
            with suppress(OSError):
                await asyncio.to_thread(folder.cleanup)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.close()

    @property
    def left_s(self) -> float:
        """Seconds until the episode ends by its wall clock and accepts no further step."""
        return self._started + self.limits.longest_s - self.limits.closing_s - time.monotonic()

    async def _end_late(self) -> StepResult:
        _, reward, terminated, truncated, info = await self._end(Ending.TIME, None)
        text = f"The episode has ended, because its {self.limits.longest_s:g} seconds of wall time are over."
        self._late = text, reward, terminated, truncated, info
        return self._late

    async def _expire(self) -> None:
        """End an episode whose agent has not come back. A step that goes on ends it itself."""
        async with self._turn:
            if self.rollout is None:
                with step_span(self.ids, "") as describe:
                    await self._end_late()
                    describe(None, self.rollout)

    def _check_running(self, act: Act) -> None:
        problems = []
        if self._feedback is None:
            problems.append(Problem("episode", "a step before reset", "reset first"))
        if self.rollout is not None:
            problems.append(Problem("episode", "a step after the end", "reset first, or a new MLEnv"))
        if act.step is not None and act.step not in self._valid:
            known = ", ".join(map(str, self._valid)) or "none yet"
            problems.append(Problem("step", str(act.step), f"a step with a valid submission: {known}"))
        if problems:
            raise InputError("MLEnv", problems, "")

    async def _run(self, code: str) -> Step:
        """Run a script, and check the format of what it leaves."""
        number = len(self._steps) + 1
        token = new_token()
        marked = await asyncio.to_thread(instrument, code, token) if self._instrument else code
        result = await self._run_with_retries(marked)
        self._used_s += result.duration_s
        if result.outcome is not Outcome.INFRA_ERROR:
            self._isolations.add(result.isolation)
        markers, stdout = read_markers(result.stdout, token)
        report = await asyncio.to_thread(check_format, submission_of(result), self.task.private)
        self._latest, outcome = result, result.outcome
        if outcome is Outcome.OK and result.submission is None:
            outcome = Outcome.NO_SUBMISSION
        elif outcome is Outcome.OK and not report.is_valid:
            outcome = Outcome.INVALID_SUBMISSION
        if report.is_valid and result.submission is not None:
            self._valid[number] = result.submission
        return Step(
            number=number,
            action=Action.RUN,
            code=code,
            outcome=outcome,
            duration_s=result.duration_s,
            stdout=stdout,
            stderr=without_marker_code(result.stderr, token),
            detail=result.detail,
            checks=report.checks,
            problems=report.problems,
            markers=markers,
            mask=result.outcome is Outcome.INFRA_ERROR,
        )

    async def _run_with_retries(self, code: str) -> RunResult:
        sandbox = self._sandbox or self.task.sandbox
        if self._folder is None:
            self._folder = TemporaryDirectory(prefix="sandmill-episode-", ignore_cleanup_errors=True)
        timeout = max(0.1, min(self.limits.timeout, self.limits.time_budget - self._used_s, self.left_s))
        result = RunResult(outcome=Outcome.INFRA_ERROR, isolation=Isolation.NONE, detail="the sandbox did not run")
        for _ in range(_TRIES):
            try:
                scratch = Path(self._folder.name)
                # The sandbox kills the agent's code at its time-out. Longer is a long queue or a fault.
                async with asyncio.timeout(self.left_s + self.limits.closing_s):
                    result = await sandbox.run(code, public=self.task.public, scratch=scratch, timeout=timeout)
            except (SandboxUnavailable, OSError) as error:
                result = result.model_copy(update={"detail": f"the sandbox failed: {type(error).__name__}: {error}"})
            if result.outcome is not Outcome.INFRA_ERROR or self.left_s <= 0:
                break
        return result

    async def _submit(self) -> Step:
        assert self._feedback is not None
        number = len(self._steps) + 1
        if self._latest is None:
            return Step(number=number, action=Action.SUBMIT, detail="there was no run yet")
        answer = await asyncio.to_thread(self._feedback.submit, self._latest)
        return Step(number=number, action=Action.SUBMIT, outcome=answer.outcome, feedback=answer)

    async def _end(self, ending: Ending, step: Step | None, named: int | None = None) -> StepResult:
        if step is not None:
            self._steps.append(step)
        chosen = named or max(self._valid, default=None)
        is_masked = ending is Ending.INFRA
        submission = None if chosen is None else self._valid[chosen]
        grade = None if is_masked else await self._grade(submission)
        rollout = Rollout(
            **self.ids,
            sample=self._sample,
            isolation=Isolation.NONE if Isolation.NONE in self._isolations else next(iter(self._isolations), None),
            steps=tuple(self._steps),
            ending=ending,
            grade=grade,
            chosen=None if is_masked else chosen,
            facts=await self.task.aexplain_submission(submission) if self._explains and not is_masked else (),
            format_rate=self.format_rate,
            mask=is_masked,
            duration_s=time.monotonic() - self._started,
        )
        reward = self._reward(rollout)
        self.rollout = rollout.model_copy(update={"reward": reward})
        await self.close()
        text = "" if step is None else observe(step, self.limits, self._used_s, True)
        info = {"step": step, "mask": is_masked, "rollout": self.rollout}
        return text, 0.0 if is_masked else reward.total, rollout.terminated, rollout.truncated, info

    async def _grade(self, submission: bytes | None) -> GradeReport:
        """Grade the chosen submission. Without one, the outcome is that of the latest run."""
        grade = await self.task.agrade(submission)
        runs = [step.outcome for step in self._steps if step.action is Action.RUN]
        if submission is None and runs and runs[-1] not in (None, Outcome.OK):
            return grade.model_copy(update={"outcome": runs[-1]})
        return grade


@lru_cache(maxsize=1)
def _background() -> asyncio.AbstractEventLoop:
    """Start an event loop in a thread of its own. A fork has the loop without its thread, and starts another one."""
    loop = asyncio.new_event_loop()
    Thread(target=loop.run_forever, name="sandmill-coroutines", daemon=True).start()
    return loop


os.register_at_fork(after_in_child=_background.cache_clear)


def run_sync(coroutine: Coroutine[Any, Any, _Result]) -> _Result:
    """Run a coroutine to its end on the loop that all callers in this process share, and return its result.

    Calls from several threads run at the same time. The caller may have an event loop of its own; this call blocks it.
    The coroutine is cancelled if the wait is interrupted.
    """
    future = asyncio.run_coroutine_threadsafe(coroutine, _background())
    try:
        return future.result()
    except BaseException:
        future.cancel()
        raise


class SyncMLEnv:
    """`MLEnv` without coroutines: the same arguments and methods.

    Example:
        >>> with SyncMLEnv(task) as env:  # doctest: +SKIP
        ...     prompt, _ = env.reset()
        ...     text, reward, terminated, truncated, info = env.step(Act.run(code))
    """

    def __init__(self, task: EpisodeTask, **settings: Any) -> None:
        """Prepare an episode; see `MLEnv`."""
        self._env = MLEnv(task, **settings)

    @property
    def rollout(self) -> Rollout | None:
        """The finished episode; None before its end."""
        return self._env.rollout

    def reset(self, group: int | None = None) -> tuple[str, dict[str, Any]]:
        """Begin an episode, and return the prompt; see `MLEnv.reset`."""
        return run_sync(self._env.reset(group))

    def step(self, act: Act) -> StepResult:
        """Do one action; see `MLEnv.step`."""
        return run_sync(self._env.step(act))

    def stop(self, *, is_fault: bool = False) -> Rollout:
        """End the episode for the trainer; see `MLEnv.stop`."""
        return run_sync(self._env.stop(is_fault=is_fault))

    def close(self) -> None:
        """Remove the scratch folder."""
        run_sync(self._env.close())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()
