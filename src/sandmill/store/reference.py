"""Resolve a reference to an existing version, or raise an error that lists what exists."""

import re
from dataclasses import dataclass
from pathlib import Path

from sandmill.errors import Problem, ReleaseNotFound, SandmillError, name_some
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
    folder, slash, last = ref.rstrip("/").rpartition("/")
    name, at, wanted = last.partition("@")
    store = Store(f"{folder}{slash}{name}")
    versions = list_versions(store)
    if not versions:
        raise _no_dataset(ref, store)
    if not at:
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


def _is_number(wanted: str, version: str) -> bool:
    # Compared as text: a number of any length may be typed, and int() refuses more than 4300 digits.
    number = version.partition("-")[0]
    return wanted.isdecimal() and wanted.isascii() and wanted.lstrip("0") == number.lstrip("0")


def _no_version(ref: str, store: Store, wanted: str, versions: list[str]) -> ReleaseNotFound:
    newest = name_some(versions[::-1], _LISTED)
    problem = Problem("version", repr(wanted), f"one of {newest}", f"Latest: {store.root}@{versions[-1]}")
    return ReleaseNotFound(ref, [problem], footer="")


def _no_dataset(ref: str, store: Store) -> ReleaseNotFound:
    root, _, name = store.root.rpartition("/")
    place, prefix = root or "this folder", f"{root}/" if root else ""
    saw, expected = f"no dataset {name!r} in {place}", _FORM
    if re.fullmatch(VERSION_PATTERN, name) and root and name in list_versions(Store(root)):
        saw, hint = "the folder of a version", f"That is a version. Name it as {root}@{name}"
    elif inside := _datasets_in(store, ""):
        saw = "a folder of datasets"
        hint = f"{store.root} holds datasets: {name_some(inside, _LISTED)}. Try {store.where(inside[0])}"
    else:
        if store.folders():
            saw, expected = "a folder without a finished version", "a dataset with a published version"
        # A root that ends like s3:/ means that the reference names a bucket, whose neighbours are not ours to list.
        is_bucket = root.endswith("/") or (bool(root.partition("://")[1]) and not root.partition("://")[2])
        siblings = [] if is_bucket else _datasets_in(Store(root or "."), name)
        hint = f"No dataset is published in {place}; a build makes one."
        if siblings:
            hint = f"There: {name_some(siblings, _LISTED)}. Try: sandmill show {prefix}{siblings[0]}"
    return ReleaseNotFound(ref, [Problem("reference", saw, expected, hint)], footer="")


def _datasets_in(place: Store, name: str) -> list[str]:
    """Return the datasets directly in a folder, the most similar name first."""
    from difflib import SequenceMatcher

    likely = sorted(place.folders(), key=lambda other: -SequenceMatcher(None, name, other).ratio())[: 2 * _LISTED]
    return [other for other in likely if list_versions(Store(place.where(other)))]
