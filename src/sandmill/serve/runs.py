"""Check requests, queue their runs, and turn every outcome into a reply. A run never ends in an exception."""

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event

from fastapi import HTTPException

from sandmill.errors import InputError, Problem, SandmillError
from sandmill.models.remote import RunReply, RunRequest, ScoreReply, ScoreRequest, ScratchChanges, limits_above
from sandmill.models.reports import Outcome
from sandmill.models.rollout import Score
from sandmill.models.run import RunResult
from sandmill.play.score import score
from sandmill.sandbox import Sandbox
from sandmill.sandbox.carried import MOST_NAME_BYTES, changes_of, hashes_of, read_scratch, skipped_note, write_scratch
from sandmill.serve.folders import PublicFolders
from sandmill.serve.queue import RunQueue, Ticket
from sandmill.serve.settings import ServerSettings
from sandmill.serve.tasks import ServedTasks

_MB = 1 << 20
_LOG = logging.getLogger(__name__)


class RunService:
    """Runs code of requests in the sandbox."""

    def __init__(
        self, box: Sandbox, tasks: ServedTasks, queue: RunQueue, settings: ServerSettings, state: Path
    ) -> None:
        self.box, self.tasks, self.queue, self.settings = box, tasks, queue, settings
        self.publics = PublicFolders(state / "public", settings.public_bytes)
        self._carried = state / "carried"
        self._carried.mkdir(mode=0o700)

    def submit_runs(self, requests: Sequence[RunRequest]) -> list[Ticket[RunReply]]:
        """Queue all runs of a request or none.

        Raises `InputError` with the problems of all runs. Raises `HTTPException` if a public folder must be uploaded
        first. Raises `QueueFull` or `BatchTooLarge` if the queue has no room.
        """
        self._check(requests)
        if any(request.public and not self.publics.find(request.public) for request in requests):
            raise HTTPException(404, "unknown public folder: upload it to /v1/public first")
        jobs = [partial(self._run, request) for request in requests]
        return self.queue.submit(jobs, [self._reply_bytes(request) for request in requests])

    def submit_scores(self, requests: Sequence[ScoreRequest]) -> list[Ticket[ScoreReply]]:
        """Queue runs whose submissions are graded. Raises the errors of `submit_runs`."""
        runs = [RunRequest.model_validate(one.model_dump(exclude={"preset"})) for one in requests]
        self._check(runs)
        nothing = RunResult(outcome=Outcome.NO_CODE, isolation=self.box.isolation)
        for task_id, preset in {(one.task_id, one.preset) for one in requests}:
            # A task without answers or an unknown preset is refused before anything runs.
            score(self.tasks.open(task_id), nothing, preset)

        def job(run: RunRequest, request: ScoreRequest) -> Callable[[Event], ScoreReply]:
            return lambda cancel: self._grade(self._run(run, cancel), request)

        return self.queue.submit([job(run, one) for run, one in zip(runs, requests, strict=True)])

    def _check(self, requests: Sequence[RunRequest]) -> None:
        problems = [problem for place, one in enumerate(requests) for problem in self._problems(f"runs.{place}", one)]
        if problems:
            raise InputError("request", problems, "Nothing was run.")

    def _problems(self, place: str, request: RunRequest) -> Iterator[Problem]:
        if request.task_id and (problem := self.tasks.problem(request.task_id)):
            yield Problem(f"{place}.task_id", problem.saw, problem.expected)
        if (request.timeout or 0) > self.settings.timeout_s:
            yield Problem(f"{place}.timeout", f"{request.timeout:g}", f"at most {self.settings.timeout_s:g} seconds")
        if request.limits and (above := limits_above(request.limits, self.box.limits)):
            saw, expected = (
                ", ".join(f"{name} {getattr(limits, name)}" for name in above)
                for limits in (request.limits, self.box.limits)
            )
            yield Problem(f"{place}.limits", saw, f"at most the limits of the server: {expected}")

    def _reply_bytes(self, request: RunRequest) -> int:
        """Return the bytes that a reply can have in memory."""
        limits = request.limits or self.box.limits
        most = limits.submission_mb * _MB + 2 * limits.output_kb * 1024
        if request.scratch is None:
            return most
        return most + min(request.scratch_bytes, self.settings.reply_bytes) + 2 * MOST_NAME_BYTES

    def _run(self, request: RunRequest, cancel: Event) -> RunReply:
        try:
            reply = self._failure("cancelled") if cancel.is_set() else self._run_safely(request, cancel)
        except SandmillError as error:
            return self._failure(str(error))
        except Exception as error:  # noqa: BLE001 - one run must not end the others of its batch
            _LOG.exception("A run failed in the server. This is a bug. Please report it.")
            return self._failure(f"the server failed: {type(error).__name__}")
        # A cancelled run looks like one that the kernel killed, which would be a failure of the agent.
        return self._failure("cancelled") if cancel.is_set() else reply

    def _run_safely(self, request: RunRequest, cancel: Event) -> RunReply:
        with ExitStack() as stack:
            if request.task_id:
                public: Path | None = self.tasks.open(request.task_id).public
            else:
                public = stack.enter_context(self.publics.lend(request.public or ""))
            if public is None:
                return self._failure("the server has removed the public folder; upload it again")
            scratch, not_sent = None, list[str]()
            if request.scratch is not None:
                # The agent has filled the folder. It must not cause an `infra_error`, also not when it is removed.
                draft = TemporaryDirectory(dir=self._carried, ignore_cleanup_errors=True)
                scratch = Path(stack.enter_context(draft))
                not_sent = write_scratch(scratch, request.scratch)
            box = self.box.with_limits(request.limits or self.box.limits)
            timeout = request.timeout or self.settings.timeout_s
            result = box.run(request.code, public=public, scratch=scratch, timeout=timeout, cancel=cancel)
            if request.scratch is None or scratch is None:
                return RunReply.of(result)
            try:
                most_bytes = min(request.scratch_bytes, self.settings.reply_bytes)
                after = read_scratch(scratch, most_bytes, self.box.limits.inodes)
                changes = changes_of(hashes_of(request.scratch), after)
                note = skipped_note(not_sent, "brought in") + skipped_note(after.skipped, "kept")
            except Exception:  # noqa: BLE001 - the agent chose names and contents, and must not cause an `infra_error`
                _LOG.exception("A scratch folder could not be read. This is a bug. Please report it.")
                changes, note = ScratchChanges(), "; the scratch folder could not be read"
            detail = (result.detail + note).removeprefix("; ")
            return RunReply.of(result.model_copy(update={"detail": detail}), changes)

    def _grade(self, reply: RunReply, request: ScoreRequest) -> ScoreReply:
        try:
            graded = score(self.tasks.open(request.task_id), reply.result(), request.preset)
        except Exception as error:  # noqa: BLE001 - one grade must not end the others of its batch
            # Task and preset have graded an empty run before this one was queued, so the submission is the cause.
            _LOG.exception("Grading failed in the server. This is a bug. Please report it.")
            problem = f"grading failed: {type(error).__name__}"
            graded = Score(outcome=Outcome.INVALID_SUBMISSION, reward=0.0, problems=(problem,))
        return ScoreReply(score=graded, result=reply.model_copy(update={"submission": None}))

    def _failure(self, detail: str) -> RunReply:
        return RunReply(outcome=Outcome.INFRA_ERROR, isolation=self.box.isolation, detail=detail)
