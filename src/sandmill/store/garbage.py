"""Find and remove what no published version names: unfinished versions and shards.

A running build is safe, since only what nobody has written or used for a given time is removed:

- A shard counts from its last use: a build that finds an old shard writes its index again (`find_shard`).
- An unfinished version is removed only if this side decides its ending first (`endings`).
- Ages are read again directly before each removal.

Files with other names, `secret/`, `llm/` and every folder with a manifest are never touched.
"""

import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby

from sandmill.store.arrow_tables import part_name
from sandmill.store.files import Store, StoredFile
from sandmill.store.versions import (
    MANIFEST,
    VersionEnding,
    decide_ending,
    list_versions,
    read_manifest,
    version_folders,
)

_SHARD_FILE = re.compile(
    r"shards/[a-z0-9-]+/(?:shard\.json|slots/\d+\.json|(?:public|private|reports)/[a-z_]+[a-z0-9_-]*\.(?:parquet|json))"
)
_HASH_AT = len("01234567.parquet")
_REPORT_FILE = re.compile(r"README\.md|reports/[A-Za-z0-9_./-]+")


class GarbageKind(StrEnum):
    """Why something is not needed."""

    VERSION = "unfinished version"
    PUBLISHED_SHARD = "shard, published"
    SHARD = "shard, not published"
    DEAD_SHARD = "half-made shard"


@dataclass(frozen=True)
class Garbage:
    """Files that go together."""

    kind: GarbageKind
    name: str
    """Path of their folder in the dataset."""
    files: tuple[StoredFile, ...]

    @property
    def bytes(self) -> int:
        """Bytes of all files."""
        return sum(file.size for file in self.files)

    @property
    def modified(self) -> float:
        """Time of the last write, in seconds since 1970."""
        return max(file.modified for file in self.files)


def find_garbage(store: Store, older_than_s: float) -> list[Garbage]:
    """Return what may be removed from a dataset, nothing of which was written or used in the last seconds."""
    before = time.time() - older_than_s
    return [item for item in (*_versions(store), *_shards(store)) if item.files and item.modified < before]


def remove_garbage(store: Store, item: Garbage, older_than_s: float) -> bool:
    """Remove what `find_garbage` returned. Return False if it is in use again, and was left alone."""
    now = [file for file in store.details(item.name) if file.path in {known.path for known in item.files}]
    if not now or max(file.modified for file in now) >= time.time() - older_than_s:
        return False
    manifest = f"{item.name}/{MANIFEST}"
    # The claim of a version stays, so that its number is not given again. A publisher of an older Sandmill decides no
    # ending, so the manifest is looked for before and after.
    if item.kind is GarbageKind.VERSION and (
        store.exists(manifest) or not decide_ending(store, item.name, VersionEnding.REMOVED) or store.exists(manifest)
    ):
        return False
    # The index first: without it a shard does not exist, and a build makes it again.
    for file in sorted(now, key=lambda file: not file.path.endswith("/shard.json")):
        store.remove(file.path)
    return True


def unfinished_versions(store: Store) -> list[str]:
    """Return folders with names of versions and without a manifest: of dead runs, or of a run that publishes now."""
    published = set(list_versions(store))
    return [name for name in version_folders(store) if name not in published]


def _versions(store: Store) -> Iterator[Garbage]:
    claims = {file.path for file in store.details("versions")}
    for version in unfinished_versions(store):
        # The claim is made before the folder. A folder without one is not of a build.
        if f"versions/{version.partition('-')[0]}" in claims:
            inside = ((file, file.path.removeprefix(f"{version}/")) for file in store.details(version))
            files = [file for file, path in inside if part_name(path) is not None or _REPORT_FILE.fullmatch(path)]
            yield Garbage(GarbageKind.VERSION, version, tuple(files))


def _shards(store: Store) -> Iterator[Garbage]:
    files = [file for file in store.details("shards") if _SHARD_FILE.fullmatch(file.path)]
    manifests = (read_manifest(store, version) for version in list_versions(store)) if files else ()
    published = {part.path[-_HASH_AT:] for manifest in manifests for part in manifest.parts}
    # Files are in the order of their paths.
    for name, grouped in groupby(files, key=lambda file: "/".join(file.path.split("/")[:2])):
        group = tuple(grouped)
        paths = [file.path for file in group]
        # Names of parts end in their hash.
        hashes = {path[-_HASH_AT:] for path in paths if path.startswith((f"{name}/public/", f"{name}/private/t"))}
        kind = GarbageKind.PUBLISHED_SHARD if hashes and hashes <= published else GarbageKind.SHARD
        is_finished = f"{name}/shard.json" in paths
        yield Garbage(kind if is_finished else GarbageKind.DEAD_SHARD, name, group)
