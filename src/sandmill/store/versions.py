"""List versions and read manifests. A version exists if its manifest does."""

import re
from enum import StrEnum
from typing import Any

from pydantic import TypeAdapter, ValidationError
from pydantic_core import from_json

from sandmill.errors import IntegrityError, StoreError, shorten
from sandmill.models.names import VERSION_PATTERN
from sandmill.models.release import FORMAT_VERSION, Manifest
from sandmill.store.files import NewerFormat, Store
from sandmill.store.limits import MAX_KEYS, MAX_MANIFEST_BYTES, MAX_MANIFEST_MARKS

MANIFEST = "manifest.json"


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
    content = store.read(path, limit=MAX_MANIFEST_BYTES)
    if sum(map(content.count, (b",", b"[", b"{"))) > MAX_MANIFEST_MARKS:
        raise IntegrityError(f"{where}: the manifest holds more than any release needs")
    try:
        data = from_json(content)
        _refuse_many_keys(data)
        _refuse_newer(data, where)
        manifest = Manifest.model_validate(data)
    except ValidationError as error:
        raise IntegrityError(f"{where}: the manifest is damaged: {first_fault(error)}") from None
    except ValueError as error:
        raise IntegrityError(f"{where}: the manifest is damaged: {shorten(str(error), 200)}") from None
    if manifest.version != version:
        raise IntegrityError(f"{where}: the manifest is that of version {manifest.version}")
    return manifest


def _refuse_newer(data: Any, where: str) -> None:
    """Refuse a newer format before its unknown fields are reported as damage."""
    try:
        number = TypeAdapter(int).validate_python(data.get("format_version", 0) if isinstance(data, dict) else 0)
    except ValidationError:
        return  # the model reports it
    if number > FORMAT_VERSION:
        raise NewerFormat(
            f"{where}: format {number if number < 10**9 else 'unknown'}; this Sandmill reads up to {FORMAT_VERSION}. "
            "Install a newer Sandmill to read it."
        )


def _refuse_many_keys(data: Any) -> None:
    """Refuse JSON objects with many keys before each becomes an error."""
    parts = data.get("parts") if isinstance(data, dict) else None
    for item in (data, *(parts if isinstance(parts, list) else ())):
        if isinstance(item, dict) and len(item) > MAX_KEYS:
            raise ValueError(f"an object of {len(item)} keys")


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
