"""Which versions of a dataset exist: a version is there when its manifest is."""

import re

from sandmill.errors import IntegrityError, StoreError
from sandmill.models.release import FORMAT_VERSION, Manifest
from sandmill.store.files import Store

VERSION_PATTERN = re.compile(r"^(\d{4})-([0-9a-f]{8})$")

MANIFEST = "manifest.json"


def list_versions(store: Store) -> list[str]:
    """Name the published versions, oldest first. Folders of runs that were killed are not among them."""
    return [name for name in version_folders(store) if store.exists(f"{name}/{MANIFEST}")]


def version_folders(store: Store) -> list[str]:
    """Name the folders that look like versions, published or not, by number."""
    return [name for name in store.folders() if VERSION_PATTERN.match(name)]


def read_manifest(store: Store, version: str) -> Manifest:
    """Read what a version says it holds.

    Raises:
        FileMissing: there is no such version.
        IntegrityError: the manifest cannot be read.
        StoreError: it was written by a newer Sandmill.
    """
    path = f"{version}/{MANIFEST}"
    content = store.read(path)
    newer = re.search(rb'"format_version":\s*(\d+)', content)
    if newer and int(newer[1]) > FORMAT_VERSION:
        raise StoreError(
            f"{store.where(path)}: format {int(newer[1])}; this Sandmill reads up to {FORMAT_VERSION}. "
            "Upgrade: pip install --upgrade sandmill"
        )
    try:
        return Manifest.model_validate_json(content)
    except ValueError as error:
        raise IntegrityError(f"{store.where(path)}: the manifest is damaged: {error}") from error
