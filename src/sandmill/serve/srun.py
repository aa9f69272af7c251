"""The job API of SandMLE's trainer, so that the released trainer runs without Slurm.

The fields were read in `examples/deepresearch/srun_api.py` and `deepresearch_tools.py` of Tonyzhou98/SandMLE, commit
6a216c6. The trainer writes a script to `OUTPUT/TASK_ID/TIMESTAMP/main_*.py`, where OUTPUT is its
`DEEPRESEARCH_OUTPUT_DIR`, and sends the path. It polls the state and the last log lines, cancels the job after its own
time limit, and then looks for `submission.csv` beside the script. So server and trainer share OUTPUT as `srun_root`.

| endpoint | fields that are served |
|---|---|
| `POST /run` | takes `script_path` and `timeout`; returns `job_id`, `workdir`, `stdout`, `stderr` |
| `GET /status/ID` | `state` (PENDING, RUNNING, COMPLETED), `returncode`, `timed_out`, times, paths; no `pid` |
| `GET /logs/ID` | `stdout_tail`, `stderr_tail`, paths; the output is there when the job has ended |
| `POST /cancel/ID` | `cancelled`, `reason` |

`time`, `cpus`, `mem`, `gres_gpus`, `conda_env` and `job_name` are ignored, since the limits of the server hold.
`pre_cmds` is refused, since the server runs Python code and no shell commands. The trainer sends no header, but accepts
an address with the token as password: `SRUN_API_URL=http://sandmill:TOKEN@host:port`.
"""

import os
import re
import secrets
import threading
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

from fastapi import FastAPI, HTTPException
from pydantic import Field

from sandmill.errors import shorten
from sandmill.models.base import Frozen
from sandmill.models.layout import SUBMISSION
from sandmill.models.remote import RunReply
from sandmill.models.reports import Outcome
from sandmill.serve.queue import Ticket
from sandmill.serve.runs import RunService

_MOST_JOBS = 1000
"""Ended jobs whose output is kept."""
_MOST_SCRIPT_BYTES = 1 << 20
_MOST_LINES = 10_000
_CANCEL_WAIT_S = 20.0
"""Longest wait for the end of a cancelled job, in seconds."""
_RUNS_WELL = frozenset({Outcome.OK, Outcome.NO_SUBMISSION})


class SrunRequest(Frozen):
    """Body of `POST /run`."""

    script_path: str
    timeout: int | None = Field(default=0, ge=0)
    """Seconds; 0 means the longest that the server allows."""
    pre_cmds: str | None = None
    time: str | None = None
    cpus: int | None = None
    mem: str | None = None
    gres_gpus: str | None = None
    conda_env: str | None = None
    job_name: str | None = None


@dataclass
class _SlurmJob:
    script: Path
    job_id: str = field(default_factory=lambda: secrets.token_hex(16))
    submitted: datetime = field(default_factory=lambda: datetime.now(UTC))
    started: datetime | None = None
    ended: datetime | None = None
    ticket: Ticket[RunReply] | None = None
    reply: RunReply | None = None

    @property
    def paths(self) -> dict[str, str]:
        """Paths that the trainer shows in its messages. The output itself is served by `GET /logs/ID`."""
        stem = self.script.with_suffix("")
        return {"workdir": str(self.script.parent), "stdout": f"{stem}.out", "stderr": f"{stem}.err"}


