"""Find damaged files of a published version, and repair them from copies that have the SHA-256 of the manifest."""

from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256

from sandmill.errors import InputError, Problem, SandmillError, StoreError
from sandmill.fingerprint import digest
from sandmill.models.base import OnProgress
from sandmill.models.release import PartFile
from sandmill.store.arrow_tables import facts_name
from sandmill.store.files import AccessDenied, FileMissing, Store
from sandmill.store.publish import build_facts
from sandmill.store.release import StoredRelease

_BLOCK = 8 << 20


def byte_faults(store: Store, path: str, part: PartFile) -> Iterator[str]:
    """Read a file, a block in memory at a time, and yield how its size or hash differ from those of a part.

    `path` is the part itself, or what may be a copy of it. Sentences name the part.
    """
    found, size = sha256(), 0
    try:
        with store.open(path) as file:
            while size <= part.size and (block := file.read(_BLOCK)):
                found.update(block)
                size += len(block)
    except FileMissing:
        yield f"{part.path}: missing"
    except AccessDenied:
        yield f"{part.path}: access denied, so not checked"
    except StoreError as error:
        yield str(error)
    else:
        if size != part.size:
            yield f"{part.path}: {'more than ' if size > part.size else ''}{size} bytes; the manifest says {part.size}"
        elif found.hexdigest() != part.sha256:
            yield f"{part.path}: its SHA-256 differs from the manifest's"


def is_equal(store: Store, path: str, part: PartFile) -> bool:
    """Return whether a file is readable and has the size and SHA-256 that the manifest gives for a part."""
    return next(byte_faults(store, path, part), None) is None


_HASH_AT = len("01234567.parquet")


def repair_of(store: Store, version: str, part: PartFile, *, public_only: bool = False) -> str:
    """Return what to do about a file that is missing or damaged.

    With `public_only`, no other copy is looked for in the private folders of the dataset.
    """
    command = f"`sandmill verify {store.root}@{version} --repair"
    if not public_only and (copy := copy_in_shards(store, part)):
        return f"To repair it, run {command}`: {store.where(copy)} has equal bytes"
    if not public_only and facts_name(part.path):
        return f"To repair it, run {command}`: it can be made again from the tables of tasks"
    digits = f"SHA-256 {part.sha256[:16]}..."
    return f"To repair it, run {command} --from COPY` with another copy of the release that has this file ({digits})"


def copy_in_shards(store: Store, part: PartFile) -> str:
    """Return the path of an equal file of a shard, whose name ends in its hash; empty if there is none."""
    if not part.path.endswith(".parquet"):
        return ""
    side = part.path.partition("/")[0]
    try:
        likely = [path for path in store.list("shards") if path.endswith(part.path[-_HASH_AT:]) and f"/{side}/" in path]
    except SandmillError:
        return ""
    return next((path for path in likely if is_equal(store, path, part)), "")


@dataclass(frozen=True)
class Restored:
    """A file that was damaged and is whole again."""

    path: str
    source: str
    """Where the bytes came from, for people."""


def restore_damaged(
    release: StoredRelease, backup: StoredRelease | None = None, progress: OnProgress | None = None
) -> list[Restored]:
    """Repair each missing or damaged file of a version, if an intact copy of it is found.

    Copies come from the shard that the file was made from, from `backup`, another copy of the release, or, for tables
    of facts, from the tables of tasks. Files without an intact copy stay as they are; `verify_hashes` names them.

    Raises:
        InputError: the other copy has other tasks.
        StoreError: a file cannot be written.
    """
    if backup is not None and backup.manifest.content != release.manifest.content:
        seen, wanted = f"version {backup.version}, with other tasks", f"a copy of {release.version}"
        raise InputError(backup.ref, [Problem("--from", seen, wanted)], footer="Nothing was written.")
    damaged = []
    for done, part in enumerate(release.manifest.parts, start=1):
        if not is_equal(release.store, f"{release.version}/{part.path}", part):
            damaged.append(part)
        if progress is not None:
            progress(done, len(release.manifest.parts))
    # Tables of facts are made from tables of tasks, which have to be whole.
    damaged.sort(key=lambda part: bool(facts_name(part.path)))
    return [Restored(part.path, source) for part in damaged if (source := _restore(release, part, backup))]


def _restore(release: StoredRelease, part: PartFile, backup: StoredRelease | None) -> str:
    """Repair one file. Returns the place of the copy that was used, or an empty text if no intact copy was found."""
    target = f"{release.version}/{part.path}"
    if copy := copy_in_shards(release.store, part):
        release.store.copy(copy, target)
        return release.store.where(copy)
    if backup is not None:
        place = f"{backup.version}/{part.path}"
        if is_equal(backup.store, place, part):
            release.store.write(target, backup.store.read(place, part.size))
            return backup.store.where(place)
    if not (name := facts_name(part.path)):
        return ""
    try:
        content, _ = build_facts(release)[name]
    except SandmillError:  # a table of tasks is damaged too
        return ""
    if digest(content) != part.sha256:
        return ""
    release.store.write(target, content)
    return "the tables of tasks"
