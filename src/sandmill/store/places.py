"""Where the tasks of a release belong: split, structure and band."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sandmill.errors import InputError, Problem
from sandmill.models.rollout import TaskPlace
from sandmill.store.faults import AccessDenied

if TYPE_CHECKING:
    from sandmill.store.release import StoredRelease
    from sandmill.store.rollouts import RolloutFolder


def read_places(release: "StoredRelease") -> dict[str, TaskPlace]:
    """Return the place of each task by its id. Needs the private half.

    Raises:
        AccessDenied: if the private half cannot be read.
    """
    require_private(release)
    rows = release.facts.select(*TaskPlace.model_fields).to_dicts()
    return {row["task_id"]: TaskPlace.model_validate(row) for row in rows}


def require_private(release: "StoredRelease") -> None:
    """Refuse a release without a private half.

    Raises:
        AccessDenied: if the private half cannot be read.
    """
    if not release.has_private:
        raise AccessDenied(
            f"{release.ref}: the private half is not readable here. Bands, grades and rewards need it: use a copy or "
            "credentials that can read private/."
        )


def check_release(release: "StoredRelease", folders: "Sequence[RolloutFolder]") -> None:
    """Refuse rollouts of another release.

    Raises:
        InputError: lists every folder that holds no rollouts of this version.
    """
    problems = []
    for folder in folders:
        made = folder.require().release
        if made != release.version:
            hint = f"If it is of the same dataset, name the version: {release.store.root}@{made}"
            problems.append(Problem(folder.store.root, f"rollouts of {made}", f"rollouts of {release.version}", hint))
    if problems:
        raise InputError(release.ref, problems)
