"""Write a report into a new folder, on disk or on S3."""

import secrets
import shutil
from collections.abc import Mapping
from pathlib import Path

from sandmill.errors import InputError, Problem, StoreError
from sandmill.store.files import Store, storage_faults
from sandmill.store.pull import check_destination
from sandmill.store.versions import list_versions

_SOURCE, _FOOTER = "sandmill report", "Nothing was written."


def check_folder(to: str) -> None:
    """Refuse a place that cannot become the folder of a report.

    Raises:
        InputError: nothing is named, the folder has files, or it lies in a dataset, whose versions never change.
    """
    if "://" not in to:
        folder = check_destination(to, _SOURCE, _FOOTER)
        if folder.is_symlink() or (folder.exists() and not (folder.is_dir() and not any(folder.iterdir()))):
            raise _refused(f"{to}, which is there", "a new or empty folder", "Name another one.")
        if not folder.absolute().parent.is_dir():
            raise _refused(f"{to}, whose parent is no folder", "a folder in one that exists", "Make the parent first.")
        return
    try:
        store = Store(to)
        if list_versions(store):
            raise _refused(f"{to}, which is a dataset", "a folder that is no dataset")
        if found := store.list():
            raise _refused(f"{to}, which holds {found[0]}", "a new or empty folder", "Name another one.")
    except StoreError as error:
        raise _refused(f"{to}: {error}", "a folder, local or s3://bucket/prefix") from error


def write_folder(to: str, files: Mapping[str, bytes], *, owner_only: bool) -> None:
    """Write the files of a report. A local folder appears when it is complete."""
    if "://" in to:
        store = Store(to)
        for name in sorted(files):
            store.write(name, files[name], owner_only=owner_only)
        return
    folder = Path(to)
    staged = folder.absolute().with_name(f".{folder.absolute().name}-{secrets.token_hex(4)}")
    with storage_faults(to):
        try:
            staged.mkdir(mode=0o700 if owner_only else 0o755)
            for name, content in files.items():
                (staged / name).write_bytes(content)
                (staged / name).chmod(0o600 if owner_only else 0o644)
            if folder.exists():
                folder.rmdir()
            staged.rename(folder)
        finally:
            shutil.rmtree(staged, ignore_errors=True)


def _refused(saw: str, expected: str, hint: str = "") -> InputError:
    return InputError(_SOURCE, [Problem("--to", saw, expected, hint)], _FOOTER)
