"""List versions and read manifests. A version exists if its manifest does."""

import re
from contextlib import suppress
from dataclasses import replace
from enum import StrEnum
from importlib.resources import files
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError
from pydantic_core import from_json

from sandmill.errors import IntegrityError, Problem, ReleaseNotFound, StoreError, name_some, shorten
from sandmill.models.names import VERSION_PATTERN
from sandmill.models.release import FORMAT_VERSION, Manifest
from sandmill.store.files import NewerFormat, Store
from sandmill.store.limits import MAX_KEYS, MAX_MANIFEST_BYTES, MAX_MANIFEST_MARKS

MANIFEST = "manifest.json"
SAMPLES = "samples"
"""Reference of the release that the package carries, and its folder in the package."""
SAMPLES_ROOT = str(files("sandmill") / SAMPLES)
HUB = "hf://"


def list_versions(store: Store) -> list[str]:
    """Return the published versions, oldest first. Folders of killed runs are left out."""
    return [name for name in version_folders(store) if store.exists(f"{name}/{MANIFEST}")]


def version_folders(store: Store) -> list[str]:
    """Return the folders with names of versions, published or not, by number."""
    return [name for name in store.folders() if re.fullmatch(VERSION_PATTERN, name)]


def read_manifest(store: Store, version: str) -> Manifest:
    """Read the manifest of a version.

    Raises:
        FileMissing: there is no such version.
        IntegrityError: the manifest cannot be read, is too large, or names paths outside of the version.
        NewerFormat: it was written by a newer Sandmill.
    """
    path = f"{version}/{MANIFEST}"
    where = store.where(path)
    manifest = parse_manifest(store.read(path, limit=MAX_MANIFEST_BYTES), where)
    if manifest.version != version:
        raise IntegrityError(f"{where}: the manifest is that of version {manifest.version}")
    return manifest


def parse_manifest(content: bytes, where: str) -> Manifest:
    """Parse an untrusted manifest, of at most MAX_MANIFEST_BYTES; see `read_manifest`."""
    if sum(map(content.count, (b",", b"[", b"{"))) > MAX_MANIFEST_MARKS:
        raise IntegrityError(f"{where}: the manifest holds more than any release needs")
    try:
        data = from_json(content)
        if isinstance(data, dict):
            _refuse(data, where)
        return Manifest.model_validate(data)
    except ValidationError as error:
        raise IntegrityError(f"{where}: the manifest is damaged: {first_fault(error)}") from None
    except ValueError as error:
        raise IntegrityError(f"{where}: the manifest is damaged: {shorten(str(error), 200)}") from None


def _refuse(data: dict[str, Any], where: str) -> None:
    """Refuse many keys and a newer format, before each unknown key is reported as damage."""
    parts = data.get("parts")
    for item in (data, *(parts if isinstance(parts, list) else ())):
        if isinstance(item, dict) and len(item) > MAX_KEYS:
            raise ValueError(f"an object of {len(item)} keys")
    with suppress(ValidationError):  # the model reports it
        number = TypeAdapter(int).validate_python(data.get("format_version", 0))
        if number > FORMAT_VERSION:
            raise NewerFormat(
                f"{where}: format {number if number < 10**9 else 'unknown'}; this Sandmill reads up to "
                f"{FORMAT_VERSION}. Install a newer Sandmill to read it."
            )


def first_fault(error: ValidationError) -> str:
    """Return the first error in untrusted JSON, shortened for a message."""
    fault = error.errors(include_url=False, include_input=False, include_context=False)[0]
    where = ".".join(str(part) for part in fault["loc"])
    more = f" (and {error.error_count() - 1} more)" if error.error_count() > 1 else ""
    return f"{shorten(where) or 'document'}: {shorten(fault['msg'], 500)}{more}"


FOLDER = "endings"


class VersionEnding(StrEnum):
    """What an unfinished version becomes."""

    PUBLISHED = "published"
    REMOVED = "removed"


def decide_ending(store: Store, version: str, wanted: VersionEnding) -> bool:
    """Return whether this ending stands, by this call or an earlier one. The other ending stands otherwise."""
    path = f"{FOLDER}/{version}"
    return store.create(path, wanted.encode()) or store.read(path, limit=64) == wanted.encode()


def require_ending(store: Store, version: str, wanted: VersionEnding) -> None:
    """Decide an ending.

    Raises:
        StoreError: garbage collection has decided otherwise.
    """
    if not decide_ending(store, version, wanted):
        raise StoreError(
            f"{store.where(version)}: garbage collection removed this unfinished version, because nothing was "
            "written to it for longer than --older-than. Run the same command again: it takes a new number."
        )


def was_removed(store: Store, version: str) -> bool:
    """Whether garbage collection has decided about a version. A run with equal content then takes another number."""
    path = f"{FOLDER}/{version}"
    return store.exists(path) and store.read(path, limit=64) == VersionEnding.REMOVED.encode()


_LISTED = 10  # names that an error lists at most


def resolve(ref: str | Path) -> tuple[Store, str]:
    """Return store and full version of a reference: of a local folder, S3, a hub, or the bundled samples.

    Raises:
        ReleaseNotFound: with the datasets or versions that are there, and what to type.
    """
    ref = str(ref)
    if ref.startswith(HUB):
        from sandmill.store.hub import fetch

        return fetch(ref)
    if ref.partition("@")[0] == SAMPLES:
        store, version = resolve(SAMPLES_ROOT + ref.removeprefix(SAMPLES))
        return replace(store, ref=f"{SAMPLES}@{version}"), version
    folder, slash, last = ref.rstrip("/").rpartition("/")
    name, at, wanted = last.partition("@")
    store = Store(f"{folder}{slash}{name}")
    versions = list_versions(store)
    if not versions:
        raise _no_dataset(ref, store)
    if not at:
        return store, versions[-1]
    # Compared as text: a number of any length may be typed, and int() refuses more than 4300 digits.
    number = wanted.lstrip("0") if wanted.isdecimal() and wanted.isascii() else "-"
    matching = [name for name in versions if wanted == name or number == name.partition("-")[0].lstrip("0")]
    if len(matching) == 1:
        return store, matching[0]
    expected, hint = f"one of {name_some(versions[::-1], _LISTED)}", f"Latest: {store.root}@{versions[-1]}"
    raise ReleaseNotFound(ref, [Problem("version", repr(wanted), expected, hint)], footer="")


def _no_dataset(ref: str, store: Store) -> ReleaseNotFound:
    root, _, name = store.root.rpartition("/")
    saw, expected = f"no dataset {name!r}", "<root>/<dataset>[@version]"
    # A root that ends like s3:/ means that the reference names a bucket, whose neighbours are not ours to list.
    around = None if root.endswith("/") else Store(root or ".")
    if re.fullmatch(VERSION_PATTERN, name):
        saw, hint = "the folder of a version", f"That is a version. Name it as {root}@{name}"
    elif inside := _datasets_in(store):
        saw = "a folder of datasets"
        hint = f"{store.root} holds datasets: {name_some(inside, _LISTED)}. Try {store.where(inside[0])}"
    elif beside := _datasets_in(around) if around else []:
        hint = f"There: {name_some(beside, _LISTED)}. List them with: sandmill releases {root or '.'}"
    else:
        hint = "No dataset is published there; a build makes one."
    return ReleaseNotFound(ref, [Problem("reference", saw, expected, hint)], footer="")


def _datasets_in(place: Store) -> list[str]:
    """Return the datasets directly in a folder, among its first ones."""
    return [name for name in place.folders()[: 2 * _LISTED] if list_versions(Store(place.where(name)))]
