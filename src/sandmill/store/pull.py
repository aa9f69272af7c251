"""Tasks as folders, each there whole or not at all, so that a pull can be killed and run again."""

import errno
import secrets
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from sandmill.errors import Problem, RequestError
from sandmill.fingerprint import digest
from sandmill.store.faults import storage_faults

_PREFIX = ".pull-"
_STALE_SECONDS = 3600
"""A temporary folder older than this was left by a killed pull: one task takes seconds."""

Files = Mapping[str, bytes]


def pull_tasks(
    read_files: Callable[[str, str], Files],
    task_ids: Sequence[str],
    sides: Sequence[str],
    to: Path,
    progress: Callable[[int, int], None] | None,
) -> list[Path]:
    """Write each task's sides under `to`.

    Args:
        read_files: gives the files of (side, task_id), checked.
        task_ids: tasks in order.
        sides: public, private.
        to: local folder.
        progress: called with (done, in all).

    Raises:
        RequestError: folders that hold something else, all of them; the other tasks are written.
    """
    if to.exists() and not to.is_dir():
        raise RequestError(
            "pull", [Problem("--to", f"{to}, a file", "a folder, made if missing")], "Nothing was pulled."
        )
    problems: list[Problem] = []
    with storage_faults(str(to)):
        to.mkdir(parents=True, exist_ok=True)
        _sweep(to)
        for done, task_id in enumerate(task_ids, start=1):
            problems += _pull_task(to / task_id, {side: read_files(side, task_id) for side in sides})
            if progress is not None:
                progress(done, len(task_ids))
    if problems:
        footer = "These folders were left alone. Remove them, or pull into another folder."
        raise RequestError(str(to), problems, footer)
    return [to / task_id for task_id in task_ids]


def _pull_task(folder: Path, sides: Mapping[str, Files]) -> list[Problem]:
    problems = _compare_sides(folder, sides)
    if "private" not in sides and (folder / "private").exists():
        problems.append(
            Problem(str(folder / "private"), "a private half", "none, as only the public half is asked for")
        )
    missing = {side: files for side, files in sides.items() if not (folder / side).exists()}
    if problems or not missing:
        return problems
    staged = folder.parent / f"{_PREFIX}{folder.name}-{secrets.token_hex(4)}"
    try:
        for side, files in missing.items():
            (staged / side).mkdir(parents=True)
            for path, content in files.items():
                _write(staged / side / path, content)
        if not folder.exists() and _rename(staged, folder):
            return []
        for side in missing:
            _rename(staged / side, folder / side)
    finally:
        shutil.rmtree(staged, ignore_errors=True)
    return _compare_sides(folder, sides)


def _rename(source: Path, target: Path) -> bool:
    """Give a folder its name; False if another pull was faster."""
    try:
        source.rename(target)
    except OSError as error:
        if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
            raise
        return False
    return True


def _compare_sides(folder: Path, sides: Mapping[str, Files]) -> list[Problem]:
    return [problem for side, files in sides.items() if (problem := _compare(folder / side, files))]


def _compare(folder: Path, files: Files) -> Problem | None:
    """Say how a folder that is there differs from what it should hold; hidden files do not count."""
    if not folder.exists():
        return None
    there = {p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file() and not p.name.startswith(".")}
    changed = [path for path in files if path in there and digest((folder / path).read_bytes()) != digest(files[path])]
    gone, extra = sorted(files.keys() - there), sorted(there - files.keys())
    said = [
        f"{word} {', '.join(paths)}" for word, paths in (("changed", changed), ("no", gone), ("also", extra)) if paths
    ]
    return Problem(str(folder), "; ".join(said), "the release's files") if said else None


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def _sweep(to: Path) -> None:
    for left in to.glob(f"{_PREFIX}*"):
        with suppress(FileNotFoundError):  # another pull may have given it its name by now
            if left.stat().st_mtime < time.time() - _STALE_SECONDS:
                shutil.rmtree(left, ignore_errors=True)
