"""Sets of tasks for training and testing policies. The tasks come from releases or from folders of tables."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from sandmill.errors import InputError, Problem, count, name_some, shorten
from sandmill.models.base import OnProgress
from sandmill.models.package import TaskFacts, TaskFile
from sandmill.play.release import Release, load
from sandmill.play.task import EpisodeTask
from sandmill.store.files import cache_folder
from sandmill_learn.facts import FACTS_VERSION, facts_of
from sandmill_learn.line_cache import LineCache

_FACTS_FILE = "facts.jsonl"


@dataclass(frozen=True)
class LearningTask:
    """A task with what a policy reads of it."""

    task: EpisodeTask
    facts: tuple[str, ...]
    """Fact words, which are the prompt of a micro policy."""
    family: str
    """Unit of the statistics: tasks of one family are not independent. The design of a release, or the real table."""
    source: str
    """Where the task comes from: the reference of a release, or the name of a folder."""
    digest: str
    """Hash over the files of the task."""

    @property
    def id(self) -> str:
        """Name of the task, unique in its set."""
        return self.task.id


class TaskSet(Mapping[str, LearningTask]):
    """Tasks by id, in a fixed order. One set may hold tasks of several sources."""

    def __init__(self, tasks: Iterable[LearningTask]) -> None:
        """Gather tasks.

        Raises:
            InputError: two tasks have the same id.
        """
        listed = list(tasks)
        self._tasks = {task.id: task for task in listed}
        if len(self._tasks) < len(listed):
            counts = Counter(task.id for task in listed)
            doubled = [name for name, number in counts.items() if number > 1]
            problems = [Problem("tasks", f"{shorten(name)} twice", "ids that differ") for name in doubled]
            raise InputError("task set", problems, "")

    def __getitem__(self, task_id: str) -> LearningTask:
        return self._tasks[task_id]

    def __iter__(self) -> Iterator[str]:
        return iter(self._tasks)

    def __len__(self) -> int:
        return len(self._tasks)

    def __add__(self, other: "TaskSet") -> "TaskSet":
        """Return a set with the tasks of both.

        Raises:
            InputError: both hold a task of the same id.
        """
        return TaskSet([*self.tasks(), *other.tasks()])

    def __repr__(self) -> str:
        return f"TaskSet({count(len(self), 'task')})"

    @property
    def ids(self) -> tuple[str, ...]:
        """Ids of all tasks, in order."""
        return tuple(self._tasks)

    @property
    def families(self) -> dict[str, tuple[str, ...]]:
        """Ids of the tasks of each family."""
        found: dict[str, list[str]] = {}
        for task in self.tasks():
            found.setdefault(task.family, []).append(task.id)
        return {family: tuple(ids) for family, ids in found.items()}

    def tasks(self) -> list[LearningTask]:
        """Return all tasks, in order."""
        return list(self._tasks.values())

    def task(self, task_id: str) -> EpisodeTask:
        """Return a task for episodes.

        Raises:
            InputError: the set has no such task.
        """
        if task_id not in self._tasks:
            expected = f"a task of this set ({name_some(self._tasks, 5)})"
            raise InputError("task set", [Problem("task", repr(task_id), expected)], "")
        return self._tasks[task_id].task

    def select(
        self,
        *,
        ids: Collection[str] | None = None,
        families: Collection[str] | None = None,
        sources: Collection[str] | None = None,
        words: Collection[str] = (),
        where: Callable[[LearningTask], bool] | None = None,
    ) -> "TaskSet":
        """Return the tasks that meet every given condition, in order. The result may be empty.

        Args:
            ids: only these tasks.
            families: only tasks of these families.
            sources: only tasks of these sources.
            words: only tasks with all of these fact words.
            where: only tasks for which this returns True.
        """
        return TaskSet(
            task
            for task in self.tasks()
            if (ids is None or task.id in ids)
            and (families is None or task.family in families)
            and (sources is None or task.source in sources)
            and {*words} <= {*task.facts}
            and (where is None or where(task))
        )


class FactCache:
    """Facts by the digest of a task, kept on disk: they take a third of a second a task."""

    def __init__(self, cache: Path) -> None:
        self._kept = LineCache(cache / _FACTS_FILE)

    def facts_of(self, digest: str, public: Path, facts: TaskFacts) -> tuple[str, ...]:
        """Return the facts of a task; see `sandmill_learn.facts.facts_of`."""
        key = f"{FACTS_VERSION}/{digest}"
        if (known := self._kept.get(key)) is None:
            known = list(facts_of(public, facts))
            self._kept.put(key, known)
        return tuple(known)


def default_cache(cache: Path | None) -> Path:
    """Return the folder of the cache: the given one, or `learning` in the cache of public files."""
    return cache_folder() / "learning" if cache is None else cache


def from_release(
    ref: Release | Path | str,
    *,
    split: str | Sequence[str] | None = None,
    replicates: int = 0,
    test_rows: int | None = None,
    has_originals: bool = True,
    cache: Path | None = None,
    secret_file: Path | None = None,
    workers: int = 1,
    on_progress: OnProgress | None = None,
) -> TaskSet:
    """Return the tasks of a release, and fresh replicates of their designs.

    A replicate has rows, ids and answers of its own. Its task id and files follow from the release secret, so every
    call gives the same ones. `learning/replicates.py` says how its thresholds follow.

    Args:
        ref: a release with its private half, or its reference.
        split: only tasks of this split or of these splits. None takes all.
        replicates: further tasks of each design. They need the release secret.
        test_rows: rows of the final part of each replicate, and half as many feedback rows. None: as the design has. A
            smaller test runs and grades faster, and its score is less exact.
        has_originals: whether the published tasks are in the set. Their tests and further tables may have thousands of
            rows, which most of the time of their scripts goes into.
        cache: folder for replicates and facts. None means `learning` in the cache of public files.
        secret_file: the secret, for a release that was made with the operator's own. None means that of the dataset.
        workers: processes that render replicates. With more than one, the calling script needs a main guard.
        on_progress: called with the numbers of replicates that are rendered and that are asked for.

    Raises:
        ReleaseNotFound, RequestError: the release or the split does not exist.
        InputError: replicates are asked for and the secret cannot be read, or a number is out of range.
        AccessDenied, FileMissing: the private half cannot be read.
    """
    from sandmill_learn.replicates import make_replicates

    release, folder = (ref if isinstance(ref, Release) else load(ref)), default_cache(cache)
    known = FactCache(folder)
    splits = () if split is None else (split,) if isinstance(split, str) else tuple(split)
    digests = dict(release.facts.select("task_id", "digest").iter_rows())
    found, designs = [], dict[str, list[TaskFile]]()
    for task in release.open_tasks(release.select(split=splits)):
        file, digest = task.private.task, digests[task.id]
        # Tasks of a release have a design.
        assert isinstance(file, TaskFile)
        if has_originals:
            facts = known.facts_of(digest, task.public, file.facts)
            found.append(LearningTask(task, facts, file.spec.rows_key, release.ref, digest))
        designs.setdefault(file.spec.rows_key, []).append(file)
    if replicates:
        made = make_replicates(
            release, designs, replicates, test_rows, folder, secret_file, workers=workers, on_progress=on_progress
        )
        found += [
            LearningTask(
                task, known.facts_of(digest, task.public, task.private.task.facts), family, release.ref, digest
            )
            for task, family, digest in made
        ]
    return TaskSet(found)


def from_folder(
    folder: Path,
    *,
    cache: Path | None = None,
    workers: int = 1,
    on_progress: OnProgress | None = None,
    leave_out_unfit: bool = False,
) -> TaskSet:
    """Return the tasks of a folder, one folder a task: pulled ones, or tables of other people in the small layout.

    Tables in the small layout are measured with the panel of solvers, which takes seconds a table. Results are cached
    by the digest of the files, so that a call that was interrupted continues where it was.

    Args:
        folder: `<folder>/<task id>/` with `public/`, `private/` and, in the small layout, `task.json`, which
            `sandmill.models.table_task.TableTask` describes.
        cache: folder for measures and facts. None means `learning` in the cache of public files.
        workers: processes that measure tables. With more than one, the calling script needs a main guard.
        on_progress: called with the numbers of tables that are measured and that the folder has.
        leave_out_unfit: leave out tables on which no solver learns anything, with a warning. By default they are
            problems.

    Raises:
        InputError: the folder or a file is not as it should be; lists all problems of all tasks.
    """
    from sandmill_learn.table_folders import open_folder

    place, source = default_cache(cache), folder.resolve().name
    known = FactCache(place)
    return TaskSet(
        LearningTask(one.task, known.facts_of(one.digest, one.task.public, one.facts), one.family, source, one.digest)
        for one in open_folder(folder, place, workers, on_progress, leave_out=leave_out_unfit)
    )
