"""Check the folder to pull tasks into: it must be local and outside of datasets."""

import re
from contextlib import suppress
from pathlib import Path

from sandmill.errors import Problem, RequestError, SandmillError
from sandmill.store.files import Store
from sandmill.store.secret import SECRET_PATH
from sandmill.store.versions import list_versions

_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:/")


def check_destination(to: str | Path) -> Path:
    """Return the folder to pull into.

    Raises:
        RequestError: if nothing is named, or an address such as s3://..., or a place inside of a dataset.
    """
    text = str(to)
    if not text.strip():
        raise _refused("nothing", "a local folder", "Name one, such as --to tasks; --to . means this folder.")
    if _ADDRESS.match(text):
        raise _refused(text, "a local folder", "Pull to one and copy it from there.")
    folder = Path(text)
    place = folder.absolute().resolve()
    for above in (place, *place.parents):
        if _is_dataset(above):
            raise _refused(f"{text}, which lies in the dataset {above}", "a folder outside of any dataset")
    return folder


def _is_dataset(folder: Path) -> bool:
    if (folder / SECRET_PATH).exists():
        return True
    with suppress(SandmillError, OSError):
        return bool(list_versions(Store(str(folder))))
    return False


def _refused(saw: str, expected: str, hint: str = "") -> RequestError:
    return RequestError("pull", [Problem("--to", saw, expected, hint)], "Nothing was pulled.")