class _Jobs:
    """Starts jobs and remembers them. The public methods are the endpoints."""

    def __init__(self, service: RunService, root: Path) -> None:
        self._service, self._root = service, root.resolve()
        self._lock = threading.Lock()
        self._jobs: dict[str, _SlurmJob] = {}

    def run(self, request: SrunRequest) -> dict[str, str]:
        if request.pre_cmds:
            raise HTTPException(400, "pre_cmds: this server runs Python code and no shell commands")
        script = self._locate(request.script_path)
        task_id = script.relative_to(self._root).parts[0]
        if problem := self._service.tasks.problem(task_id):
            expected = f"OUTPUT/TASK_ID/RUN/main.py with {problem.expected}"
            raise HTTPException(400, f"script_path: saw the task id {shorten(task_id)!r}; expected {expected}")
        code = _without_paths(_read_script(script), task_id)
        longest = self._service.settings.timeout_s
        timeout_s = min(float(request.timeout or longest), longest)
        job = _SlurmJob(script)

        def work(cancel: threading.Event, scratch: Path | None) -> RunReply:
            job.started = datetime.now(UTC)
            reply = self._service.run_task(task_id, code, timeout_s, cancel, scratch)
            if reply.submission is not None:
                reply = _write_submission(script.parent, reply)
            job.reply = reply.model_copy(update={"submission": None})
            job.ended = datetime.now(UTC)
            return job.reply

        scratch_id = sha256(str(script.parent).encode()).hexdigest()[:32]
        (job.ticket,) = self._service.submit([(scratch_id, work)])
        with self._lock:
            self._jobs[job.job_id] = job
            for known in [known for known, one in self._jobs.items() if one.ended][:-_MOST_JOBS]:
                del self._jobs[known]
        return {"job_id": job.job_id, **job.paths}

    def status(self, job_id: str) -> dict[str, Any]:
        job = self._find(job_id)
        outcome = job.reply.outcome if job.reply else None
        return {
            "job_id": job_id,
            "state": "COMPLETED" if job.ended else "RUNNING" if job.started else "PENDING",
            "pid": None,
            "slurm_job_id": None,
            "returncode": None if outcome is None else int(outcome not in _RUNS_WELL),
            "timed_out": outcome is Outcome.TIMEOUT,
            "start_time": (job.started or job.submitted).isoformat(),
            "end_time": job.ended.isoformat() if job.ended else None,
            **job.paths,
        }

    def logs(self, job_id: str, tail_lines: int = 200) -> dict[str, str]:
        job, lines = self._find(job_id), min(max(0, tail_lines), _MOST_LINES)
        reply = job.reply
        stdout, stderr = (reply.stdout, reply.stderr) if reply else ("", "")
        if reply and reply.detail and reply.outcome is not Outcome.NO_SUBMISSION:
            stderr = f"{stderr.rstrip()}\nsandmill: {reply.outcome}: {reply.detail}".lstrip()
        paths = {f"{name}_path": job.paths[name] for name in ("stdout", "stderr")}
        return {"stdout_tail": _last_lines(stdout, lines), "stderr_tail": _last_lines(stderr, lines), **paths}

    def cancel(self, job_id: str) -> dict[str, Any]:
        job = self._find(job_id)
        facts: dict[str, Any] = {"job_id": job_id, "slurm_job_id": None}
        if job.ended or job.ticket is None:
            return {**facts, "cancelled": False, "reason": "already finished"}
        job.ticket.cancel.set()
        with suppress(TimeoutError):
            job.ticket.future.result(_CANCEL_WAIT_S)
        return {**facts, "cancelled": True, "used_scancel": False}

    def _find(self, job_id: str) -> _SlurmJob:
        with self._lock:
            job = self._jobs.get(job_id)
        if job is None:
            raise HTTPException(404, "job not found")
        return job

    def _locate(self, script_path: str) -> Path:
        """Return the path of a script. Links that lead out of the shared folder are refused."""
        try:
            script = Path(script_path).resolve(strict=True)
        except (OSError, ValueError, RuntimeError):
            raise HTTPException(400, f"script not found: {shorten(script_path, 200)}") from None
        if not script.is_relative_to(self._root) or len(script.relative_to(self._root).parts) < 2:
            raise HTTPException(400, f"script_path lies outside of {self._root}/TASK_ID (--srun-root)")
        return script


def add_srun(app: FastAPI, service: RunService, root: Path) -> None:
    """Add the endpoints to a server."""
    jobs = _Jobs(service, root)
    app.post("/run")(jobs.run)
    app.get("/status/{job_id}")(jobs.status)
    app.get("/logs/{job_id}")(jobs.logs)
    app.post("/cancel/{job_id}")(jobs.cancel)


def _write_submission(folder: Path, reply: RunReply) -> RunReply:
    """Write the submission beside the script, where the trainer looks for it."""
    draft = folder / f".{SUBMISSION}.{secrets.token_hex(4)}"
    try:
        draft.write_bytes(reply.submission or b"")
        draft.replace(folder / SUBMISSION)
    except OSError as error:
        draft.unlink(missing_ok=True)
        detail = f"submission.csv could not be written to {folder}: {error.strerror}"
        return reply.model_copy(update={"outcome": Outcome.INFRA_ERROR, "detail": detail})
    return reply


def _read_script(script: Path) -> str:
    try:
        descriptor = os.open(script, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as file:
            text = file.read(_MOST_SCRIPT_BYTES + 1)
    except OSError as error:
        raise HTTPException(400, f"script_path cannot be read as a file: {error.strerror}") from None
    if len(text) > _MOST_SCRIPT_BYTES:
        raise HTTPException(400, f"the script has more than {_MOST_SCRIPT_BYTES} bytes")
    return text.decode(errors="replace")


def _without_paths(code: str, task_id: str) -> str:
    """Replace the trainer's folder `.../TASK_ID/prepared` by the working directory, which holds `public/`.

    The prompt of the trainer names absolute paths of its own machine, and they do not exist inside the sandbox. The
    reversed text is searched, so that each match begins with the task's id: a search for the folders before it would
    start at each slash, which takes time that grows with the square of the script.
    """
    ending = re.escape(f"/{task_id}/prepared"[::-1])
    return re.sub(rf"(?<![\w.-]){ending}(?:[^\s/\"'`]++/)*", ".", code[::-1])[::-1]


def _last_lines(text: str, lines: int) -> str:
    return "\n".join(text.splitlines()[-lines:]) if lines else ""
