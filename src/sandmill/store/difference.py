"""Compare two releases: tasks, inputs and figures."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from sandmill.errors import IntegrityError, shorten
from sandmill.fingerprint import digest_of_hashes
from sandmill.models.base import Frozen
from sandmill.store.catalogue import count_overview, read_libraries, recorded_overview
from sandmill.store.limits import MAX_FUNNEL_BYTES
from sandmill.store.release import StoredRelease

_MANIFEST = ("dataset", "plan_fingerprint", "secret_id", "code_version", "agent_env", "format_version")
_FUNNEL = "funnel.json"


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
    """Return a digest of each task: of both halves, or of the public files."""
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
    before, after = recorded_overview(a), recorded_overview(b)
    if before and after:
        yield from _changed("request", before.request, after.request)
        yield from _changed("request", {"kept": before.kept}, {"kept": after.kept})
    else:
        # Counts of a report and of tables have different names.
        before, after = count_overview(a), count_overview(b)
    yield from _changed("libraries", read_libraries(a), read_libraries(b))
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
    yield from _changed("figures", _funnel(a), _funnel(b))


def _changed(part: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[Changed]:
    for name in sorted(before.keys() | after.keys()):
        if before.get(name) != after.get(name):
            yield Changed(part=part, name=name, a=before.get(name), b=after.get(name))


def _funnel(release: StoredRelease) -> dict[str, Any]:
    try:
        found = json.loads(release.readable_report(_FUNNEL, limit=MAX_FUNNEL_BYTES) or b"{}")
        return {f"funnel {name}": value for name, value in found.items()}
    except (ValueError, AttributeError):
        raise IntegrityError(f"{release.ref}: reports/{_FUNNEL} does not hold counts by stage") from None
