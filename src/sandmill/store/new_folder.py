"""Check the local folder that a command writes into, and write one that appears when it is complete."""

import re
import secrets
import shutil
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from sandmill.errors import Problem, RequestError, SandmillError
from sandmill.store.files import Store, leftovers, storage_faults
from sandmill.store.secret import SECRET_PATH
from sandmill.store.versions import list_versions

_PREFIX = ".sandmill-new-"
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:/")


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
    """Write files by path into a temporary folder beside the new one, which is then renamed."""
    place = folder.absolute()
    with storage_faults(str(folder)):
        place.parent.mkdir(parents=True, exist_ok=True)
        for left in leftovers(place.parent.glob(f"{_PREFIX}*")):
            shutil.rmtree(left, ignore_errors=True)
        staged = place.parent / f"{_PREFIX}{place.name}-{secrets.token_hex(4)}"
        try:
            staged.mkdir(mode=0o700 if owner_only else 0o777)
            for path, content in files:
                target = staged / path
                target.parent.mkdir(parents=True, exist_ok=True)
                target.touch(mode=0o600 if owner_only else 0o666)
                target.write_bytes(content)
            staged.rename(place)
        finally:
            shutil.rmtree(staged, ignore_errors=True)
