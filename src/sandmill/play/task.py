"""A task as an object: its prompt, its public files, runs of code, grades and feedback."""

import asyncio
import atexit
import sys
from contextlib import suppress
from functools import cached_property, lru_cache
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any, Literal, Protocol

from sandmill.errors import InputError, Problem, SandboxUnavailable
from sandmill.models.run import Isolation, RunLimits, RunResult
from sandmill.play.prompt import ChatMessage, PromptForm, build_prompt

if TYPE_CHECKING:
    from sandmill.models.reports import GradeReport
    from sandmill.models.rollout import FactCredit, FeedbackAnswer
    from sandmill.play.explain import SubmissionExplainer
    from sandmill.sandbox import AsyncSandbox, RemoteSandbox, Sandbox
    from sandmill.scoring.grading.private_half import PrivateHalf


class AsyncCodeRunner(Protocol):
    """Runs untrusted code from coroutines, as `AsyncSandbox` does."""

    @property
    def limits(self) -> RunLimits:
        """Limits of each run."""

    @property
    def box(self) -> "Sandbox | RemoteSandbox":
        """The same sandbox for code without coroutines."""

    async def run(
        self, code: str, *, public: Path | str, scratch: Path | str | None = None, timeout: float = 30.0
    ) -> RunResult:
        """Run code; see `Sandbox.run`."""


@lru_cache(maxsize=2)
def shared_sandbox(backend: 'Literal["auto", "local"]' = "auto") -> "AsyncSandbox":
    """Return one sandbox for the whole process. It starts in a thread and is closed when the process ends.

    The agent environment is made if it is missing: standard error shows its size and how far it is. `local` needs none
    and isolates nothing; the caller decides for which tasks.

    Raises `SandboxUnavailable` if this machine cannot isolate runs or the agent environment cannot be made.
    """
    from sandmill.sandbox import AsyncSandbox
    from sandmill.sandbox.agent_env import create_agent_env, find_agent_env
    from sandmill.sandbox.sandbox import choose_backend

    if choose_backend(backend) == "warm" and find_agent_env() is None:
        create_agent_env(say=lambda line: print(line, file=sys.stderr, flush=True))  # noqa: T201
    box = AsyncSandbox(backend, allow_unsafe=backend == "local")
    atexit.register(box.box.close)

    def start() -> None:
        # Runs wait for the start, and report its error.
        with suppress(SandboxUnavailable, OSError):
            box.box.start()

    Thread(target=start, name="sandmill-start", daemon=True).start()
    return box


class TaskSource(Protocol):
    """Where the files of a task come from: a release, or the folder of a pulled task."""

    @property
    def task_id(self) -> str:
        """Public name of the task."""

    @property
    def ref(self) -> str:
        """Reference of the release; empty for a folder."""

    def description(self) -> str:
        """Return the texts of the task, as its prompt says them."""

    def public(self) -> Path:
        """Return a local folder with the public files alone."""

    def private(self) -> "PrivateHalf":
        """Return facts, calibration and answers."""


