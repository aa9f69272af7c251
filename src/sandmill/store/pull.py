"""Write tasks as folders. Each appears whole or not at all, so that a killed pull can be run again.

Nothing is written through a link: files go into a new folder with a random name, which is then renamed.
"""

import errno
import os
import secrets
import shutil
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from sandmill.errors import IntegrityError, Problem, RequestError
from sandmill.models.base import OnProgress
from sandmill.models.names import task_id_fault
from sandmill.store.files import leftovers, storage_faults

_PREFIX = ".pull-"

Files = Mapping[str, bytes]


def pull_tasks(
    read_files: Callable[[str, str], Files],
    task_ids: Sequence[str],
    sides: Sequence[str],
    to: Path,
    progress: OnProgress | None,
) -> list[Path]:
    """Write each task's sides (public, private) below a local folder.

    `read_files` gives the checked files of (side, task id); `progress` is called with (done, in all).

    Raises:
        RequestError: folders that hold something else, all of them; the other tasks are written.
        IntegrityError: an id cannot be the name of a folder; nothing was written.
    """
    if faults := list(filter(None, map(task_id_fault, task_ids))):
        raise IntegrityError(f"{faults[0]}. Nothing was pulled.")
    if to.exists() and not to.is_dir():
        problem = Problem("--to", f"{to}, a file", "a folder, made if missing")
        raise RequestError("pull", [problem], "Nothing was pulled.")
    problems: list[Problem] = []
    with storage_faults(str(to)):
        to.mkdir(parents=True, exist_ok=True)
        for left in leftovers(to.glob(f"{_PREFIX}*")):
            shutil.rmtree(left, ignore_errors=True)
        for done, task_id in enumerate(task_ids, start=1):
            problems += pull_task(to / task_id, {side: read_files(side, task_id) for side in sides})
            if progress is not None:
                progress(done, len(task_ids))
    if problems:
        footer = "These folders were left alone. Remove them, or pull into another folder."
        raise RequestError(str(to), problems, footer)
    return [to / task_id for task_id in task_ids]


def pull_task(folder: Path, sides: Mapping[str, Files]) -> list[Problem]:
    """Write the sides of one task below an existing folder, each whole or not at all, and leave equal ones alone.

    Returns how a folder that is there differs from the release; nothing if all is as it must be.
    """
    if problems := _conflicts(folder, sides):
        return problems
    if "private" not in sides and (folder / "private").exists():
        return [Problem(str(folder / "private"), "a private half", "none, as only the public half is asked for")]
    missing = {side: files for side, files in sides.items() if not (folder / side).exists()}
    if not missing:
        return []
    staged = folder.parent / f"{_PREFIX}{folder.name}-{secrets.token_hex(4)}"
    try:
        staged.mkdir()
        for side, files in missing.items():
            folder_mode, mode = (0o700, 0o600) if side == "private" else (0o777, 0o666)
            (staged / side).mkdir(mode=folder_mode)
            for path, content in files.items():
                (staged / side / path).parent.mkdir(parents=True, exist_ok=True)
                _write(staged / side / path, content, mode)
        if not os.path.lexists(folder) and _rename(staged, folder.name, folder.parent):
            return []
        for side in missing:
            _rename(staged / side, side, folder)
    finally:
        shutil.rmtree(staged, ignore_errors=True)
    return _conflicts(folder, sides)


def _rename(source: Path, name: str, folder: Path) -> bool:
    """Move a folder into another one that is not a link. Return False if another pull was faster."""
    flags = os.O_RDONLY | os.O_DIRECTORY | (0 if source.parent == folder else os.O_NOFOLLOW)
    descriptor = os.open(folder, flags)
    try:
        os.rename(source, name, dst_dir_fd=descriptor)
    except OSError as error:
        if error.errno not in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR):
            raise
        return False
    finally:
        os.close(descriptor)
    return True


def _conflicts(folder: Path, sides: Mapping[str, Files]) -> list[Problem]:
    return _links(folder, sides) or [one for side, files in sides.items() if (one := _compare(folder / side, files))]


def _links(folder: Path, sides: Mapping[str, Files]) -> list[Problem]:
    """Find links and special files at the paths of a task. Nothing is written or compared through a link."""
    places = [folder, *(folder / side for side in {*sides, "private"})]
    for place in places:
        if os.path.lexists(place) and not stat.S_ISDIR(place.lstat().st_mode):
            return [Problem(str(place), _kind(place), "a folder, or nothing")]
    return [
        Problem(str(place / path), _kind(place / path), "a file or a folder")
        for place in places[1:]
        for path, mode in sorted(_inside(place))
        if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))
    ]


def _inside(folder: Path) -> Iterator[tuple[str, int]]:
    """Yield path and mode of all that lies below a folder, except hidden names. Links are not followed."""
    waiting = [""] if folder.is_dir() else []
    while waiting:
        inner = waiting.pop()
        with os.scandir(folder / inner) as entries:
            for entry in entries:
                mode = entry.stat(follow_symlinks=False).st_mode
                if stat.S_ISDIR(mode):
                    waiting.append(f"{inner}{entry.name}/")
                if not entry.name.startswith("."):
                    yield f"{inner}{entry.name}", mode


def _kind(path: Path) -> str:
    mode = path.lstat().st_mode
    return "a link" if stat.S_ISLNK(mode) else "a file" if stat.S_ISREG(mode) else "a special file"


def _compare(folder: Path, files: Files) -> Problem | None:
    """Return how an existing folder differs from the release. Hidden files are ignored."""
    if not folder.exists():
        return None
    there = {path for path, mode in _inside(folder) if stat.S_ISREG(mode)}
    differences = {
        "changed": [path for path in files if path in there and (folder / path).read_bytes() != files[path]],
        "no": sorted(files.keys() - there),
        "also": sorted(there - files.keys()),
    }
    said = "; ".join(f"{word} {', '.join(paths)}" for word, paths in differences.items() if paths)
    return Problem(str(folder), said, "the release's files") if said else None


def _write(path: Path, content: bytes, mode: int) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, mode)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
