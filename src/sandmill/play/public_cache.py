"""Keep the public files of tasks in a local cache, so that all episodes of all processes share one folder a task."""

import os
from collections.abc import Mapping
from pathlib import Path

from sandmill.errors import IntegrityError
from sandmill.fingerprint import digest
from sandmill.models.layout import PUBLIC
from sandmill.store.files import storage_faults
from sandmill.store.pull import pull_task

_VARIABLE = "SANDMILL_CACHE"


def cache_folder() -> Path:
    """Return the folder of the cache: `$SANDMILL_CACHE`, or `sandmill` in the user's cache folder."""
    if given := os.environ.get(_VARIABLE):
        return Path(given).absolute()
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return cache.absolute() / "sandmill"


def cached_public(content: str, task_id: str, files: Mapping[str, bytes]) -> Path:
    """Return a folder with the public files of a task. It is written whole or not at all, at first use.

    Args:
        content: content hash of the release. Equal content has equal files.
        task_id: name of the task.
        files: content of each public file by its path.

    Raises:
        IntegrityError: the folder is there with other content.
    """
    release = cache_folder() / "public" / digest(content.encode())[:16]
    with storage_faults(str(release)):
        release.mkdir(parents=True, exist_ok=True)
        problems = pull_task(release / task_id, {PUBLIC: files})
    if problems:
        listed = "; ".join(map(str, problems))
        raise IntegrityError(f"the cache holds other files than the release: {listed}. Remove {release / task_id}.")
    return release / task_id / PUBLIC
