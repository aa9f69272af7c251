"""What runs read and write, as OpenLineage names and describes datasets. Nothing here needs the OpenLineage library."""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from sandmill.errors import SandmillError
from sandmill.fingerprint import fingerprint
from sandmill.models.base import Frozen
from sandmill.models.seed import SeedTask
from sandmill.store.arrow_tables import PUBLIC_TASKS
from sandmill.store.limits import MAX_REPORT_BYTES
from sandmill.store.release import StoredRelease, load

NAMESPACE = "sandmill"
"""Namespace of jobs, and of seeds, which are content and no files."""

_SUITE_ROW = {"table", "line", "expectation", "columns", "failing_tasks"}


class Assertion(Frozen):
    """Result of one expectation of a suite over a release."""

    name: str
    """Suite and line, such as `tasks line 12`."""
    expectation: str
    column: str | None
    holds: bool
    rejected: int = 0
    """Tasks that failed it while the release was built, and are not in it."""


class LineageDataset(Frozen):
    """One dataset that a run reads or writes."""

    namespace: str
    name: str
    version: str = ""
    description: str = ""
    columns: tuple[tuple[str, str], ...] = ()
    """Name and type of each public column."""
    rows: int | None = None
    bytes: int | None = None
    files: int | None = None
    assertions: tuple[Assertion, ...] = ()


def place_dataset(place: str) -> LineageDataset:
    """Name a local folder or a place on S3 as OpenLineage's naming rules say. User and password are left out."""
    parts = urlsplit(place)
    if parts.scheme in ("", "file"):
        return LineageDataset(namespace="file", name=str(Path(parts.path if parts.scheme else place).absolute()))
    host = parts.netloc.rpartition("@")[2]
    return LineageDataset(namespace=f"{parts.scheme}://{host}", name=parts.path.strip("/") or "/")


def seed_datasets(seeds: Iterable[SeedTask]) -> tuple[LineageDataset, ...]:
    """Name the seeds of a build. The version of a seed is the fingerprint of its content."""
    return tuple(
        LineageDataset(
            namespace=NAMESPACE, name=f"seeds/{seed.id}", version=fingerprint(seed)[:16], description=seed.title
        )
        for seed in seeds
    )


def release_dataset(reference: str) -> LineageDataset:
    """Describe a version: public columns, number of tasks, size, and the results of its expectation suites.

    Raises:
        SandmillError: the version cannot be read.
    """
    release = load(reference)
    parts = release.manifest.parts
    named = place_dataset(release.store.root)
    return LineageDataset(
        namespace=named.namespace,
        name=named.name,
        version=release.version,
        description=f"Sandmill release {release.manifest.dataset}@{release.version}",
        columns=tuple((field.name, str(field.type)) for field in PUBLIC_TASKS),
        rows=release.manifest.tasks,
        bytes=sum(part.size for part in parts),
        files=len(parts),
        assertions=tuple(_assertions(release)),
    )


def find_release(reference: str) -> LineageDataset:
    """Describe a version that a run reads; its place alone if it cannot be read."""
    try:
        return release_dataset(reference)
    except SandmillError:
        return place_dataset(reference)


def _assertions(release: StoredRelease) -> Iterator[Assertion]:
    for row in _suite_rows(release):
        columns = [str(name) for name in row["columns"]]
        yield Assertion(
            name=f"{row['table']} line {row['line']}",
            expectation=str(row["expectation"]),
            column=columns[0] if len(columns) == 1 else None,
            # Tasks that fail an expectation are rejected, so it holds for every task of the version.
            holds=True,
            rejected=int(row["failing_tasks"]),
        )


def _suite_rows(release: StoredRelease) -> list[dict[str, Any]]:
    try:
        content = release.report("suites.json", limit=MAX_REPORT_BYTES)
        return [row for row in json.loads(content or b"[]") if set(row) >= _SUITE_ROW]
    except (SandmillError, ValueError, TypeError):
        return []
