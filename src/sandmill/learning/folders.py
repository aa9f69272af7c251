"""Folders and files that appear at once or not at all."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_HIDDEN = ".writing-"
"""Start of the names of folders and files that are being written."""


@contextmanager
def replace_folder(folder: Path) -> Iterator[Path]:
    """Give an empty folder to write to, and put it in the place of `folder` at the end.

    A process that is killed between the two renames leaves no folder; `recover_folder` finds the former one.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    written = Path(tempfile.mkdtemp(prefix=_HIDDEN, dir=folder.parent))
    written.chmod(0o755)
    former = folder.with_name(f".former-{folder.name}")
    try:
        yield written
        shutil.rmtree(former, ignore_errors=True)
        if folder.exists():
            folder.rename(former)
        written.rename(folder)
        shutil.rmtree(former, ignore_errors=True)
    finally:
        shutil.rmtree(written, ignore_errors=True)


def recover_folder(folder: Path) -> None:
    """Put the former folder back if a process was killed while it replaced it, and remove what it left."""
    former = folder.with_name(f".former-{folder.name}")
    if former.exists() and not folder.exists():
        former.rename(folder)
    for left in folder.parent.glob(f"{_HIDDEN}*"):
        shutil.rmtree(left, ignore_errors=True)


def write_file(path: Path, content: str) -> None:
    """Write a text file at once."""
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, name = tempfile.mkstemp(prefix=_HIDDEN, dir=path.parent)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8", newline="") as file:
            file.write(content)
        Path(name).chmod(0o644)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
