"""Resolve a reference to an existing version, or raise an error that lists what exists."""

import re
from dataclasses import dataclass
from pathlib import Path

from sandmill.errors import Problem, ReleaseNotFound, SandmillError
from sandmill.models.names import VERSION_PATTERN
from sandmill.store.files import Store
from sandmill.store.versions import list_versions, read_manifest

_FORM = "<root>/<dataset>[@version]"
_LISTED = 10
"""Names that an error lists at most."""


def resolve(ref: str | Path) -> tuple[Store, str]:
    """Return store and full version of a reference.

    Raises:
        ReleaseNotFound: with the datasets or versions that are there, and what to type.
    """
    ref = str(ref)
    place, wanted = _split(ref)
    store = Store(place)
    versions = list_versions(store)
    if not versions:
        raise _no_dataset(ref, store)
    if wanted is None:
        return store, versions[-1]
    matching = [version for version in versions if wanted == version or _is_number(wanted, version)]
    if len(matching) != 1:
        raise _no_version(ref, store, wanted, versions)
    return store, matching[0]


@dataclass(frozen=True)
class DatasetFacts:
    """Facts of one dataset: its versions, and tasks and date of the latest."""

    name: str
    versions: int
    latest: str
    tasks: int | None
    """None if the manifest of the latest version cannot be read; then `created` says so."""
    created: str


def list_datasets(place: str) -> list[DatasetFacts]:
    """Describe the datasets that lie directly in a folder or under an S3 prefix; empty if there are none.

    A dataset whose latest manifest cannot be read is listed too; opening it says why.
    """
    root = Store(place)
    found = []
    for name in root.folders():
        store = Store(root.where(name))
        if versions := list_versions(store):
            try:
                manifest = read_manifest(store, versions[-1])
                tasks, created = manifest.tasks, manifest.created
            except SandmillError:
                tasks, created = None, "cannot be read"
            found.append(DatasetFacts(name, len(versions), versions[-1], tasks, created))
    return found


def _split(ref: str) -> tuple[str, str | None]:
    folder, slash, last = ref.rstrip("/").rpartition("/")
    name, at, version = last.partition("@")
    return f"{folder}{slash}{name}", version if at else None


def _is_number(wanted: str, version: str) -> bool:
    # Compared as text: a number of any length may be typed, and int() refuses more than 4300 digits.
    number = version.partition("-")[0]
    return wanted.isdecimal() and wanted.isascii() and wanted.lstrip("0") == number.lstrip("0")


def _no_version(ref: str, store: Store, wanted: str, versions: list[str]) -> ReleaseNotFound:
    problem = Problem("version", repr(wanted), f"one of {_some(versions)}", f"Latest: {store.root}@{versions[-1]}")
    return ReleaseNotFound(ref, [problem], footer="")


def _no_dataset(ref: str, store: Store) -> ReleaseNotFound:
    root, _, name = store.root.rpartition("/")
    if re.fullmatch(VERSION_PATTERN, name) and root and name in list_versions(Store(root)):
        hint = f"That is a version. Name it as {root}@{name}"
        return ReleaseNotFound(ref, [Problem("reference", "the folder of a version", _FORM, hint)], footer="")
    if inside := _datasets_in(store, ""):
        hint = f"{store.root} holds datasets: {_some(inside)}. Try {store.where(inside[0])}"
        return ReleaseNotFound(ref, [Problem("reference", "a folder of datasets", _FORM, hint)], footer="")
    siblings = _datasets_beside(root, name)
    if store.folders():
        saw, expected = "a folder without a finished version", "a dataset with a published version"
    else:
        saw, expected = f"no dataset {name!r} in {root or 'this folder'}", _FORM
    prefix = f"{root}/" if root else ""
    hint = (
        f"There: {_some(siblings)}. Try: sandmill show {prefix}{siblings[0]}"
        if siblings
        else f"No dataset is published in {root or 'this folder'}; a build makes one."
    )
    return ReleaseNotFound(ref, [Problem("reference", saw, expected, hint)], footer="")


def _datasets_beside(root: str, name: str) -> list[str]:
    """Return the datasets in the same folder, the most similar name first."""
    if root.endswith("/") or (root and root.partition("://")[1] and not root.partition("://")[2]):
        return []  # the reference names a bucket, whose neighbours are not ours to list
    return _datasets_in(Store(root or "."), name)


def _datasets_in(place: Store, name: str) -> list[str]:
    """Return the datasets directly in a folder, the most similar name first."""
    from difflib import SequenceMatcher

    likely = sorted(place.folders(), key=lambda other: -SequenceMatcher(None, name, other).ratio())[: 2 * _LISTED]
    return [other for other in likely if list_versions(Store(place.where(other)))]


def _some(names: list[str]) -> str:
    shown = ", ".join(names[-_LISTED:] if len(names) > _LISTED else names)
    return f"{shown} and {len(names) - _LISTED} more" if len(names) > _LISTED else shown
