"""Tasks that a server knows by id: folders of pulled tasks, and releases."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from pathlib import Path

from sandmill.errors import InputError, Problem, SandmillError, name_some
from sandmill.kinds.files.base import SAMPLE
from sandmill.models.names import split_fresh_id, task_id_fault
from sandmill.play.release import load, open_task
from sandmill.play.task import EpisodeTask
from sandmill.scoring.decoding import read_plain
from sandmill.scoring.forms import form_of
from sandmill.scoring.forms.base import NUMBER_BYTES
from sandmill.scoring.grading.private_half import read_regular_file
from sandmill.scoring.submission import most_bytes

_MOST_SAMPLE_BYTES = 4 << 20
_MOST_FRESH = 256
"""Fresh tasks that are kept. Each holds its rows in memory and its public files on disk."""
_MOST_SIZES = 100_000
"""Tasks whose largest submission is remembered."""
_SAMPLE_SLACK = 16
"""Factor on a sample of numbers up to which a submission is copied. The grader accepts about a quarter of it."""


class ServedTasks:
    """All tasks of a server. A task of a release is read at its first use."""

    def __init__(self, sources: Sequence[str]) -> None:
        """Find the tasks of each source, which is a folder of pulled tasks or a release.

        Raises `InputError` with all sources that hold no tasks.
        """
        self._openers: dict[str, Callable[[], EpisodeTask]] = {}
        self._opened: dict[str, EpisodeTask] = {}
        self._fresh: OrderedDict[str, EpisodeTask] = OrderedDict()
        self._submission_bytes: dict[str, int | None] = {}
        self._lock = threading.Lock()
        problems: list[Problem] = []
        for source in sources:
            try:
                openers = _openers(source)
            except InputError as error:
                problems += error.problems
                continue
            if doubled := sorted(openers.keys() & self._openers.keys()):
                problems.append(Problem(source, f"again {name_some(doubled)}", "each task id in one source"))
            self._openers |= openers
        if problems:
            raise InputError("sandmill serve", problems, "Nothing was started.")

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
        with self._lock:
            if task_id in self._fresh:
                self._fresh.move_to_end(task_id)
                return self._fresh[task_id]
            name, group = split_fresh_id(task_id)
            if name not in self._opened:
                self._opened[name] = self._openers[name]()
            if group is None:
                return self._opened[name]
            self._fresh[task_id] = self._opened[name].fresh(group)
            if len(self._fresh) > _MOST_FRESH:
                self._fresh.popitem(last=False)
            return self._fresh[task_id]

    def submission_bytes(self, task_id: str) -> int | None:
        """Return the size of the largest submission that a grader of this task may accept; None if it is not known."""
        if task_id not in self._submission_bytes:
            task = self.open(task_id)
            if len(self._submission_bytes) >= _MOST_SIZES:
                self._submission_bytes.clear()
            try:
                facts, answers = task.private.task.facts, task.private.answers
                most: int | None = most_bytes(facts, form_of(facts).row_ids(answers.ids, facts, answers.lengths))
            except (SandmillError, OSError):
                most = sampled_bytes(task.public)
            self._submission_bytes[task_id] = most
        return self._submission_bytes[task_id]


def _openers(source: str) -> dict[str, Callable[[], EpisodeTask]]:
    """Return what opens each task of a release, of a folder of pulled tasks, or of one pulled task, by id."""
    if "://" not in source and Path(source).is_dir():
        folder = Path(source).resolve()
        found = [folder] if (folder / "public").is_dir() else sorted(folder.iterdir())
        pulled = [one for one in found if (one / "public" / "description.md").is_file()]
        if named := [one for one in pulled if not task_id_fault(one.name)]:
            return {one.name: partial(open_task, one) for one in named}
    release = load(source)
    return {task_id: partial(release.task, task_id) for task_id in release.task_ids}


@lru_cache(maxsize=4096)
def sampled_bytes(public: Path) -> int | None:
    """Return a generous size of the largest submission, from a sample submission of numbers.

    None if there is no such sample. Of texts and lists a sample does not tell how long they may be.
    """
    try:
        content = read_regular_file(public / SAMPLE, _MOST_SAMPLE_BYTES)
        table = read_plain(content.decode()) if content and len(content) <= _MOST_SAMPLE_BYTES else None
        if content is None or table is None or not table.rows or len(table.header) < 2:
            return None
        number_cells = sum(len(list(map(float, column))) for column in table.columns[1:])
    except (InputError, ValueError):
        return None
    return _SAMPLE_SLACK * (len(content) + number_cells * NUMBER_BYTES)
