"""Read what a version was asked for and what it holds. A release is untrusted, and older versions lack the report."""

import json
from collections import Counter
from typing import TYPE_CHECKING

from pydantic import ValidationError

from sandmill.errors import IntegrityError, shorten
from sandmill.models.release import BUILD_REPORT, ReleaseOverview
from sandmill.store.columns import read_columns
from sandmill.store.faults import AccessDenied, FileMissing
from sandmill.store.limits import MAX_RECORD_BYTES, MIB
from sandmill.store.versions import first_fault

if TYPE_CHECKING:
    from sandmill.store.release import StoredRelease

_MAX_BYTES = MIB
_PRIVATE = ("band", "wanted", "difficulty")


def read_overview(release: "StoredRelease") -> ReleaseOverview:
    """Return the overview of a version; where its report cannot be read, the part that follows from its tables.

    Raises:
        IntegrityError: the report or a table is damaged.
        AccessDenied, FileMissing: neither the report nor the public half is readable.
    """
    return recorded_overview(release) or count_overview(release)


def recorded_overview(release: "StoredRelease") -> ReleaseOverview | None:
    """Return the report of a version. None for versions of older code, and where reports/ is not readable.

    Raises:
        IntegrityError: it is damaged.
    """
    try:
        content = release.report(BUILD_REPORT, limit=_MAX_BYTES)
        return None if content is None else ReleaseOverview.model_validate_json(content)
    except (AccessDenied, FileMissing):
        return None
    except ValidationError as error:
        raise IntegrityError(f"{release.ref}: reports/{BUILD_REPORT} is damaged: {first_fault(error)}") from None


def read_libraries(release: "StoredRelease") -> dict[str, tuple[str, ...]]:
    """Return the versions of the numeric libraries that made the tasks.

    A version of older code does not record them for all tasks; there, the first task of each shard is read.
    """
    recorded = recorded_overview(release)
    if recorded or not release.has_private:
        return recorded.libraries if recorded else {}
    found: dict[str, set[str]] = {}
    for part in release.parts("private/tasks"):
        with release.open_part(part) as reader:
            row = next(iter(reader.rows(["record"])))
        for name, version in _libraries(row["record"]).items():
            found.setdefault(name, set()).add(version)
    return {name: tuple(sorted(found[name])) for name in sorted(found)}


def _libraries(record: str) -> dict[str, str]:
    """Read the libraries of a record alone, since a record of older code may lack fields of the present one."""
    try:
        found = json.loads(record[:MAX_RECORD_BYTES])["lineage"]["libraries"]
        return {str(name): shorten(str(version)) for name, version in found.items()}
    except (ValueError, KeyError, TypeError, AttributeError):
        return {}


def count_overview(release: "StoredRelease") -> ReleaseOverview:
    """Count an overview from the tables. `kinds` holds modalities; the request and the libraries are empty.

    Without the private half, `bands` and `wanted` are empty too.
    """
    rows = list(read_columns(release, "public/tasks", ["split", "modality"]))
    private = list(read_columns(release, "private/tasks", _PRIVATE)) if release.has_private else []
    counts = {
        name: dict(sorted(Counter(row[name] for row in source).items()))
        for name, source in (("split", rows), ("modality", rows), ("band", private), ("wanted", private))
    }
    figures = {"difficulty": round(sum(row["difficulty"] for row in private) / len(private), 6)} if private else {}
    return ReleaseOverview(
        bands=counts["band"],
        wanted=counts["wanted"],
        kinds=counts["modality"],
        splits=counts["split"],
        figures=figures,
    )
