"""Write an export of a release into a new folder, whole or not at all."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path, PurePosixPath
from pkgutil import resolve_name
from typing import Any

from sandmill.errors import IntegrityError, Problem, RequestError
from sandmill.export.base import FORMATS, Export, ExportTask
from sandmill.models.base import OnProgress
from sandmill.store.part_files import reading_in_sequence
from sandmill.store.pull import check_new_folder, write_new_folder
from sandmill.store.release import StoredRelease

_NOTHING = "Nothing was written."


def export(
    release: StoredRelease,
    name: str,
    to: str | Path,
    task_ids: Iterable[str] | None = None,
    *,
    progress: OnProgress | None = None,
    **selection: Any,
) -> tuple[str, ...]:
    """Write tasks of a release in the format of a trainer or a benchmark. Equal arguments give equal bytes.

    The folder appears when it is complete.

    Args:
        release: both halves must be readable.
        name: one of `FORMATS`.
        to: local folder that does not exist or is empty.
        task_ids: these tasks; all if None.
        progress: called with (tasks done, tasks in all).
        selection: arguments of `StoredRelease.select`: only these tasks.

    Returns:
        Ids of the exported tasks, sorted.

    Raises:
        RequestError: an argument is wrong, no task is selected, or the folder holds something else.
    """
    folder = _check(release, name, to)
    wanted = tuple(sorted(release.choose(task_ids, **selection)))
    write: Export = resolve_name(FORMATS[name])
    files = write(_read_tasks(release, wanted, progress), release.manifest)
    write_new_folder(folder, _checked(files))
    return wanted


def _check(release: StoredRelease, name: str, to: str | Path) -> Path:
    """Return the folder to write into, or raise an error with all wrong arguments."""
    problems, folder = [], Path()
    if name not in FORMATS:
        problems.append(Problem("--format", repr(name), f"one of {', '.join(FORMATS)}"))
    try:
        folder = check_new_folder(to, "export")
    except RequestError as error:
        problems += error.problems
    if not release.has_private:
        hint = "Export from a place where private/ can be read: graders need the answers."
        problems.append(Problem(release.ref, "no private half that is readable here", "both halves", hint))
    if problems:
        raise RequestError("export", problems, _NOTHING)
    return folder


def _read_tasks(release: StoredRelease, task_ids: Sequence[str], progress: OnProgress | None) -> Iterator[ExportTask]:
    read_files = reading_in_sequence(release, ("public", "private"), task_ids)
    for done, task_id in enumerate(task_ids):
        if progress is not None:
            progress(done, len(task_ids))
        yield ExportTask(release.record(task_id), read_files("public", task_id), read_files("private", task_id))
    if progress is not None:
        progress(len(task_ids), len(task_ids))


def _checked(files: Iterable[tuple[str, bytes]]) -> Iterator[tuple[str, bytes]]:
    """Yield the files, each path once and inside of the folder."""
    seen: set[str] = set()
    for path, content in files:
        parts = PurePosixPath(path).parts
        if not parts or parts[0] == "/" or ".." in parts or path.lower() in seen:
            raise IntegrityError(f"the export has the path {path!r} twice or outside of its folder. {_NOTHING}")
        seen.add(path.lower())
        yield path, content
