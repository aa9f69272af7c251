"""Write local folders: pulled tasks, and the new folder of a command. Each appears whole or not at all.

Nothing is written through a link: files go into a new folder with a random name, which is then renamed. A pull that was
killed can be run again.
"""

import errno
import os
import re
import secrets
import shutil
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from sandmill.errors import IntegrityError, Problem, RequestError, SandmillError
from sandmill.models.base import OnProgress
from sandmill.models.names import task_id_fault
from sandmill.store.files import Store, leftovers, storage_faults
from sandmill.store.secret import SECRET_PATH
from sandmill.store.versions import list_versions

_PREFIX = ".sandmill-new-"
"""Start of the names of folders that are not complete yet."""
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:/")

Files = Mapping[str, bytes]


def check_destination(to: str | Path, source: str = "pull", footer: str = "Nothing was pulled.") -> Path:
    """Return the local folder to write into. Errors name the command `source` and end with `footer`.

    Raises:
        RequestError: if nothing is named, or an address such as s3://..., or a place inside of a dataset.
    """
    text = str(to)
    folder = Path(text)
    place = folder.absolute().resolve()
    if not text.strip():
        hint = "Name one, such as --to tasks; --to . means this folder."
        problem = Problem("--to", "nothing", "a local folder", hint)
    elif _ADDRESS.match(text):
        problem = Problem("--to", text, "a local folder", f"{source.capitalize()} to one and copy it from there.")
    elif above := next(filter(_is_dataset, (place, *place.parents)), None):
        problem = Problem("--to", f"{text}, which lies in the dataset {above}", "a folder outside of any dataset")
    else:
        return folder
    raise RequestError(source, [problem], footer)


def _is_dataset(folder: Path) -> bool:
    with suppress(OSError):  # another user's secret/ cannot be looked into
        if (folder / SECRET_PATH).exists():
            return True
    with suppress(SandmillError, OSError):
        return bool(list_versions(Store(str(folder))))
    return False


def check_new_folder(to: str | Path, source: str) -> Path:
    """Return the local folder to make, which may exist if it is empty. Errors name the command `source`.

    Raises:
        RequestError: it is another thing, or see `check_destination`.
    """
    footer = "Nothing was written."
    folder = check_destination(to, source, footer)
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        problem = Problem("--to", f"{folder}, which is not a folder", "a folder that does not exist")
    elif folder.is_dir() and any(folder.iterdir()):
        hint = "Remove the folder, or name another one."
        problem = Problem("--to", f"{folder}, which is not empty", "no folder, or an empty one", hint)
    else:
        return folder
    raise RequestError(source, [problem], footer)


def write_new_folder(folder: Path, files: Iterable[tuple[str, bytes]], *, owner_only: bool = False) -> None:
    """Write files by path into a folder, which appears when it is complete."""
    place = folder.absolute()
    with storage_faults(str(folder)):
        _make_parent(place.parent)
        with _staged(place) as staged:
            _write_files(staged, files, owner_only)
            staged.rename(place)


def _make_parent(folder: Path) -> None:
    """Make the folder that a new folder shall lie in, and remove what killed processes left there."""
    folder.mkdir(parents=True, exist_ok=True)
    for left in leftovers(folder.glob(f"{_PREFIX}*")):
        shutil.rmtree(left, ignore_errors=True)


@contextmanager
def _staged(place: Path) -> Iterator[Path]:
    """Yield the path of a folder beside a new one. At the end it is removed, unless it was renamed."""
    staged = place.parent / f"{_PREFIX}{place.name}-{secrets.token_hex(4)}"
    try:
        yield staged
    finally:
        shutil.rmtree(staged, ignore_errors=True)


def _write_files(folder: Path, files: Iterable[tuple[str, bytes]], owner_only: bool) -> None:
    """Create a folder and write files into it. Keys are paths below the folder."""
    folder.mkdir(mode=0o700 if owner_only else 0o777)
    for path, content in files:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
        descriptor = os.open(folder / path, flags, 0o600 if owner_only else 0o666)
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)


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
        _make_parent(to)
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
    with _staged(folder) as staged:
        staged.mkdir()
        for side, files in missing.items():
            _write_files(staged / side, files.items(), owner_only=side == "private")
        if not os.path.lexists(folder) and _rename(staged, folder.name, folder.parent):
            return []
        for side in missing:
            _rename(staged / side, side, folder)
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
