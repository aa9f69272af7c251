"""What several adapters share: open tasks, references to them in rows, the sandbox of their settings."""

import json
import os
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import Any, Protocol

from sandmill.errors import InputError, Problem, shorten
from sandmill.play.release import Release, load
from sandmill.play.task import AsyncCodeRunner, EpisodeTask

_MOST_TASKS = 1024
"""Tasks kept open. Each keeps its description, answers and calibration in memory."""
RELEASE_VARIABLE = "SANDMILL_RELEASE"
"""Environment variable that names a release for all processes of a trainer."""
_CONCURRENCY = 32
"""Runs at a time on all servers together. Their queues decide how many of them work."""


class OpenTasks(Protocol):
    """Tasks by name: `SharedTasks`, or a set of tasks of several sources."""

    def task(self, task_id: str) -> EpisodeTask:
        """Return a task. Equal ids give the same object. An unknown id is an `InputError`."""


class SharedTasks:
    """The tasks of one release, opened at first use and kept."""

    def __init__(self, release: Release) -> None:
        self.release = release
        self._open, self._lock = lru_cache(_MOST_TASKS)(release.task), Lock()
        self.digest = lru_cache(maxsize=None)(lambda task_id: release.record(task_id).digest)
        """Returns the hash over the files of a task, as exported rows have it. Needs the private half."""

    def task(self, task_id: str) -> EpisodeTask:
        """Return a task. Equal ids give the same object. An unknown id is a `ReleaseNotFound`."""
        with self._lock:
            return self._open(task_id)


def share_tasks(release: Release | Path | str) -> SharedTasks:
    """Return the tasks of a release, which may be given by its reference. Equal references give the same object.

    Raises `ReleaseNotFound` or `StoreError` if see `sandmill.load`.
    """
    return SharedTasks(release) if isinstance(release, Release) else _load(str(release))


@lru_cache(maxsize=16)
def _load(ref: str) -> SharedTasks:
    return SharedTasks(load(ref))


def graded_tasks(ref: Path | str) -> SharedTasks:
    """Return the tasks of a release whose private half can be read.

    Raises `InputError` if `ref` is empty, or the private half cannot be read here. Raises `ReleaseNotFound` if there is
    no such release.
    """
    if not str(ref):
        expected = "<root>/<dataset>, local or s3://, with or without a version"
        raise InputError("adapter", [Problem("release", "nothing", expected)], "")
    tasks = share_tasks(ref)
    if not tasks.release.has_private:
        hint = "Grades need it. Use credentials that may read private/, or a copy with both halves."
        raise InputError(tasks.release.ref, [Problem("private half", "no readable file", "both halves", hint)], "")
    return tasks


def name_release(given: str, where: str) -> str:
    """Return the reference of the release: the given one, else that of the environment variable.

    Raises `InputError` if neither is there. The message names the setting `where`.
    """
    if named := given or os.environ.get(RELEASE_VARIABLE, ""):
        return named
    hint = f"Set {where}, or the environment variable {RELEASE_VARIABLE}."
    raise InputError("release", [Problem("release", "none", "the reference of a release", hint)], "No score.")


def read_reference(ground_truth: Any, tasks: SharedTasks) -> str:
    """Return the task id of a row.

    The ground truth is the id, or a JSON object with `task_id` and `digest`. The digest must be that of the task in the
    release that grades: rows of another version would be graded by other answers.

    Raises:
        InputError: it is neither, or the digest differs.
        ReleaseNotFound: the release has no such task.
    """
    if isinstance(ground_truth, str) and not ground_truth.lstrip().startswith("{"):
        return ground_truth
    try:
        reference = json.loads(ground_truth)
        task_id, wanted = str(reference["task_id"]), reference.get("digest")
    except (ValueError, KeyError, TypeError) as error:
        expected = "a task id, or a JSON object with task_id and digest"
        problem = Problem("ground_truth", shorten(repr(ground_truth)), expected)
        raise InputError("dataset row", [problem], "No score.") from error
    if wanted and (found := tasks.digest(task_id)) != wanted:
        hint = f"Export the rows again from {tasks.release.ref}, or name the version that they were exported from."
        problem = Problem(f"task {task_id}", f"digest {shorten(str(wanted))}", f"digest {found}", hint)
        raise InputError("dataset row", [problem], "No score.")
    return task_id


def choose_sandbox(servers: Sequence[str] | str = (), token_file: str = "") -> AsyncCodeRunner:
    """Return a sandbox: on servers with these addresses and the token of a file, else on this machine.

    Equal arguments give the same object.

    Raises:
        SandboxUnavailable: without servers, if this machine cannot isolate runs or the agent environment is missing.
        InputError: an address or the token file cannot be used.
    """
    from sandmill.play.task import shared_sandbox

    addresses = (servers,) if isinstance(servers, str) else tuple(servers)
    return _reach(addresses, token_file) if any(addresses) else shared_sandbox()


@lru_cache(maxsize=8)
def _reach(addresses: tuple[str, ...], token_file: str) -> AsyncCodeRunner:
    from sandmill.sandbox import AsyncSandbox, RemoteSandbox

    try:
        token = Path(token_file).read_text(encoding="utf-8").strip()
    except (OSError, ValueError) as error:
        problem = Problem("token_file", f"{token_file!r}: {error}", "a readable file with the token of the servers")
        raise InputError("servers", [problem], "") from error
    return AsyncSandbox.over(RemoteSandbox(addresses, token=token), concurrency=_CONCURRENCY)
