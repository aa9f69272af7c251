"""Repair damaged files of a published version from copies that have the SHA-256 of the manifest."""

from collections.abc import Iterator
from dataclasses import dataclass

from sandmill.errors import InputError, Problem, SandmillError
from sandmill.fingerprint import digest
from sandmill.models.base import OnProgress
from sandmill.models.release import PartFile
from sandmill.store.arrow_tables import facts_name
from sandmill.store.damage import is_equal
from sandmill.store.facts_tables import build_facts
from sandmill.store.release import StoredRelease
from sandmill.store.repair import copy_in_shards


@dataclass(frozen=True)
class Restored:
    """A file that was damaged and is whole again."""

    path: str
    """In the version."""
    source: str
    """Where the bytes came from, for people."""


def restore_damaged(
    release: StoredRelease, backup: StoredRelease | None = None, progress: OnProgress | None = None
) -> list[Restored]:
    """Repair each missing or damaged file of a version, if an intact copy of it is found.

    Copies come from the shard that the file was made from, from another copy of the release, or, for tables of facts,
    from the tables of tasks. Files without an intact copy stay as they are; `verify_hashes` names them.

    Args:
        release: the version, with both halves.
        backup: another copy of the same version, which may be damaged elsewhere.
        progress: called with (done, in all) for each file that was read.

    Raises:
        InputError: the other copy has other tasks.
        StoreError: a file cannot be written.
    """
    if backup is not None and backup.manifest.content != release.manifest.content:
        seen, wanted = f"version {backup.version}, with other tasks", f"a copy of {release.version}"
        raise InputError(backup.ref, [Problem("--from", seen, wanted)], footer="Nothing was written.")
    damaged = list(_damaged(release, progress))
    # Tables of facts are made from tables of tasks, which have to be whole.
    damaged.sort(key=lambda part: bool(facts_name(part.path)))
    return [Restored(part.path, source) for part in damaged if (source := _restore(release, part, backup))]


def _damaged(release: StoredRelease, progress: OnProgress | None) -> Iterator[PartFile]:
    parts = release.manifest.parts
    for done, part in enumerate(parts, start=1):
        if not is_equal(release.store, f"{release.version}/{part.path}", part):
            yield part
        if progress is not None:
            progress(done, len(parts))


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
    if content := _facts(release, part):
        release.store.write(target, content)
        return "the tables of tasks"
    return ""


def _facts(release: StoredRelease, part: PartFile) -> bytes:
    """Make a table of facts again. Returns nothing if the part is no such table, or if the bytes have another hash."""
    if not (name := facts_name(part.path)):
        return b""
    try:
        content, _ = build_facts(release)[name]
    except SandmillError:  # a table of tasks is damaged too
        return b""
    return content if digest(content) == part.sha256 else b""
