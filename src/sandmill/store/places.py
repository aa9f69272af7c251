"""Where the tasks of a release belong: split, structure and band."""

from typing import TYPE_CHECKING

from sandmill.models.rollout_record import TaskPlace
from sandmill.store.faults import AccessDenied

if TYPE_CHECKING:
    from sandmill.store.release import Release


def read_places(release: "Release") -> dict[str, TaskPlace]:
    """Return the place of each task by its id. Needs the private half.

    Raises:
        AccessDenied: if the private half cannot be read.
    """
    require_private(release)
    rows = release.tasks.select(*TaskPlace.model_fields).to_dicts()
    return {row["task_id"]: TaskPlace.model_validate(row) for row in rows}


def require_private(release: "Release") -> None:
    """Refuse a release without a private half.

    Raises:
        AccessDenied: if the private half cannot be read.
    """
    if not release.has_private:
        raise AccessDenied(
            f"{release.ref}: the private half is not readable here. Bands, grades and rewards need it: use a copy or "
            "credentials that can read private/."
        )
