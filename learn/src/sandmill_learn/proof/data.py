"""The tasks of the proof: synthetic ones to learn from and to choose checkpoints on, real ones to be scored on."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from sandmill.errors import InputError, Problem
from sandmill.play.release import load
from sandmill_learn.executions import Executor
from sandmill_learn.proof.settings import ProofSettings
from sandmill_learn.task_sets import TaskSet, from_folder, from_release

DEVELOPMENT, FINAL = "development", "final"
WORKERS = 2
"""Processes that render replicates and measure tables."""
_VALIDATION_REPLICATES = 3
"""Renderings of each validation design."""
_OFTEN = 20
"""Items after which the progress is told again."""

Say = Callable[[str], None]


@dataclass(frozen=True)
class ProofData:
    """All tasks, and one executor for each use, so that executions are counted apart."""

    training: TaskSet
    validation: TaskSet
    development: TaskSet
    final: TaskSet
    cache: Path
    timeout: float
    on_progress: Callable[[int, int], None] | None = None
    """Called after each script, by all executors."""

    def learner(self) -> Executor:
        """Return a new executor of training and validation tasks, whose counts begin at 0."""
        return self._executor(self.training + self.validation)

    def tester(self) -> Executor:
        """Return a new executor of the real tables."""
        return self._executor(self.development + self.final)

    def _executor(self, tasks: TaskSet) -> Executor:
        return Executor(tasks, cache=self.cache, timeout=self.timeout, on_progress=self.on_progress)


def open_data(settings: ProofSettings, say: Say, on_progress: Callable[[int, int], None] | None = None) -> ProofData:
    """Open the release, render replicates, and write and measure the real tables if no folder of them is given.

    Args:
        settings: of the proof.
        say: gets a message for each part of the work, and now and then how far it is.
        on_progress: called after each script of an arm.

    Raises:
        ReleaseNotFound: there is no such release.
        InputError: the folder of real tables lacks a part.
    """
    cache = settings.to / "cache"
    release = load(settings.release)
    render = partial(
        from_release,
        release,
        test_rows=settings.test_rows,
        # Published tasks have 5,000 final rows and, some of them, events by the ten thousand.
        has_originals=not settings.replicates,
        cache=cache,
        workers=WORKERS,
        on_progress=counted(say, "replicates rendered"),
    )
    training = render(split="train", replicates=settings.replicates)
    validation = TaskSet([])
    if settings.validation_tasks and "validation" in release.tasks["split"].to_list():
        found = render(split="validation", replicates=min(settings.replicates, _VALIDATION_REPLICATES))
        validation = found.select(ids=found.ids[: settings.validation_tasks])
    real = settings.real or _write_real_tables(settings)
    parts = {name: _open_part(settings, real / name, cache, say) for name in (DEVELOPMENT, FINAL)}
    return ProofData(training, validation, parts[DEVELOPMENT], parts[FINAL], cache, settings.timeout, on_progress)


def counted(say: Say, what: str) -> Callable[[int, int], None]:
    """Return a function that tells now and then how far a long piece of work is."""

    def tell(done: int, total: int) -> None:
        if done % _OFTEN == 0 or done == total:
            say(f"{done} of {total} {what}")

    return tell


def _open_part(settings: ProofSettings, folder: Path, cache: Path, say: Say) -> TaskSet:
    """Open one part, with the first tables and draws that are asked for."""
    if not folder.is_dir():
        expected = f"folders {DEVELOPMENT} and {FINAL} in it"
        raise InputError("proof", [Problem("--real", f"no folder {folder}", expected)], "Nothing was trained.")
    measured = counted(say, f"{folder.name} tables measured")
    tasks = from_folder(folder, cache=cache, workers=WORKERS, on_progress=measured, leave_out_unfit=True)
    families = list(tasks.families)[: settings.tables or None]
    draws = {f"d{number}" for number in range(settings.draws)}
    return tasks.select(families=families, where=lambda task: task.id.rpartition(".")[2] in draws or "." not in task.id)


def _write_real_tables(settings: ProofSettings) -> Path:
    """Write the registered tables, or the first of each part, so that no other ones are measured."""
    from sandmill_learn.real.registry import RealSplit, select_tables
    from sandmill_learn.real.tables import write_tables

    folder = settings.to / ("real" if not settings.tables else f"real-{settings.tables}")
    parts: tuple[RealSplit, ...] = ("development", "final")
    for part in parts:
        names = [table.name for table in select_tables(part)][: settings.tables or None]
        write_tables(folder / part, part, settings.draws, names=names)
    return folder
