"""Tasks that a server knows by id: folders of pulled tasks, and releases."""

import threading
from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from pathlib import Path

from sandmill.errors import InputError, Problem, name_some
from sandmill.models.names import split_fresh_id, task_id_fault
from sandmill.play.release import Release, load, open_task
from sandmill.play.task import EpisodeTask

_MOST_FRESH = 256
"""Fresh tasks that are kept. Each holds its rows in memory and its public files on disk."""


class ServedTasks:
    """All tasks of a server. A task of a release is read at its first use."""

    def __init__(self, sources: Sequence[str]) -> None:
        """Find the tasks of each source, which is a folder of pulled tasks or a release.

        Raises `InputError` with all sources that hold no tasks.
        """
        self.releases: list[Release] = []
        self._openers: dict[str, Callable[[], EpisodeTask]] = {}
        self._opened = lru_cache(maxsize=None)(lambda name: self._openers[name]())
        self._fresh = lru_cache(_MOST_FRESH)(lambda name, group: self._opened(name).fresh(group))
        self._lock = threading.Lock()
        problems: list[Problem] = []
        for source in sources:
            try:
                openers = self._find(source)
            except InputError as error:
                problems += error.problems
                continue
            if doubled := sorted(openers.keys() & self._openers.keys()):
                problems.append(Problem(source, f"again {name_some(doubled)}", "each task id in one source"))
            self._openers |= openers
        if problems:
            raise InputError("sandmill serve", problems, "Nothing was started.")

    def _find(self, source: str) -> dict[str, Callable[[], EpisodeTask]]:
        """Return what opens each task of a release, of a folder of pulled tasks, or of one pulled task, by id."""
        if "://" not in source and Path(source).is_dir():
            folder = Path(source).resolve()
            found = [folder] if (folder / "public").is_dir() else sorted(folder.iterdir())
            pulled = [one for one in found if (one / "public" / "description.md").is_file()]
            if named := [one for one in pulled if not task_id_fault(one.name)]:
                return {one.name: partial(open_task, one) for one in named}
        release = load(source)
        self.releases.append(release)
        return {task_id: partial(release.task, task_id) for task_id in release.task_ids}

    def __len__(self) -> int:
        return len(self._openers)

    def problem(self, task_id: str) -> Problem | None:
        """Return the problem of an id that this server does not know; None if it knows it."""
        if split_fresh_id(task_id)[0] in self._openers:
            return None
        known = name_some(self._openers, 3) or "it has none"
        return Problem("task_id", repr(task_id), f"a task of this server ({known})")

    def open(self, task_id: str) -> EpisodeTask:
        """Return a task. All runs of a task share its public files and its answers in memory."""
        name, group = split_fresh_id(task_id)
        with self._lock:
            return self._opened(name) if group is None else self._fresh(name, group)