class EpisodeTask:
    """One task of a release, or of a pulled folder, with everything that an episode needs.

    Opening a task reads nothing. Its public files are written to a cache folder at first use, and all episodes of the
    task share them, read-only. Grades need the private half.

    The methods of asynchronous code have the same names with an `a` before them. All methods are thread-safe.
    """

    def __init__(self, source: TaskSource, sandbox: AsyncCodeRunner | None = None) -> None:
        """Use `sandmill.load(...).task(id)` or `sandmill.open_task(folder)`.

        Args:
            source: gives the files.
            sandbox: runs code; None means one sandbox that all tasks of this process share.
        """
        self._source, self._sandbox = source, sandbox

    def __repr__(self) -> str:
        return f"EpisodeTask({self.id!r})"

    @property
    def id(self) -> str:
        """Public name of the task."""
        return self._source.task_id

    @property
    def ref(self) -> str:
        """Reference of the exact version of the release; empty for a task from a folder."""
        return self._source.ref

    @cached_property
    def description(self) -> str:
        """Texts of the task: description.md, and data_dictionary.md as its last section."""
        return self._source.description()

    @cached_property
    def public(self) -> Path:
        """Local folder with the public files. Do not change it: all episodes of the task share it."""
        return self._source.public()

    @cached_property
    def private(self) -> "PrivateHalf":
        """Facts, calibration and answers, for the trainer only.

        Raises:
            AccessDenied, FileMissing, InputError: if the private half cannot be read.
        """
        return self._source.private()

    def fresh(self, group: int) -> "EpisodeTask":
        """Return the same design with new rows, ids and answers: nothing is left that a policy could memorise.

        The task is graded on its own exact gap, with thresholds at the shares of the gap of this one. It is drawn at
        first use, here and not in the sandbox, and needs the private half. Nothing is kept on disk.

        Args:
            group: number of the draw, from 0 up. Equal numbers give equal tasks in all processes: take one number for
                all rollouts that are compared, as in a group of GRPO, and the next for the next group.

        Raises:
            InputError: the number is out of range.
        """
        from sandmill.play.fresh import FreshSource

        source = FreshSource(self.id, self.ref, lambda: self.private, group)
        return EpisodeTask(source, self._sandbox)

    @property
    def isolation(self) -> Isolation | None:
        """Isolation of its own sandbox. None: the sandbox that all tasks share isolates."""
        return getattr(self._sandbox, "isolation", None)

    @property
    def sandbox(self) -> AsyncCodeRunner:
        """The sandbox that runs the code of this task."""
        return self._sandbox or shared_sandbox()

    def prompt(
        self,
        form: PromptForm = "text",
        *,
        timeout: float = 30.0,
        limits: RunLimits | None = None,
        submissions: int | None = None,
    ) -> Any:
        """Return the prompt for the start of an episode.

        Args:
            form: `description` for the texts of the task alone; `text` for them and how code runs, with all limits;
                `chat` for the same as a list of one message, as chat models and trainers take it.
            timeout: wall time of one run in seconds, as passed to `run`.
            limits: as passed to the sandbox. None means those of this task's sandbox if it exists already, else the
                defaults.
            submissions: number of submissions that are scored during the episode. With None the prompt does not
                mention feedback.

        Raises:
            InputError: if a number is out of range, or the form is unknown.
        """
        if form == "description":
            return self.description
        if form not in ("text", "chat"):
            raise InputError("prompt", [Problem("form", repr(form), "description, text or chat")], "")
        known = limits or (self._sandbox.limits if self._sandbox else None)
        text = build_prompt(self.description, timeout=timeout, limits=known, submissions=submissions)
        return text if form == "text" else [ChatMessage(role="user", content=text)]

    def run(self, code: str, *, scratch: Path | str | None = None, timeout: float = 30.0) -> RunResult:
        """Run a script over the public files; see `Sandbox.run`."""
        return self.sandbox.box.run(code, public=self.public, scratch=scratch, timeout=timeout)

    def grade(self, submission: RunResult | bytes | None) -> "GradeReport":
        """Grade a submission on the final part. The report is for the trainer; the agent must not see it.

        Args:
            submission: the result of `run`, or the bytes of its submission. None is a missing submission. Paths are
                refused, since an agent can write files.

        Raises:
            InputError: if `submission` is anything else.
        """
        from sandmill.models.reports import Outcome
        from sandmill.scoring.grading import grade_submission

        task, answers = self.private
        outcome = Outcome.OK
        if isinstance(submission, RunResult):
            outcome, submission = submission.outcome, submission.submission
        elif not isinstance(submission, bytes | None):
            hint = "An agent can write files: pass what the sandbox returned."
            saw = f"an object of type {type(submission).__name__}"
            raise InputError(
                "grade", [Problem("submission", saw, "a RunResult, its bytes, or None", hint)], "No grade."
            )
        if outcome is Outcome.OK:
            return grade_submission(submission, answers, task.facts, task.calibration)
        report = grade_submission(None, answers, task.facts, task.calibration)
        return report.model_copy(update={"outcome": outcome})

    def feedback(self, submission: RunResult | bytes) -> "FeedbackAnswer":
        """Return what the agent may know of a submission: rounded score, position and medal on the feedback part.

        This method does not count. An agent that asks often can infer labels: give it one `Feedback` object for each
        episode instead, or use `MLEnv`, which does.

        Raises:
            InputError: if `submission` is not a result of a run or its bytes.
        """
        from sandmill.models.reports import Outcome
        from sandmill.play.feedback import Feedback

        if isinstance(submission, bytes):
            submission = RunResult(outcome=Outcome.OK, isolation=Isolation.NONE, submission=submission)
        return Feedback(self.private, max_submissions=1).submit(submission)

    def explain_submission(self, submission: RunResult | bytes | None) -> "tuple[FactCredit, ...]":
        """Measure which stated facts the predictions for the final part use. The agent must not see the result.

        The first call of a task of tables with facts takes seconds.

        Returns:
            One entry for each stated fact that the rule uses; 0 without a valid submission. Empty for tasks without
            such facts, for other kinds than tables, and for answers that are labels.

        Raises:
            AccessDenied, FileMissing, InputError: if the private half or the public tables cannot be read.
        """
        if isinstance(submission, RunResult):
            from sandmill.play.score import submission_of

            submission = submission_of(submission)
        return self._explainer.explain(submission)

    @cached_property
    def _explainer(self) -> "SubmissionExplainer":
        from sandmill.play.explain import SubmissionExplainer

        return SubmissionExplainer(self.private, self.public)

    async def aexplain_submission(self, submission: RunResult | bytes | None) -> "tuple[FactCredit, ...]":
        """Measure which stated facts a submission uses; see `explain_submission`."""
        return await asyncio.to_thread(self.explain_submission, submission)

    async def aprompt(self, form: PromptForm = "text", **numbers: Any) -> Any:
        """Return the prompt; see `prompt`."""
        return await asyncio.to_thread(self.prompt, form, **numbers)

    async def apublic(self) -> Path:
        """Return the folder of the public files; see `public`."""
        return await asyncio.to_thread(lambda: self.public)

    async def arun(self, code: str, *, scratch: Path | str | None = None, timeout: float = 30.0) -> RunResult:
        """Run a script over the public files; see `run`. Cancelling the call ends the run."""
        return await self.sandbox.run(code, public=await self.apublic(), scratch=scratch, timeout=timeout)

    async def agrade(self, submission: RunResult | bytes | None) -> "GradeReport":
        """Grade a submission; see `grade`."""
        return await asyncio.to_thread(self.grade, submission)

    async def afeedback(self, submission: RunResult | bytes) -> "FeedbackAnswer":
        """Return feedback for the agent; see `feedback`."""
        return await asyncio.to_thread(self.feedback, submission)
