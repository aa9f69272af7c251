"""Publish immutable, numbered versions atomically. A killed run can be resumed."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from sandmill.errors import StoreError
from sandmill.fingerprint import canonical_json, digest, fingerprint
from sandmill.models.plan import ShardRef
from sandmill.models.release import MAX_PARTS, Manifest, PartFile
from sandmill.store.files import Store
from sandmill.store.shards import FinishedShard, read_shard
from sandmill.store.versions import (
    MANIFEST,
    VersionEnding,
    list_versions,
    read_manifest,
    require_ending,
    version_folders,
    was_removed,
)

_LAST_NUMBER = 9999


def publish(
    store: Store,
    *,
    refs: Sequence[ShardRef],
    reports: Mapping[str, bytes],
    card: Callable[[Manifest], str],
    pages: Sequence[Callable[[Manifest], Mapping[str, bytes]]] = (),
    **facts: Any,
) -> tuple[Manifest, bool]:
    """Make the next version from finished shards, unless a version of equal content exists.

    Only names and hashes are held in memory; parts are copied one by one. No file of a version is ever overwritten: a
    run that resumes a killed one keeps the files that are there.

    Args:
        store: the dataset.
        refs: finished shards. Those without tasks add their reports.
        reports: files by name, put under `reports/`.
        card: writes README.md, given the manifest without README.md in it.
        pages: each makes further files by path, given the manifest of those before, all of which can be read by then.
        facts: fields of `Manifest` that its caller knows: `dataset`, `plan_fingerprint`, `secret_id`, `code_version`,
            `agent_env`, `agent_libraries` and `seeds`.

    Returns:
        The manifest, and whether it is new.

    Raises:
        StoreError: there is no task, a task lies in two shards, there are too many parts, the numbers have run out, or
            garbage collection removed the parts of this version meanwhile.
    """
    shards = [read_shard(store, key) for key in dict.fromkeys(ref.key for ref in refs)]
    digests: dict[str, str] = {}
    for shard in shards:
        if twice := sorted(digests.keys() & shard.digests.keys()):
            raise StoreError(f"shard {shard.key}: tasks {', '.join(twice[:5])} lie in an earlier shard too")
        digests |= shard.digests
    if not digests:
        raise StoreError("nothing to publish: no shard holds a task")
    # Before anything is copied: no reader would accept the manifest.
    files = sum(len(shard.parts) + len(shard.reports) for shard in shards) + len(reports) + 1
    if files > MAX_PARTS:
        raise StoreError(
            f"nothing published: {files} files, and a release has at most {MAX_PARTS}. Use a larger --shard-size."
        )
    content = content_of(digests)
    for likely in (read_manifest(store, name) for name in list_versions(store) if name.endswith(content[:8])):
        if likely.content == content:
            return likely, False
    version = _claim(store, content)
    parts = list(_copy_parts(store, version, shards))
    parts += [_settle(store, version, f"reports/{name}", reports[name]) for name in sorted(reports)]
    manifest = Manifest(
        version=version,
        content=content,
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        tasks=sum(len(shard.digests) for shard in shards),
        parts=tuple(parts),
        **facts,
    )
    # After this line garbage collection leaves the version alone; before it, this run ends if the parts were collected.
    require_ending(store, version, VersionEnding.PUBLISHED)

    def add(*more: PartFile) -> Manifest:
        return manifest.model_copy(update={"parts": (*manifest.parts, *more)})

    for page in pages:
        made = page(manifest)
        manifest = add(*(_settle(store, version, path, made[path]) for path in sorted(made)))
    manifest = add(_settle(store, version, "README.md", card(manifest).encode()))
    if store.create(f"{version}/{MANIFEST}", canonical_json(manifest.model_dump(mode="json")).encode()):
        return manifest, True
    return read_manifest(store, version), False


def content_of(digests: Mapping[str, str]) -> str:
    """Return the content hash of tasks, given digests by task id. It does not depend on shards."""
    return fingerprint([[task_id, digests[task_id]] for task_id in sorted(digests)])


def _claim(store: Store, content: str) -> str:
    """Take the next number, or the number that a killed run took for the same content."""
    while True:
        claims = {path.rpartition("/")[2]: path for path in store.list("versions")}
        # Newest first, since it is the likeliest. One GET a claim is cheap compared with copying parts.
        for number in sorted(claims, reverse=True):
            version = f"{number}-{content[:8]}"
            if store.read(claims[number]).decode() == content and not was_removed(store, version):
                return version
        taken = [int(number) for number in claims if number.isdigit()]
        taken += [int(name.partition("-")[0]) for name in version_folders(store)]
        number = f"{max(taken, default=0) + 1:04d}"
        if int(number) > _LAST_NUMBER:
            raise StoreError(
                f"{store.root}: {_LAST_NUMBER} versions are the most a dataset can have. Start another one."
            )
        if store.create(f"versions/{number}", content.encode()):
            return f"{number}-{content[:8]}"


def _copy_parts(store: Store, version: str, shards: Sequence[FinishedShard]) -> Iterator[PartFile]:
    for index, shard in enumerate(shards):
        reports = {name: part for name, part in shard.reports.items() if part.path.endswith(".parquet")}
        for table, part in sorted({**shard.parts, **reports}.items()):
            target = f"{table}-{index:05d}-{part.sha256[:8]}.parquet"
            path = f"{version}/{target}"
            if not store.exists(path):
                store.copy(part.path, path)
            if store.size(path) != part.size:
                raise StoreError(f"{store.where(path)}: {store.size(path)} bytes; its shard recorded {part.size}")
            yield part.model_copy(update={"path": target})


def _settle(store: Store, version: str, path: str, content: bytes) -> PartFile:
    """Write a file, or keep the one that is there: two runs that publish at once then give the same manifest."""
    full = f"{version}/{path}"
    if not store.create(full, content):
        content = store.read(full)
    return PartFile(path=path, sha256=digest(content), size=len(content))
