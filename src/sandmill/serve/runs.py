"""Keep uploaded public folders, queue the runs of requests, and turn every outcome into a reply, never an exception."""

import logging
import shutil
import threading
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory, mkdtemp
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
from sandmill.sandbox.public_folder import check_names, check_public, digest_of
from sandmill.serve.queue import RunQueue, Ticket
from sandmill.serve.settings import ServerSettings
from sandmill.serve.tasks import ServedTasks

_MB = 1 << 20
_LOG = logging.getLogger(__name__)


class PublicFolders:
    """Public folders by the digest of their content. The least recently used are removed when there is no room."""

    def __init__(self, root: Path, most_bytes: int) -> None:
        self._root, self._most_bytes = root, most_bytes
        self._lock = threading.Lock()
        self._sizes: OrderedDict[str, int] = OrderedDict()
        self._users: Counter[str] = Counter()
        root.mkdir(mode=0o755)

    def add(self, files: Mapping[str, bytes]) -> str:
        """Store the files and return their digest.

        Raises `InputError` if the files cannot be a public folder, or are larger than all room of the server.
        """
        check_names(files)
        size = sum(map(len, files.values()))
        if not files or size > self._most_bytes:
            saw, expected = f"{len(files)} files of {size} bytes", f"files of at most {self._most_bytes} bytes together"
            raise InputError("public", [Problem("files", saw, expected)], "Nothing was stored.")
        digest = digest_of(files)
        with self._lock:
            if digest in self._sizes:
                self._sizes.move_to_end(digest)
                return digest
        draft = Path(mkdtemp(dir=self._root, prefix="draft-"))
        try:
            for name, content in files.items():
                path = draft / digest / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)
            for path in (draft / digest, *(draft / digest).rglob("*")):
                path.chmod(0o755 if path.is_dir() else 0o644)
            check_public(draft / digest)
            with self._lock:
                if digest not in self._sizes:
                    self._make_room(size)
                    (draft / digest).rename(self._root / digest)
                    self._sizes[digest] = size
        finally:
            shutil.rmtree(draft, ignore_errors=True)
        return digest

    @contextmanager
    def lend(self, digest: str) -> Iterator[Path | None]:
        """Yield the folder, which is not removed inside the block; None if the server does not have it."""
        with self._lock:
            if has_it := digest in self._sizes:
                self._sizes.move_to_end(digest)
                self._users[digest] += 1
        try:
            yield self._root / digest if has_it else None
        finally:
            if has_it:
                with self._lock:
                    self._users[digest] -= 1

    def find(self, digest: str) -> Path | None:
        """Return a folder that may be removed at any time; None if the server does not have it."""
        with self._lock:
            return self._root / digest if digest in self._sizes else None

    def _make_room(self, size: int) -> None:
        for digest in [digest for digest in self._sizes if not self._users[digest]]:
            if sum(self._sizes.values()) + size <= self._most_bytes:
                return
            del self._sizes[digest]
            shutil.rmtree(self._root / digest, ignore_errors=True)


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
