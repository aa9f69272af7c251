"""Tasks that all episodes of a process share, so that each is read once."""

from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import Protocol

from sandmill.play.release import Release, load
from sandmill.play.task import EpisodeTask

_MOST_TASKS = 1024
"""Tasks kept open. Each keeps its description, answers and calibration in memory."""


class OpenTasks(Protocol):
    """Tasks by name: `SharedTasks`, or a set of tasks of several sources."""

    def task(self, task_id: str) -> EpisodeTask:
        """Return a task. Equal ids give the same object.

        Raises:
            InputError: there is no such task.
        """
        ...


class SharedTasks:
    """The tasks of one release, opened at first use and kept."""

    def __init__(self, release: Release) -> None:
        self.release = release
        self._tasks: dict[str, EpisodeTask] = {}
        self._digests: dict[str, str] = {}
        self._lock = Lock()

    def task(self, task_id: str) -> EpisodeTask:
        """Return a task. Equal ids give the same object.

        Raises:
            ReleaseNotFound: if the release has no such task.
        """
        with self._lock:
            if task_id not in self._tasks:
                if len(self._tasks) >= _MOST_TASKS:
                    self._tasks.clear()
                self._tasks[task_id] = self.release.task(task_id)
            return self._tasks[task_id]

    def digest(self, task_id: str) -> str:
        """Return the hash over the files of a task, as exported rows have it. Needs the private half."""
        if task_id not in self._digests:
            self._digests[task_id] = self.release.record(task_id).digest
        return self._digests[task_id]


def share_tasks(release: Release | Path | str) -> SharedTasks:
    """Return the tasks of a release, which may be given by its reference. Equal references give the same object.

    Raises:
        ReleaseNotFound, StoreError: see `sandmill.load`.
    """
    return SharedTasks(release) if isinstance(release, Release) else _load(str(release))


@lru_cache(maxsize=16)
def _load(ref: str) -> SharedTasks:
    return SharedTasks(load(ref))
