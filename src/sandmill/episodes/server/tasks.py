"""Tasks that a server knows by id: folders of pulled tasks, and releases."""

import threading
from collections.abc import Callable, Sequence
from pathlib import Path

from sandmill.errors import InputError, Problem, name_some
from sandmill.models.episode import Score
from sandmill.models.names import task_id_fault
from sandmill.models.run import RunResult


class ServedTask:
    """One task: its public folder, and its grade."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.public = folder / "public"

    def grade(self, result: RunResult, preset: str) -> Score:
        """Grade a run on the final part."""
        from sandmill.episodes.score import score

        return score(self._folder, result, preset)

    def grade_bytes(self, submission: bytes) -> str:
        """Grade the content of a submission. Returns the report as JSON, without the exact feedback score."""
        from sandmill.grading import grade_submission
        from sandmill.grading.private_half import read_private

        facts, answers = read_private(self._folder)
        report = grade_submission(submission, answers, facts.facts, facts.calibration)
        return report.model_dump_json(exclude={"feedback_score"})


class ServedTasks:
    """All tasks of a server. A task of a release is pulled at its first use."""

    def __init__(self, sources: Sequence[str], cache: Path) -> None:
        """Find the tasks of each source, which is a folder of pulled tasks or a release.

        Raises:
            InputError: with all sources that hold no tasks.
        """
        self._openers: dict[str, Callable[[], Path]] = {}
        self._opened: dict[str, ServedTask] = {}
        self._lock = threading.Lock()
        problems: list[Problem] = []
        for number, source in enumerate(sources):
            try:
                self._add(source, cache / str(number))
            except InputError as error:
                problems += error.problems
        if problems:
            raise InputError("sandmill serve", problems, "Nothing was started.")

    def __len__(self) -> int:
        return len(self._openers)

    def __contains__(self, task_id: object) -> bool:
        return task_id in self._openers

    def problem(self, task_id: str) -> Problem | None:
        """Return the problem of an id that this server does not know; None if it knows it."""
        if task_id in self._openers:
            return None
        return Problem(
            "task_id", repr(task_id), f"a task of this server ({name_some(self._openers, 3) or 'it has none'})"
        )

    def open(self, task_id: str) -> ServedTask:
        """Return a task. It is pulled if it is not here yet."""
        with self._lock:
            if task_id not in self._opened:
                self._opened[task_id] = ServedTask(self._openers[task_id]())
            return self._opened[task_id]

    def _add(self, source: str, cache: Path) -> None:
        folders = _pulled_tasks(Path(source)) if "://" not in source else {}
        if folders:
            openers: dict[str, Callable[[], Path]] = {name: (lambda f=folder: f) for name, folder in folders.items()}  # type: ignore[misc]
        else:
            openers = _release_tasks(source, cache)
        if doubled := sorted(openers.keys() & self._openers.keys()):
            expected = "each task id in one source"
            raise InputError("sandmill serve", [Problem(source, f"again {name_some(doubled)}", expected)])
        self._openers |= openers


def _pulled_tasks(folder: Path) -> dict[str, Path]:
    """Return the task folders in a folder, or the folder itself if it is one task."""
    if not folder.is_dir():
        return {}
    folder = folder.resolve()
    found = [folder] if (folder / "public").is_dir() else sorted(folder.iterdir())
    return {
        one.name: one for one in found if (one / "public" / "description.md").is_file() and not task_id_fault(one.name)
    }


def _release_tasks(source: str, cache: Path) -> dict[str, Callable[[], Path]]:
    from sandmill.store.release import load

    release = load(source)
    has_answers = release.has_private

    def pull(task_id: str) -> Callable[[], Path]:
        return lambda: release.pull(cache, [task_id], public_only=not has_answers)[0]

    return {task_id: pull(task_id) for task_id in release.task_ids}
