"""What versions hold: datasets and their versions, and how two versions differ.

To list versions, one manifest and one small report of each are read. A release is untrusted, and older versions lack
the report.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import ValidationError

from sandmill.errors import InputError, IntegrityError, Problem, SandmillError, name_some, shorten
from sandmill.fingerprint import digest_of_hashes
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


_MANIFEST = ("dataset", "plan_fingerprint", "secret_id", "code_version", "agent_env", "format_version")
_LONGEST_FACT = 200  # characters of a fact that people are shown


class Changed(Frozen):
    """One fact that two releases do not have in common."""

    part: str
    """`build`, `request`, `libraries`, `mix` or `figures`."""
    name: str
    a: Any = None
    """None if the first release does not record it."""
    b: Any = None


def describe_fact(value: Any) -> str:
    """Return one side of a changed fact in words."""
    if isinstance(value, dict):
        value = [f"{name}={item}" for name, item in value.items()]
    text = ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
    return "not recorded" if value is None else shorten(text, _LONGEST_FACT)


class ReleaseDifference(Frozen):
    """What differs from A to B."""

    a: str
    b: str
    compared: str
    """`digests` of both halves of each task, or `public files` where a private half is not readable."""
    added: tuple[str, ...]
    removed: tuple[str, ...]
    changed: tuple[str, ...]
    """Tasks of both releases whose files differ."""
    same: int
    facts: tuple[Changed, ...]

    @property
    def differs(self) -> bool:
        """Whether anything differs."""
        return bool(self.added or self.removed or self.changed or self.facts)


def compare_releases(a: StoredRelease, b: StoredRelease) -> ReleaseDifference:
    """Compare two releases, of one dataset or of two. Version number and date of publication do not count.

    Raises:
        IntegrityError: a table or a report is damaged.
    """
    both = a.has_private and b.has_private
    before, after = (_digests(one, both) for one in (a, b))
    shared = before.keys() & after.keys()
    changed = {task_id for task_id in shared if before[task_id] != after[task_id]}
    return ReleaseDifference(
        a=a.ref,
        b=b.ref,
        compared="digests" if both else "public files",
        added=tuple(sorted(after.keys() - before.keys())),
        removed=tuple(sorted(before.keys() - after.keys())),
        changed=tuple(sorted(changed)),
        same=len(shared) - len(changed),
        facts=tuple(_facts(a, b)),
    )


def _digests(release: StoredRelease, is_private: bool) -> dict[str, str]:
    """Return a digest for each task, over its public and private files, or over the public ones alone."""
    if is_private:
        return {row["task_id"]: row["digest"] for row in release.read_columns("private/tasks", ["task_id", "digest"])}
    hashes: dict[str, list[tuple[str, str, str]]] = {task_id: [] for task_id in release.task_ids}
    for row in release.read_columns("public/files", ["task_id", "path", "sha256"]):
        hashes.setdefault(row["task_id"], []).append(("public", row["path"], row["sha256"]))
    return {task_id: digest_of_hashes(entries) for task_id, entries in hashes.items()}


def _facts(a: StoredRelease, b: StoredRelease) -> Iterator[Changed]:
    one, other = ({**release.manifest.model_dump(), "seeds": set(release.manifest.seeds)} for release in (a, b))
    yield from _changed("build", {name: one[name] for name in _MANIFEST}, {name: other[name] for name in _MANIFEST})
    for name, gone in (("removed", one["seeds"] - other["seeds"]), ("added", other["seeds"] - one["seeds"])):
        if gone:
            yield Changed(part="build", name=f"seeds {name}", **{"a" if name == "removed" else "b": sorted(gone)})
    before, after = read_overview(a), read_overview(b)
    yield from _changed("request", {**before.request, "kept": before.kept}, {**after.request, "kept": after.kept})
    yield from _changed("libraries", before.libraries, after.libraries)
    for name in ("bands", "wanted", "kinds", "splits"):
        counts = [Counter({f"{name} {key}": n for key, n in getattr(one, name).items()}) for one in (before, after)]
        yield from (
            Changed(part="mix", name=key, a=counts[0][key], b=counts[1][key])
            for key in sorted(counts[0].keys() | counts[1].keys())
            if counts[0][key] != counts[1][key]
        )
    figures = (
        {"tasks": release.manifest.tasks, "bytes": sum(part.size for part in release.parts("public/files"))}
        for release in (a, b)
    )
    yield from _changed("figures", *figures)
    yield from _changed("figures", before.figures, after.figures)


def _changed(part: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[Changed]:
    for name in sorted(before.keys() | after.keys()):
        if before.get(name) != after.get(name):
            yield Changed(part=part, name=name, a=before.get(name), b=after.get(name))
