"""Datasets and their versions.

To list versions, one manifest and one small report of each are read. A release is untrusted, and older versions lack
the report.
"""

from typing import Any

from pydantic import ValidationError

from sandmill.errors import InputError, IntegrityError, Problem, SandmillError, name_some
from sandmill.models.base import Frozen
from sandmill.models.release import BUILD_REPORT, ReleaseOverview
from sandmill.store.files import AccessDenied, FileMissing, Store
from sandmill.store.garbage import unfinished_versions
from sandmill.store.limits import MIB
from sandmill.store.release import StoredRelease
from sandmill.store.versions import first_fault, list_versions, read_manifest

_MAX_BYTES = MIB
_MARKS = ("versions", "shards")  # folders that a build makes before a version is published


class VersionFacts(Frozen):
    """One published version."""

    version: str
    is_latest: bool
    created: str = ""
    tasks: int = 0
    bytes: int = 0
    bands: dict[str, int] = {}
    """Tasks by band; empty if the private half and the reports are not readable."""
    kinds: dict[str, int] = {}
    """Tasks by kind, or by modality in versions of older code."""
    problem: str = ""


class DatasetVersions(Frozen):
    """All versions of a dataset, oldest first."""

    dataset: str
    place: str
    versions: tuple[VersionFacts, ...]
    unfinished: tuple[str, ...]
    """Versions without a manifest: of runs that were killed, or that publish now."""


def find_datasets(root: str, dataset: str | None = None) -> list[Store]:
    """Return the datasets of a root, or the one that is named. The root may be a dataset itself.

    Raises:
        InputError: there is none.
    """
    place = Store(root)
    if dataset is None and _is_dataset(place):
        return [place]
    names = [name for name in place.folders() if _is_dataset(Store(place.where(name)))]
    if dataset is not None and dataset not in names:
        expected = f"one of {name_some(names, 10)}" if names else "a dataset, and there is none"
        raise InputError(root, [Problem("DATASET", repr(dataset), expected)], "")
    if not names:
        hint = "A build makes one: python -m flows.build_release --name micro --root ROOT"
        raise InputError(root, [Problem("ROOT", "no dataset", "a folder or S3 prefix with datasets", hint)], "")
    return [Store(place.where(name)) for name in ([dataset] if dataset else names)]


def read_versions(store: Store) -> DatasetVersions:
    """Describe the versions of a dataset. A version that cannot be read is listed with the reason."""
    versions = list_versions(store)
    return DatasetVersions(
        dataset=store.root.rpartition("/")[2],
        place=store.root,
        versions=tuple(_describe(store, version, version == versions[-1]) for version in versions),
        unfinished=tuple(unfinished_versions(store)),
    )


def _describe(store: Store, version: str, is_latest: bool) -> VersionFacts:
    try:
        manifest = read_manifest(store, version)
    except SandmillError as error:
        return VersionFacts(version=version, is_latest=is_latest, problem=str(error))
    facts: dict[str, Any] = {
        "created": manifest.created,
        "tasks": manifest.tasks,
        "bytes": sum(part.size for part in manifest.parts),
    }
    try:
        overview = read_overview(StoredRelease(store, manifest))
        facts |= {"bands": overview.bands, "kinds": overview.kinds}
    except (AccessDenied, FileMissing):
        pass
    except SandmillError as error:
        facts["problem"] = str(error)
    return VersionFacts(version=version, is_latest=is_latest, **facts)


def _is_dataset(store: Store) -> bool:
    folders = store.folders()
    return not set(_MARKS).isdisjoint(folders) or bool(list_versions(store))


def read_overview(release: StoredRelease) -> ReleaseOverview:
    """Return the overview of a version from its report; an empty one if it has none or reports/ is not readable.

    Raises:
        IntegrityError: the report is damaged.
    """
    content = release.readable_report(BUILD_REPORT, limit=_MAX_BYTES)
    try:
        return ReleaseOverview.model_validate_json(content or b"{}")
    except ValidationError as error:
        raise IntegrityError(f"{release.ref}: reports/{BUILD_REPORT} is damaged: {first_fault(error)}") from None
